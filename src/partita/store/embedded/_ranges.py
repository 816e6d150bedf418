"""Key conditions as ranges of columns: the partition, and the bounds within it.

    hash columns = …, leading range columns = …, low <= next range column <= high

A start key replaces the bound on its side, so that SQLite starts reading exactly there.
"""

from __future__ import annotations

from typing import Any, Final

from partita.errors import ValidationFailed
from partita.expressions import KeyCondition, KeyRange
from partita.store.embedded._keys import Column, KeyPart
from partita.store.embedded._table import Index, Source, Table
from partita.values import Item

_INVALID: Final = "Invalid KeyConditionExpression: "
_START_INVALID: Final = "The provided starting key is invalid"
_MISMATCH: Final = "The provided key element does not match the schema"
_START_MISMATCH: Final = f"{_START_INVALID}: {_MISMATCH}"
_OUTSIDE: Final = "The provided starting key is outside query boundaries based on provided conditions"
_OUT_OF_RANGE: Final = "The provided starting key does not match the range key predicate"
_RESTARTED: Final = "The query can return at most one row and cannot be restarted"
"""AWS's message for a start key of another partition that matches the condition on the range key, whatever that is."""
_LAST_CODE_POINT: Final = 0x10FFFF
_BEFORE_SURROGATES: Final = 0xD7FF
_AFTER_SURROGATES: Final = 0xE000


class Bound:
    """One end of a range."""

    __slots__ = ("inclusive", "value")

    def __init__(self, value: Column, *, inclusive: bool = True) -> None:
        self.value = value
        self.inclusive = inclusive


class KeyBounds:
    """The rows that match a key condition: equality of the leading columns, then bounds on the next column."""

    __slots__ = ("equal", "high", "low")

    def __init__(self, equal: tuple[Column, ...], low: Bound | None, high: Bound | None) -> None:
        self.equal = equal
        self.low = low
        self.high = high

    def holds(self, value: Column) -> bool:
        """Whether a value of the bounded column is within the bounds."""
        value = _sortable(value)
        if self.low is not None:
            low = _sortable(self.low.value)
            if value < low or (value == low and not self.low.inclusive):
                return False
        if self.high is not None:
            high = _sortable(self.high.value)
            if value > high or (value == high and not self.high.inclusive):
                return False
        return True


def _sortable(value: Column) -> bytes:
    return value.encode() if isinstance(value, str) else value


def bounds_of(source: Source, condition: KeyCondition) -> KeyBounds:
    """The bounds of the rows that match the condition.

    Raises:
        ValidationFailed: the condition does not match the key schema, or a value has the wrong type.
    """
    values = dict(condition.equal)
    _check_shape(source, condition, values)
    parts = [part for part in (*source.hash, *source.range) if part.name in values]
    equal = tuple(_column(part, values[part.name]) for part in parts)
    if condition.range is None:
        return KeyBounds(equal, None, None)
    part = source.range[len(equal) - len(source.hash)]
    low, high = _bounds(part, condition.range)
    return KeyBounds(equal, low, high)


def _check_shape(source: Source, condition: KeyCondition, values: dict[str, Any]) -> None:
    names = [*values] + ([condition.range.name] if condition.range is not None else [])
    if len(set(names)) < len(condition.equal) + (condition.range is not None):
        raise ValidationFailed(f"{_INVALID}KeyConditionExpressions must only contain one condition per key")
    keys = [part.name for part in (*source.hash, *source.range)]
    if len(names) > len(keys) == 1:
        raise ValidationFailed("Query key condition not supported")
    if len(names) > len(keys):
        raise ValidationFailed(
            f"The number of query conditions ({len(names)}) exceeds the number of key attributes "
            f"defined in the schema ({len(keys)})"
        )
    for part in source.hash:
        if part.name in names and part.name not in values:
            raise ValidationFailed("Query key condition not supported")
        if part.name not in values:
            raise _missed_hash(source, part.name)
    for name in keys[: len(names)]:  # equalities from left to right, then the range
        if name not in names or (name not in values and name != keys[len(names) - 1]):
            raise _missed_range(source, name, names, values)


def _missed_hash(source: Source, name: str) -> ValidationFailed:
    missed = f"Query condition missed key schema element: {name}"
    if len(source.hash) == 1 and len(source.range) <= 1:
        return ValidationFailed(missed)
    return ValidationFailed(f"{missed}. Of the HASH key attributes all of them must have a condition of equality")


