"""Vectors as fields: numbers of 32 bits, which is what vector indexes compare."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final, TypeAlias

from annotated_types import Len
from pydantic import BeforeValidator

_PACK: Final = struct.Struct("<f").pack
_UNPACK: Final = struct.Struct("<f").unpack
_FORMS: Final = ("{:.7g}", "{:.8g}", "{:.9g}")
"""Nine digits tell any two numbers of 32 bits apart; most need no more than seven."""


def vector_of(value: Any) -> Any:
    """The numbers of a list, a tuple or an array of NumPy, each the shortest that names its 32 bits.

    What is not a vector is given back as it is.

    Raises:
        ValueError: a number does not fit into 32 bits.
    """
    numbers = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(numbers, str | bytes) or not isinstance(numbers, Iterable):
        return value
    try:
        return tuple(_rounded(float(number)) for number in numbers)
    except (TypeError, ValueError):
        return numbers  # the type of the field says what is wrong
    except OverflowError:
        raise ValueError("a number does not fit into 32 bits") from None


def _rounded(number: float) -> float:
    packed = _PACK(number)
    (kept,) = _UNPACK(packed)
    texts = (form.format(kept) for form in _FORMS)
    return next(rounded for rounded in map(float, texts) if _PACK(rounded) == packed)


Vector: TypeAlias = Annotated[Sequence[float], BeforeValidator(vector_of)]
"""The type of a field with a vector, which is kept with 32 bits a number: `Annotated[Vector, Dimensions(384)]`."""


def Dimensions(count: int) -> Len:  # noqa: N802 - a mark of a type, written as types are
    """The mark that says how many numbers a vector has."""
    return Len(count, count)
