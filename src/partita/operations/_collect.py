"""Collections: several entities of one partition, read in as few queries as possible into a declared, typed result."""

from __future__ import annotations

import dataclasses
from types import UnionType
from typing import Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

from msgspec import Struct
from msgspec.structs import replace

from partita.errors import LimitExceeded, ModelError, OperationError
from partita.model import Entity, Table, schema_of
from partita.operations._collect_plan import CollectedPart, Interval, Segment, Slot, segments
from partita.operations._operation import Context, Operation, Requests
from partita.operations._owned import owner_check
from partita.operations._query import MAX_LIMIT
from partita.operations._unclaimed import unclaimed_among
from partita.runtime import Together
from partita.store import PageResponse, QueryTable
from partita.values import Item

C = TypeVar("C")

MAX_REQUESTS = 100
"""The most requests for one range, if most of the items that they read are not wanted."""


class CollectionPage(Struct, Generic[C], frozen=True):
    """A collection of which one entity is read page by page; `next_cursor` continues if there is more."""

    result: C | None
    next_cursor: str | None


class _Found(Struct, frozen=True):
    """The items that one query found, and where to continue with its paged part."""

    items: dict[str, list[Item]]
    next_start: Item | None = None


class Collect(Operation[C | None], Generic[C], frozen=True):
    """Read several entities of a partition into their declared result; None if a required one is missing."""

    listed_as = "collect"

    result_class: type[C]
    table: Table
    index: str | None
    parts: tuple[CollectedPart, ...]
    limit: int
    foreign: tuple[Interval, ...] = ()
    """The key ranges with many items, which should not be read unless they are wanted."""
    forward: bool = True
    is_consistent: bool = False

    def consistent(self) -> Collect[C]:
        """The same read, but strongly consistent, at twice the cost; not on a global index."""
        if self.table.schema.is_global(self.index):
            raise OperationError(f"The global index {self.index!r} does not support consistent reads.")
        return replace(self, is_consistent=True)

    def page(self, limit: int | None = None, *, after: str | None = None) -> CollectPage[C]:
        """A page of the entity that has a limit, with the single entities of the collection.

        Args:
            limit: how many items of that entity; by default as many as the pattern declares.
            after: the cursor of the previous page. All tuples except the paged one are then empty.

        Raises:
            OperationError: the collection has no entity with a limit, or several.
        """
        paged = self._paged()
        if limit is not None and not 1 <= limit <= MAX_LIMIT:
            raise OperationError(f"A page has 1 to {MAX_LIMIT} items, not {limit}.")
        part = paged if limit is None else replace(paged, limit=limit)
        parts = tuple(part if each is paged else each for each in self.parts)
        return CollectPage(replace(self, parts=parts), part, after, pattern=self.pattern)

    @property
    def has_pages(self) -> bool:
        """Whether one of its entities has a limit, so that `page()` can page through it."""
        return len(self._limited()) == 1

    def _limited(self) -> list[CollectedPart]:
        return [part for part in self.parts if part.slot.many and part.limit is not None]

    def _paged(self) -> CollectedPart:
        found = self._limited()
        if len(found) != 1:
            message = f"{self.name} has {len(found) or 'no'} entities with a limit; a page needs exactly one."
            raise OperationError(message, hint="Declare @collect(…, limits={Issue: 20}).")
        return found[0]

    def default_name(self) -> str:
        """The name if no access pattern was declared."""
        return self.result_class.__name__

    def segments(self) -> list[Segment]:
        """The segments, each read by one query, in the order of the read."""
        return segments(self.parts, self.foreign, forward=self.forward)

    def request(self, segment: Segment) -> QueryTable:
        """The first request for a segment; without a limit it requests one item too many, to detect an overflow."""
        return QueryTable(
            self.table.name,
            segment.condition,
            self.index,
            limit=segment.wanted or self.limit + 1,
            forward=self.forward,
            consistent=self.is_consistent,
        )

    def requests(self, context: Context) -> Requests[C | None]:
        """Read every segment, concurrently if the session can.

        Raises:
            LimitExceeded: there are more items than the collection's limit.
        """
        found = yield from self.read(self.segments(), context)
        return self.assembled(found.items)

    def read(
        self, parts: list[Segment], context: Context, paged: CollectedPart | None = None, start: Item | None = None
    ) -> Requests[_Found]:
        """Read segments; the one with the paged part starts after a key."""
        reads = [self._read(each, context, paged, start if paged in each.parts else None) for each in parts]
        results: list[_Found] = (yield from _alone(reads[0])) if len(reads) == 1 else (yield Together(tuple(reads)))
        items: dict[str, list[Item]] = {}
        for result in results:
            items |= result.items
        if any(part.wanted is None for part in self.parts):
            self._refuse_more(items)
        return _Found(items, next((each.next_start for each in results if each.next_start is not None), None))

    def _refuse_more(self, items: dict[str, list[Item]]) -> None:
        if sum(map(len, items.values())) > self.limit:
            message = f"{self.name} has more than {self.limit} items in one partition."
            raise LimitExceeded(message, hint="Raise the limit of the collection, or give its entities limits.")

    def _read(
        self, segment: Segment, context: Context, paged: CollectedPart | None, start: Item | None
    ) -> Requests[_Found]:
        found: dict[str, list[Item]] = {part.slot.field: [] for part in segment.parts}
        request = replace(self.request(segment), start=start)
        for _ in range(MAX_REQUESTS):
            response: PageResponse = yield request
            yield from self._take(response.items, segment, found, context)
            missing = _missing(segment, found, self.limit)
            if response.last_key is None or missing == 0:
                return self._cut(segment, found, paged, more=response.last_key is not None)
            request = replace(request, start=response.last_key, limit=missing)
        message = f"{self.name} read {MAX_REQUESTS} pages, most of whose items it does not request."
        raise LimitExceeded(message, hint="Give each of its entities a sort key with its own prefix.")

    def _take(
        self, items: list[Item], segment: Segment, found: dict[str, list[Item]], context: Context
    ) -> Requests[None]:
        now = context.clock()
        taken = 0
        for part in segment.parts:
            owns = owner_check(part.slot.schema, part.key, part.condition)
            owned = [item for item in items if owns(item)]
            taken += len(owned)
            found[part.slot.field] += [item for item in owned if part.slot.schema.live(item, now)]
        if taken != len(items) and (unclaimed := unclaimed_among(self.table, items)):
            yield unclaimed

    def _cut(
        self, segment: Segment, found: dict[str, list[Item]], paged: CollectedPart | None, *, more: bool
    ) -> _Found:
        """The items found, cut to the wanted number for each part."""
        cut = {part.slot.field: found[part.slot.field][: part.wanted] for part in segment.parts}
        if paged is None or paged not in segment.parts or not cut[paged.slot.field]:
            return _Found(cut)
        kept = cut[paged.slot.field]
        goes_on = len(kept) == paged.limit and (more or len(kept) < len(found[paged.slot.field]))
        return _Found(cut, _position(paged, kept[-1]) if goes_on else None)

    def assembled(self, items: dict[str, list[Item]]) -> C | None:
        """The result; None if a required entity is missing."""
        fields: dict[str, Any] = {}
        for part in self.parts:
            slot = part.slot
            entities = tuple(map(slot.schema.entity, items.get(slot.field, ())))
            if not slot.many and not slot.optional and not entities:
                return None
            fields[slot.field] = entities if slot.many else entities[0] if entities else None
        return self.result_class(**fields)