def _missed_range(source: Source, name: str, names: list[str], values: dict[str, Any]) -> ValidationFailed:
    keys = [part.name for part in source.range]
    last = max((place for place, key in enumerate(keys) if key in names), default=-1)
    missing = [key for key in keys[: max(last, 0)] if key not in values]
    if not missing:
        return ValidationFailed(f"Query condition missed key schema element: {name}")
    return ValidationFailed(
        f"RANGE key attributes {', '.join(missing)} must have equality conditions specified in the query "
        f"because a condition is present on key attribute {keys[last]}"
    )


def _column(part: KeyPart, value: Any) -> Column:
    if not part.has_type(value):
        message = "Condition parameter type does not match schema type"
        raise ValidationFailed(f"One or more parameter values were invalid: {message}")
    return part.column(value)


def _bounds(part: KeyPart, condition: KeyRange) -> tuple[Bound | None, Bound | None]:
    first = _column(part, condition.values[0])
    match condition.op:
        case "<" | "<=":
            return None, Bound(first, inclusive=condition.op == "<=")
        case ">" | ">=":
            return Bound(first, inclusive=condition.op == ">="), None
        case "BETWEEN":
            last = _column(part, condition.values[1])
            if _sortable(first) > _sortable(last):
                message = "operator requires upper bound to be greater than or equal to lower bound"
                raise ValidationFailed(f"{_INVALID}The BETWEEN {message}")
            return Bound(first), Bound(last)
    if part.type == "N":
        message = "operator or function: begins_with, operand type: N"
        raise ValidationFailed(f"{_INVALID}Incorrect operand type for operator or function; {message}")
    after = _after_prefix(first)
    return Bound(first), None if after is None else Bound(after, inclusive=False)


def _after_prefix(prefix: Column) -> Column | None:
    """The first value after all values that begin with the prefix; None if there is no such value."""
    if isinstance(prefix, bytes):
        head = prefix.rstrip(b"\xff")
        return head[:-1] + bytes((head[-1] + 1,)) if head else None
    text = prefix.rstrip(chr(_LAST_CODE_POINT))
    if not text:
        return None
    last = ord(text[-1])
    return text[:-1] + chr(_AFTER_SURROGATES if last == _BEFORE_SURROGATES else last + 1)


def start_columns(table: Table, source: Source, start: Item, *, of_scan: bool = False) -> tuple[Column, ...]:
    """All columns of a start key, in the order of the source.

    Raises:
        ValidationFailed: an attribute is missing, unexpected or of the wrong type. For a scan of a table, AWS words
            these errors differently.
    """
    parts = [*source.hash, *source.range]
    _check_start(table, parts, start, of_table_scan=of_scan and source is table)
    if isinstance(source, Index):
        parts += table.range if source.local else table.key
    return tuple(part.column(start[part.name]) for part in parts)


def _check_start(table: Table, parts: list[KeyPart], start: Item, *, of_table_scan: bool) -> None:
    names = {part.name for part in (*table.key, *parts)}
    if len(start) != len(names) or any(part.name not in start for part in parts):
        raise ValidationFailed(_START_MISMATCH if of_table_scan else _START_INVALID)
    if not all(part.has_type(start[part.name]) for part in parts):
        raise ValidationFailed(_START_MISMATCH if of_table_scan else _MISMATCH)
    if not all(part.name in start and part.has_type(start[part.name]) for part in table.key):
        raise ValidationFailed(_START_MISMATCH)


def start_in(bounds: KeyBounds, source: Source, columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The columns of a start key after those that the condition fixes.

    Raises:
        ValidationFailed: the start key is outside the range of the condition.
    """
    fixed, hashes = len(bounds.equal), len(source.hash)
    in_partition, ranged = columns[:hashes] == bounds.equal[:hashes], bool(fixed > hashes or bounds.low or bounds.high)
    if columns[hashes:fixed] != bounds.equal[hashes:]:
        raise ValidationFailed(_OUT_OF_RANGE)
    if (bounds.low or bounds.high) and not bounds.holds(columns[fixed]):
        raise ValidationFailed(_OUT_OF_RANGE)
    if not in_partition:
        raise ValidationFailed(_RESTARTED if ranged else _OUTSIDE)
    return columns[fixed:]
