"""Records in Amazon Ion: a sequence of structs, as text or binary, with Ion's own types for values.

| Ion | DynamoDB |
| --- | --- |
| string, symbol | S |
| int, decimal | N |
| blob, clob | B |
| bool, null | BOOL, NULL |
| list, struct | L, M |
| `$dynamodb_SS::[…]`, `$dynamodb_NS::[…]`, `$dynamodb_BS::[…]` | SS, NS, BS |
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, BinaryIO, Final, cast

from partita.bulk import Record, Unreadable
from partita.errors import OperationError, ValidationFailed
from partita.store import Json
from partita.wire.bulk._records import MAX_RECORD_BYTES, TOO_LONG, record_of

_SETS: Final = {"$dynamodb_SS": "SS", "$dynamodb_NS": "NS", "$dynamodb_BS": "BS"}


def ion_records(file: BinaryIO, skip: int) -> Iterator[Record]:
    """Yield the records of an Ion stream; nothing after invalid Ion can be read.

    Raises:
        OperationError: the extra `bulk` is not installed.
    """
    bounded = _Bounded(file)
    values = _values(cast("BinaryIO", bounded))
    try:
        for number, value in enumerate(values):
            bounded.unread = MAX_RECORD_BYTES
            if number >= skip:
                yield _record(value)
    except (_ion_error(), ValueError, TypeError, EOFError, AttributeError) as error:
        if bounded.unread < 0:
            yield Unreadable(TOO_LONG)
            return
        shown = " ".join(str(error).split())[:200]
        yield Unreadable(f"The object is not valid Ion from here on: {shown}")


class _Bounded:
    """Reads a file, but not more than a record may have."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.unread = MAX_RECORD_BYTES
        """How many bytes may be read before the next record."""

    def read(self, size: int = -1) -> bytes:
        """Read some bytes."""
        data = self._file.read(size)
        self.unread -= len(data)
        if self.unread < 0:
            raise ValueError(TOO_LONG)
        return data


def _values(file: BinaryIO) -> Iterator[Any]:
    require_ion()
    from amazon.ion.simpleion import load  # noqa: PLC0415 - belongs to the extra `bulk`

    return cast("Iterator[Any]", load(file, single_value=False, parse_eagerly=False))


def require_ion() -> None:
    """Check that the extra `bulk` is installed.

    Raises:
        OperationError: it is not installed.
    """
    try:
        import amazon.ion.simpleion  # noqa: F401, PLC0415
    except ImportError as error:
        raise OperationError("Ion needs the extra bulk.", hint="Install it: pip install 'partita[bulk]'.") from error


def _ion_error() -> type[Exception]:
    from amazon.ion.exceptions import IonException  # noqa: PLC0415 - belongs to the extra `bulk`

    error: type[Exception] = IonException
    return error


def _record(value: Any) -> Record:
    try:
        return _read(value)
    except RecursionError:
        return Unreadable("The record is nested too deeply.")


def _read(value: Any) -> Record:
    if not isinstance(value, Mapping):
        return Unreadable("The record is not a struct.", repr(value).encode())
    given = {name: value[name] for name in value}
    for name in ("ConditionExpression", "ExpressionAttributeNames"):
        if name in given:
            given[name] = _plain(given[name])
    return record_of(given, _tagged_map, repr(given).encode())


def _plain(value: Any) -> Any:
    """Convert strings and maps of strings from Ion's types to Python's."""
    if isinstance(value, Mapping):
        return {str(name): _plain(value[name]) for name in value}
    return _text(value) if _is_text(value) else value


def _tagged_map(value: Any) -> Json:
    if not isinstance(value, Mapping):
        raise ValidationFailed("An item must be a struct")
    return {str(name): _tagged(value[name]) for name in value}


def _tagged(value: Any) -> Json:
    """The value with its DynamoDB type tag."""
    annotations = [_text(each) for each in getattr(value, "ion_annotations", ())]
    kinds = [_SETS[each] for each in annotations if each in _SETS]
    if kinds:
        members = [_tagged(each) for each in value]
        return {kinds[0]: [next(iter(member.values())) for member in members]}
    if value is None or type(value).__name__ == "IonPyNull":
        return {"NULL": True}
    if isinstance(value, Mapping):
        return {"M": _tagged_map(value)}
    if isinstance(value, list | tuple) and not _is_text(value):
        return {"L": [_tagged(each) for each in value]}
    return _scalar(value)


def _scalar(value: Any) -> Json:
    if isinstance(value, bool) or type(value).__name__ == "IonPyBool":
        return {"BOOL": bool(value)}
    if isinstance(value, bytes):
        return {"B": base64.b64encode(value).decode()}
    if _is_text(value):
        return {"S": _text(value)}
    if isinstance(value, int | Decimal):
        return {"N": str(Decimal(value))}
    raise ValidationFailed(
        f"A value of the Ion type {type(value).__name__.removeprefix('IonPy').lower()} is not supported"
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str) or hasattr(value, "text")


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else value.text
    return "" if text is None else str(text)
