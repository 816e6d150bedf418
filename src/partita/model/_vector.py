"""Vectors as fields: 32-bit floating-point numbers, which vector indexes compare."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final, TypeAlias

from annotated_types import Len
from pydantic import BeforeValidator

_PACK: Final = struct.Struct("<f").pack
_UNPACK: Final = struct.Struct("<f").unpack
_FORMS: Final = ("{:.7g}", "{:.8g}", "{:.9g}")
"""Nine digits distinguish any two 32-bit numbers; most need no more than seven."""


def vector_of(value: Any) -> Any:
    """Return the numbers of a list, a tuple or a NumPy array, each with the fewest digits that identify its 32 bits.

    A value that is not a vector is returned unchanged.

    Raises:
        ValueError: a number does not fit into 32 bits.
    """
    numbers = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(numbers, str | bytes) or not isinstance(numbers, Iterable):
        return value
    try:
        return tuple(_rounded(float(number)) for number in numbers)
    except (TypeError, ValueError):
        return numbers  # validation of the field's type reports the error
    except OverflowError:
        raise ValueError("a number does not fit into 32 bits") from None


def _rounded(number: float) -> float:
    packed = _PACK(number)
    (kept,) = _UNPACK(packed)
    texts = (form.format(kept) for form in _FORMS)
    return next(rounded for rounded in map(float, texts) if _PACK(rounded) == packed)


Vector: TypeAlias = Annotated[Sequence[float], BeforeValidator(vector_of)]
"""The type of a vector field, which stores 32 bits per number: `Annotated[Vector, Dimensions(384)]`."""


def Dimensions(count: int) -> Len:  # noqa: N802 - a mark of a type, capitalised like types
    """Return the mark with the number of dimensions of a vector."""
    return Len(count, count)
