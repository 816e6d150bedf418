"""Conversion of field values to attribute values: dates, enums and models become values that DynamoDB can store.

The reverse conversion is Pydantic's validation, which accepts all of these forms.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

from pydantic import BaseModel
from pydantic_core import MultiHostUrl, Url

from partita.errors import OperationError

PLAIN_TYPES: Final = frozenset((str, int, bool, bytes, Decimal))
"""Types whose values are attribute values without conversion."""

SCALARS: Final = (str, int, bytes, Decimal, float, date, time, timedelta, UUID, Enum)
"""Types whose values contain no other values; each has exactly one attribute form, that of `to_attribute`."""

MAX_SECONDS: Final = 20_000_000_000
"""Above this number of seconds (in the year 2603), Pydantic interprets a number as milliseconds."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SETS: Final = (set, frozenset)


def attribute_names(model: type[BaseModel]) -> dict[str, str]:
    """Return the name of the attribute in which each field is stored."""
    return {name: field.alias or name for name, field in model.model_fields.items()}


def to_attribute(value: Any) -> Any:
    """Return the attribute value for a field's value.

    Raises:
        OperationError: the value cannot be converted, such as a date and time without a time zone.
    """
    return CONVERSIONS[type(value)](value)


def instant_text(instant: datetime) -> str:
    """Format an instant in UTC with all six fraction digits, so that text order is time order."""
    return _instant_text(instant)


@lru_cache(maxsize=1_024)  # an instant is often formatted more than once: as a field, and in several keys
def _instant_text(instant: datetime) -> str:
    if instant.tzinfo is None:
        raise OperationError(f"{instant!r} has no time zone.", hint="Use aware datetimes, such as datetime.now(UTC).")
    if instant.tzinfo is not UTC:
        try:
            instant = instant.astimezone(UTC)
        except OverflowError:
            raise OperationError(f"{instant!r} is outside the years 1 to 9999 in UTC.") from None
    return f"{instant.isoformat(timespec='microseconds')[:26]}Z"


def epoch_seconds(value: Any) -> Any:
    """Return the value of a TTL attribute: whole seconds since the epoch."""
    if not isinstance(value, datetime):
        return None if value is None else int(value)
    instant_text(value)  # raises if it has no time zone
    return (value - _EPOCH) // timedelta(seconds=1)


def instant_of(seconds: int) -> datetime:
    """Return the instant of a TTL attribute, at most the last one that Python can represent."""
    try:
        return _EPOCH + timedelta(seconds=seconds)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


def _same(value: Any) -> Any:
    return value


def _list(value: Any) -> list[Any]:
    return [element if type(element) in PLAIN_TYPES else to_attribute(element) for element in value]


def _map(value: dict[Any, Any]) -> dict[str, Any]:
    return {str(to_attribute(name)): to_attribute(member) for name, member in value.items() if not empty_set(member)}


def _set(value: Any) -> frozenset[Any]:
    return frozenset(to_attribute(member) for member in value)


def empty_set(value: Any) -> bool:
    """Whether a value is an empty set. DynamoDB cannot store it: the attribute is omitted and reads as the default."""
    return isinstance(value, _SETS) and not value


def _float(value: float) -> int | Decimal:
    exact = Decimal(repr(value))
    if not exact.is_finite():
        raise OperationError(f"{value} is not a number that DynamoDB can store.")
    return exact


def _model(value: BaseModel) -> Any:
    return to_attribute(value.model_dump(by_alias=True, round_trip=True))


def can_be_stored(kind: type) -> bool:
    """Whether values of a type can be converted to attribute values."""
    return CONVERSIONS[kind] is not _refuse


def _refuse(value: Any) -> Any:
    message = f"A value of type {type(value).__name__} cannot be stored as an attribute: {value!r:.60}."
    raise OperationError(message, hint="Add a Pydantic serializer to the field, or use another type.")


_VALUE: Final = attrgetter("_value_")
"""Reads the value of an enum member; the property `value` costs three calls."""


class _Conversions(dict[type, Callable[[Any], Any]]):
    """The conversion for values of each type; for a subclass, that of its first ancestor with one, looked up once."""

    def __missing__(self, kind: type) -> Callable[[Any], Any]:
        ways = (_SUBCLASSES.get(ancestor) or _BY_NAME.get(_name_of(ancestor)) for ancestor in kind.__mro__)
        is_plain = issubclass(kind, Enum) and PLAIN_TYPES.issuperset(type(member._value_) for member in kind)
        convert = self[kind] = _VALUE if is_plain else next(filter(None, ways), _refuse)
        return convert


def _name_of(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


CONVERSIONS: Final = _Conversions(
    {
        str: _same,
        int: _same,
        bool: _same,
        bytes: _same,
        Decimal: _same,
        type(None): _same,
        float: _float,
        datetime: instant_text,
        date: date.isoformat,
        time: time.isoformat,
        timedelta: lambda value: _float(value.total_seconds()),
        UUID: str,
        list: _list,
        tuple: _list,
        dict: _map,
        set: _set,
        frozenset: _set,
    }
)
_SUBCLASSES: Final[dict[type, Callable[[Any], Any]]] = {
    Enum: lambda value: to_attribute(value._value_),
    BaseModel: _model,
    str: str.__str__,
    int: int,
    bytes: bytes,
    dict: _map,
    list: _list,
    datetime: instant_text,
    **dict.fromkeys(
        (
            Url,
            MultiHostUrl,
            IPv4Address,
            IPv4Interface,
            IPv4Network,
            IPv6Address,
            IPv6Interface,
            IPv6Network,
        ),
        str,
    ),
}
_BY_NAME: Final[dict[str, Callable[[Any], Any]]] = {"pydantic.networks.AnyUrl": str}
"""The same for types that are slow to import: if there is a value of such a type, it has been imported already."""
