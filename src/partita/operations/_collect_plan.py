"""Plans a collection: the key ranges of its parts, in as few queries as possible without reading unwanted items.

| two neighbouring parts, in the order of the read | read |
| --- | --- |
| one item, or all of an entity, then another part | in one query |
| an entity with a limit, then another part | separately, because all items beyond the limit lie between them |
| all of an entity, then one with a limit | separately, because it is unknown when to stop |
| two parts with many unwanted items between them | separately |
| two parts whose ranges overlap | in one query, until both are full |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from partita.expressions import KeyCondition, KeyRange
from partita.model import BoundKey, EntitySchema, Table

_LAST = "\U0010ffff"  # sorts after every other character


class Interval(Struct, frozen=True):
    """A range of sort keys, including both ends; None for an open end."""

    low: str | None = None
    high: str | None = None

    @classmethod
    def beginning_with(cls, prefix: str) -> Interval:
        """All keys that start with a prefix."""
        return cls(prefix, prefix + _LAST) if prefix else cls()

    def starts_before(self, other: Interval) -> bool:
        """Whether its first key is not after the other's last."""
        return self.low is None or other.high is None or self.low <= other.high

    def overlaps(self, other: Interval) -> bool:
        """Whether a key can be in both."""
        return self.starts_before(other) and other.starts_before(self)

    def hull(self, other: Interval) -> Interval:
        """The smallest interval that contains both."""
        low = None if self.low is None or other.low is None else min(self.low, other.low)
        high = None if self.high is None or other.high is None else max(self.high, other.high)
        return Interval(low, high)

    def has_between(self, other: Interval, third: Interval) -> bool:
        """Whether keys of a third interval lie between this one and another."""
        first, second = (self, other) if (self.low or "") <= (other.low or "") else (other, self)
        if first.overlaps(second) or first.high is None or second.low is None:
            return False
        return (third.low or "") < second.low and (third.high is None or third.high > first.high)

    def condition(self, name: str) -> KeyRange | None:
        """The sort key condition of a query for this interval."""
        if self.low is not None and self.high is not None:
            return KeyRange(name, "BETWEEN", (self.low, self.high))
        if self.low is not None:
            return KeyRange(name, ">=", (self.low,))
        return None if self.high is None else KeyRange(name, "<=", (self.high,))


class Slot(Struct, frozen=True):
    """One field of a collection's result: an entity, an optional entity, or a tuple of entities."""

    field: str
    schema: EntitySchema[Any]
    many: bool
    optional: bool


class CollectedPart(Struct, frozen=True):
    """A slot with the requested keys, and the most items to read of them."""

    slot: Slot
    key: BoundKey
    condition: KeyCondition
    limit: int | None = None

    @property
    def wanted(self) -> int | None:
        """The most items of this part; None if there is no limit."""
        return self.limit if self.slot.many else 1

    @property
    def interval(self) -> Interval:
        """The range of its sort keys; unbounded if they are not one range of strings."""
        names = [attribute.name for attribute, _ in self.key.range]
        if len(names) != 1 or self.key.range[0][0].type != "S":
            return Interval()
        whole = dict(self.condition.equal).get(names[0])
        if isinstance(whole, str):
            return Interval(whole, whole)
        return Interval() if self.condition.range is None else _interval(self.condition.range)

    @property
    def is_cut(self) -> bool:
        """Whether its range may contain more items than are wanted."""
        return self.wanted is not None and self.interval.low != self.interval.high

    @property
    def partition(self) -> tuple[tuple[str, Any], ...]:
        """The condition on the partition key."""
        return tuple((name, value) for name, value in self.condition.equal if name in self.key.hash_names)


class Segment(Struct, frozen=True):
    """Parts that one query reads."""

    parts: tuple[CollectedPart, ...]
    interval: Interval

    @property
    def condition(self) -> KeyCondition:
        """The condition of the query."""
        part = self.parts[0]
        if len(self.parts) == 1:
            return part.condition
        names = [attribute.name for attribute, _ in part.key.range]
        return KeyCondition(part.partition, self.interval.condition(names[0]) if names else None)

    @property
    def wanted(self) -> int | None:
        """The most items of all parts; None if there is no limit."""
        counts = [part.wanted for part in self.parts]
        return None if None in counts else sum(count or 0 for count in counts)


def segments(parts: Sequence[CollectedPart], foreign: Sequence[Interval], *, forward: bool) -> list[Segment]:
    """The queries that read all parts, in the order of the read."""
    found: list[Segment] = []
    for part in sorted(parts, key=lambda part: _place(part.interval, forward=forward), reverse=not forward):
        if found and _goes_with(found[-1], part, foreign):
            last = found.pop()
            found.append(Segment((*last.parts, part), last.interval.hull(part.interval)))
        else:
            found.append(Segment((part,), part.interval))
    return found


def foreign_intervals(table: Table, parts: Sequence[CollectedPart]) -> tuple[Interval, ...]:
    """The key ranges of such a partition where many unwanted items may lie: of other entities, or beyond a range."""
    index = parts[0].key.index
    keys = [key for entity in table.entities for key in entity.keys.values() if key.index == index]
    return tuple(_many(parts[0].key, keys))


def _many(asked: BoundKey, keys: Sequence[BoundKey]) -> Iterator[Interval]:
    for key in keys:
        pairs = zip(asked.hash, key.hash, strict=True)
        if len(key.range) == 1 and all(mine.overlaps(theirs) for (_, mine), (_, theirs) in pairs):
            template = key.range[0][1]
            if template.head and set(template.fields) - set(key.hash_fields):
                yield Interval.beginning_with(template.head)


def _goes_with(segment: Segment, part: CollectedPart, foreign: Sequence[Interval]) -> bool:
    if segment.interval.overlaps(part.interval):
        return True
    if any(each.is_cut for each in segment.parts) or (part.is_cut and segment.wanted is None):
        return False
    return not any(segment.interval.has_between(part.interval, each) for each in foreign)


def _place(interval: Interval, *, forward: bool) -> tuple[bool, str]:
    """The position of an interval in the order of the read, as a sort key."""
    if forward:
        return interval.low is not None, interval.low or ""
    return interval.high is None, interval.high or ""


def _interval(span: KeyRange) -> Interval:
    first, last = str(span.values[0]), str(span.values[-1])
    match span.op:
        case "BEGINS_WITH":
            return Interval.beginning_with(first)
        case "BETWEEN":
            return Interval(first, last)
        case "<" | "<=":
            return Interval(None, last)
        case _:
            return Interval(first, None)