class CollectPage(Operation[CollectionPage[C]], Generic[C], frozen=True):
    """One page of a collection: its single entities, and some items of the entity that has a limit."""

    listed_as = "collect"

    collection: Collect[C]
    paged: CollectedPart
    after: str | None = None

    def default_name(self) -> str:
        """The name if no access pattern was declared."""
        return self.collection.default_name()

    def identity(self) -> str:
        """What a cursor is bound to, as a string: pattern, entity, key range and order, but not the page size."""
        asked = replace(self.paged, limit=None)
        order = "forward" if self.collection.forward else "backward"
        return f"{self.name}|{asked.slot.field}|{asked.key}|{asked.condition!r}|{order}"

    def segments(self) -> list[Segment]:
        """The segments to read; on later pages, the paged entity alone and the single entities."""
        if self.after is None:
            return self.collection.segments()
        singles = [part for part in self.collection.parts if not part.slot.many]
        alone = Segment((self.paged,), self.paged.interval)
        return [alone, *segments(singles, self.collection.foreign, forward=self.collection.forward)]

    def requests(self, context: Context) -> Requests[CollectionPage[C]]:
        """Read every segment, concurrently if the session can."""
        start = None if self.after is None else context.cursors.open(self.after, self.identity())
        found = yield from self.collection.read(self.segments(), context, self.paged, start)
        cursor = None if found.next_start is None else context.cursors.seal(found.next_start, self.identity())
        return CollectionPage(self.collection.assembled(found.items), cursor)


def _alone(read: Requests[_Found]) -> Requests[list[_Found]]:
    return [(yield from read)]


def _missing(segment: Segment, found: dict[str, list[Item]], limit: int) -> int:
    """How many items to request next; 0 if all wanted items were found, or more than the limit allows."""
    if segment.wanted is None:
        return max(0, limit + 1 - sum(map(len, found.values())))
    return sum(max(0, (part.wanted or 0) - len(found[part.slot.field])) for part in segment.parts)


def _position(part: CollectedPart, item: Item) -> Item:
    """The key that continues after an item: the table's, and the index's."""
    attributes = [attribute for attribute, _ in (*part.slot.schema.primary.attributes, *part.key.attributes)]
    return {attribute.name: item[attribute.name] for attribute in attributes}


def slots_of(result_class: type) -> tuple[Slot, ...]:
    """The slots that the result class of a collection declares.

    Raises:
        ModelError: it is not a dataclass, or a field is not an entity, an optional entity or a tuple of entities.
    """
    if not dataclasses.is_dataclass(result_class):
        raise ModelError(f"{result_class.__name__} is not a dataclass.", owner=result_class)
    hints = get_type_hints(result_class)
    slots = tuple(_slot(result_class, field.name, hints[field.name]) for field in dataclasses.fields(result_class))
    if len({slot.schema.table.name for slot in slots}) != 1:
        raise ModelError(f"{result_class.__name__} must have entities, all of one table.", owner=result_class)
    return slots


def _slot(result_class: type, name: str, annotation: Any) -> Slot:
    arguments = get_args(annotation)
    many = get_origin(annotation) is tuple and arguments[1:] == (Ellipsis,)
    optional = get_origin(annotation) in (Union, UnionType)
    candidates = (arguments[0],) if many else arguments if optional else (annotation,)
    entities = [kind for kind in candidates if isinstance(kind, type) and issubclass(kind, Entity)]
    if len(entities) != 1:
        message = f"{result_class.__name__}.{name} must be an entity, an optional entity, or a tuple of entities."
        raise ModelError(message, owner=result_class, hint="Write tasks: tuple[Task, ...].")
    return Slot(name, schema_of(entities[0]), many, optional=type(None) in candidates)
