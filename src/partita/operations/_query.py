"""Reading a range of one partition: pages, the first match, counts, and walks over many pages."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import Any, Generic, TypeVar

from msgspec.structs import replace
from pydantic import BaseModel

from partita.errors import InvalidItem, LimitExceeded, OperationError
from partita.expressions import Condition, KeyCondition, Projection, both, canonical_repr
from partita.model import BoundKey, EntitySchema, PartialItem, Ref
from partita.operations._operation import Context, Operation, Requests
from partita.operations._owned import is_guarded, owner_check, owner_condition
from partita.operations._page import Page, WalkResult
from partita.operations._projection import attributes_projection, projected_defaults
from partita.operations._shards import MergedShards, shards_of
from partita.operations._unclaimed import unclaimed_among
from partita.runtime import Together
from partita.store import PageResponse, QueryTable
from partita.values import Item

DEFAULT_LIMIT = 100
MAX_LIMIT = 1_000
MAX_REQUESTS_TO_FILL = 10
COUNTED_PER_PAGE = 10_000

M = TypeVar("M", bound=BaseModel)


class Query(Operation[Page[M]], Generic[M], frozen=True):
    """Read one page of a range. It contains no expired items and none of other entities or other owners."""

    listed_as = "query"

    schema: EntitySchema[Any]
    key: BoundKey
    key_condition: KeyCondition
    model: type[M]
    """The class of the results: the entity, or a view of it."""
    projection: Projection | None = None
    limit: int = DEFAULT_LIMIT
    cursor: str | None = None
    condition: Condition | None = None
    forward: bool = True
    is_consistent: bool = False
    skips_invalid: bool = False
    other_shards: tuple[KeyCondition, ...] = ()
    """The conditions for all shards but the first, if the key has shards and none was named."""

    def page(self, limit: int, *, after: str | None = None) -> Query[M]:
        """One page of at most `limit` matches, after the cursor of the previous page."""
        if not isinstance(limit, int) or not 1 <= limit <= MAX_LIMIT:
            raise OperationError(f"A page has 1 to {MAX_LIMIT} items, not {limit!r}.")
        return replace(self, limit=limit, cursor=after)

    def where(self, condition: Condition) -> Query[M]:
        """Only matches for which the condition also holds. Items that it drops are still read and charged."""
        self.schema.check_condition(condition)
        return replace(self, condition=both(self.condition, condition))

    def only(self, *fields: Ref[Any]) -> Query[Any]:
        """The same read of these fields alone: the results have all fields of the entity, and the others are None.

        If the fields are always the same, declare a view.

        Raises:
            OperationError: the entity has no such field, or the query does not read it.
        """
        for field in fields:
            if not isinstance(field, Ref):
                hint = "Name fields with f(), as in only(f(Task.title), f(Task.due))."
                raise OperationError(f"{field!r:.60} is not a reference to a field.", hint=hint)
        names = [str(field.path.parts[0]) for field in fields]
        read = {path.parts[0] for path in self.projection or ()}
        for name in names:
            if name not in self.schema.attributes.values() or (read and name not in read):
                raise OperationError(f"{self.name} does not read {name!r}.", hint="Name only fields that it reads.")
        projection = attributes_projection(self.schema, self.key, names)
        return replace(self, model=self.schema.partial, projection=projection)

    def skipping_invalid(self) -> Query[M]:
        """The same read, which skips items that do not fit the entity and lists them in `invalid` of the result."""
        return replace(self, skips_invalid=True)

    def reversed(self) -> Query[M]:
        """The same range in the opposite order."""
        return replace(self, forward=not self.forward)

    def consistent(self) -> Query[M]:
        """The same read, but strongly consistent, at twice the cost; not on a global index."""
        if self.schema.table.schema.is_global(self.key.index):
            raise OperationError(f"The global index {self.key.index!r} does not support consistent reads.")
        return replace(self, is_consistent=True)

    def first(self) -> First[M]:
        """The first match, or None."""
        self._refuse_cursor("first()")
        return First(replace(self, limit=1), pattern=self.pattern)

    def count(self, *, max_pages: int = 10) -> Count:
        """How many items match, read over at most `max_pages` pages of 1 MB or 10,000 items."""
        self._refuse_cursor("count()")
        return Count(self, max_pages, pattern=self.pattern)

    def walk(self, *, max_items: int) -> Walk[M]:
        """All matches, over as many pages as needed, but with at most `max_items` items inspected."""
        self._refuse_cursor("walk()")
        if max_items < 1:
            raise OperationError(f"A walk inspects at least 1 item, not {max_items}.")
        return Walk(self, max_items, pattern=self.pattern)

    def _refuse_cursor(self, method: str) -> None:
        if self.cursor is not None:
            raise OperationError(f"{method} starts at the beginning and accepts no cursor.", hint="Use page() alone.")

    def __iter__(self) -> Generator[Operation[Any], Any, Page[M]]:
        page: Page[M] | None = yield self
        if page is None:  # a session sends a page back; a for loop calls next()
            raise OperationError(f"{self.name} was not run.", hint="Loop over the result of session.run(…).")
        return page

    def default_name(self) -> str:
        """The name if no access pattern was declared."""
        return f"{self.schema.name}.{self.key.name}"

    def request(self) -> QueryTable:
        """The first request, without a cursor."""
        return QueryTable(
            table=self.schema.table.name,
            key_condition=self.key_condition,
            index=self.key.index,
            filter=self.condition,
            projection=self.projection,
            limit=self.limit,
            forward=self.forward,
            consistent=self.is_consistent,
        )

    def identity(self) -> str:
        """What a cursor is bound to, as a string: pattern, key range, filter and order, but not page size or fields."""
        request = replace(self.request(), filter=None, limit=None, consistent=False, projection=None)
        shards = f"|{1 + len(self.other_shards)} shards" if self.other_shards else ""
        return f"{self.name}|{self.key}|{request!r}|{canonical_repr(self.condition)}{shards}"

    def requests(self, context: Context) -> Requests[Page[M]]:
        """Send requests until the page is full, the range ends, or enough items were inspected."""
        start = context.cursors.open(self.cursor, self.identity()) if self.cursor is not None else None
        if self.other_shards:
            return (yield from self._merged(start, context))
        found: list[Item] = []
        unclaimed = 0
        for attempt in range(MAX_REQUESTS_TO_FILL):
            response: PageResponse = yield self.request_from(start, short=attempt > 0)
            owned = self.owned(response.items)
            if len(owned) != len(response.items):
                unclaimed += yield from self.report_unclaimed(response.items)
            found += self.live(owned, context)
            start = response.last_key
            if start is None or len(found) >= self.limit:
                break
        if len(found) > self.limit:
            found = found[: self.limit]
            start = self.position(found[-1])
        invalid: list[InvalidItem] = []
        items = tuple(self.typed(found, invalid))
        cursor = None if start is None else context.cursors.seal(start, self.identity())
        return Page(items, cursor, unclaimed, tuple(invalid))

    def _merged(self, start: Item | None, context: Context) -> Requests[Page[M]]:
        """A page of all shards."""
        shards = MergedShards(self, start)
        found = yield from shards.read(self.limit, context)
        invalid: list[InvalidItem] = []
        items = tuple(self.typed(found, invalid))
        cursor = context.cursors.seal(shards.position(), self.identity()) if shards.goes_on else None
        return Page(items, cursor, shards.unclaimed, tuple(invalid))

    def request_from(self, start: Item | None, *, short: bool) -> QueryTable:
        """The request that continues after a key; `short`: an earlier one returned too few items."""
        request = self.request()
        if short or self.condition is not None:
            # Many of the items read may be dropped: request more at once, and cut the page here.
            request = replace(request, limit=max(self.limit, DEFAULT_LIMIT))
        return request if start is None else replace(request, start=start)

    def visible(self, items: list[Item], context: Context) -> Requests[list[Item]]:
        """The unexpired items of this entity; the session is notified of items that no entity claims."""
        owned = self.owned(items)
        if len(owned) != len(items):
            yield from self.report_unclaimed(items)
        return self.live(owned, context)

    def owned(self, items: list[Item]) -> list[Item]:
        """The items of this entity whose primary keys agree with the partition."""
        owns = owner_check(self.schema, self.key, self.key_condition)
        return [item for item in items if owns(item)]

    def live(self, items: list[Item], context: Context) -> list[Item]:
        """The items that have not expired."""
        if self.schema.expires is None:
            return items
        now = context.clock()
        return [item for item in items if self.schema.live(item, now)]

    def report_unclaimed(self, items: list[Item]) -> Requests[int]:
        """Notify the session of items that no entity claims; return their number."""
        unclaimed = unclaimed_among(self.schema.table, items)
        if unclaimed is None:
            return 0
        yield unclaimed
        return unclaimed.count

    def typed(self, items: list[Item], invalid: list[InvalidItem]) -> Iterable[M]:
        """The models in items; an item that does not fit raises, or is added to `invalid` if the query skips these."""
        if self.model is self.schema.cls and not self.skips_invalid:
            return self.schema.codec.entities(items)
        return self._typed_one_by_one(items, invalid)

    def _typed_one_by_one(self, items: list[Item], invalid: list[InvalidItem]) -> Iterator[M]:
        read = self.schema.entity_as
        absent = projected_defaults(self.schema, self.projection) if issubclass(self.model, PartialItem) else {}
        for item in items:
            try:
                yield read(self.model, {**absent, **item} if absent else item)
            except InvalidItem as error:
                if not self.skips_invalid:
                    raise
                invalid.append(error)

    def position(self, item: Item) -> Item:
        """The key that continues after an item: the table's, and the index's."""
        return {name: item[name] for name in self.position_names()}

    def position_names(self) -> list[str]:
        """The attributes of the key that continues after an item."""
        attributes = (*self.schema.primary.attributes, *self.key.attributes)
        return list(dict.fromkeys(attribute.name for attribute, _ in attributes))


class First(Operation[M | None], Generic[M], frozen=True):
    """The first match of a query, or None."""

    query: Query[M]

    def request(self) -> QueryTable:
        """The request to send."""
        return self.query.request()

    def default_name(self) -> str:
        """The name if no access pattern was declared."""
        return self.query.default_name()

    def requests(self, context: Context) -> Requests[M | None]:
        """Read a page of one item, and continue if the items read are not visible."""
        if self.query.other_shards:
            return (yield from self._of_shards(context))
        start: Item | None = None
        for attempt in range(MAX_REQUESTS_TO_FILL):
            response: PageResponse = yield self.query.request_from(start, short=attempt > 0)
            visible = yield from self.query.visible(response.items, context)
            for model in self.query.typed(visible, []):
                return model
            start = response.last_key
            if start is None:
                return None
        raise self._nothing()

    def _of_shards(self, context: Context) -> Requests[M | None]:
        shards = MergedShards(self.query, None)
        found = yield from shards.read(1, context)
        for model in self.query.typed(found, []):
            return model
        if shards.goes_on:
            raise self._nothing()
        return None

    def _nothing(self) -> LimitExceeded:
        message = f"{self.name} found no match within {MAX_REQUESTS_TO_FILL} pages."
        return LimitExceeded(message, hint="Declare an index whose key selects the match.")


class Count(Operation[int], frozen=True):
    """How many items match a query."""

    query: Query[Any]
    max_pages: int

    def default_name(self) -> str:
        """The name if no access pattern was declared."""
        return self.query.default_name()

    def request(self, now: float = 0) -> QueryTable:
        """The first request: only a count if every item is certainly visible, or else the keys of the items."""
        query, schema = self.query, self.query.schema
        live = both(query.condition, schema.unexpired(now))
        request = replace(query.request(), limit=COUNTED_PER_PAGE, filter=live)
        guarded = is_guarded(schema, query.key)
        own = owner_condition(schema, query.key, query.key_condition) if guarded else None
        if schema.alone_in(query.key) and (own is not None or not guarded):
            return replace(request, filter=both(live, own), count_only=True, projection=None)
        return replace(request, projection=schema.key_projection(query.key))

    def requests(self, context: Context) -> Requests[int]:
        """Count page by page.

        Raises:
            LimitExceeded: there are more items after `max_pages` pages.
        """
        if self.query.other_shards:
            each = [replace(self, query=shard).requests(context) for shard in shards_of(self.query)]
            counts: list[int] = yield Together(tuple(each))
            return sum(counts)
        request = self.request(context.clock())
        total = 0
        for _ in range(self.max_pages):
            response: PageResponse = yield request
            if request.count_only:
                total += response.count
            else:
                total += len((yield from self.query.visible(response.items, context)))
            if response.last_key is None:
                return total
            request = replace(request, start=response.last_key)
        # A page that ends at its limit has a key to continue from, whether or not more items follow.
        if request.start is not None and not (yield replace(request, limit=1)).scanned:
            return total
        raise LimitExceeded(
            f"{self.name} has more than {self.max_pages} pages to count.", hint="Keep a counter instead."
        )


class Walk(Operation[WalkResult[M]], Generic[M], frozen=True):
    """All matches of a query, with a maximum."""

    query: Query[M]
    max_items: int

    def default_name(self) -> str:
        """The name if no access pattern was declared."""
        return self.query.default_name()

    def request(self) -> QueryTable:
        """The first request to send."""
        return replace(self.query.request(), limit=self.max_items)

    def requests(self, context: Context) -> Requests[WalkResult[M]]:
        """Read page by page until the range ends or the maximum is reached."""
        if self.query.other_shards:
            return (yield from self._of_shards(context))
        request = self.request()
        items: list[M] = []
        invalid: list[InvalidItem] = []
        inspected = unclaimed = 0
        while True:
            response: PageResponse = yield request
            owned = self.query.owned(response.items)
            if len(owned) != len(response.items):
                unclaimed += yield from self.query.report_unclaimed(response.items)
            items += self.query.typed(self.query.live(owned, context), invalid)
            inspected += response.scanned
            if response.last_key is None:
                return WalkResult(tuple(items), truncated=False, unclaimed=unclaimed, invalid=tuple(invalid))
            if inspected >= self.max_items:
                break
            request = replace(request, start=response.last_key, limit=self.max_items - inspected)
        # A page that ends at its limit has a key to continue from, whether or not more items follow.
        response = yield replace(request, start=response.last_key, limit=1)
        return WalkResult(tuple(items), response.scanned > 0, unclaimed, tuple(invalid))

    def _of_shards(self, context: Context) -> Requests[WalkResult[M]]:
        """Read all shards in order, a page at a time."""
        items: list[M] = []
        invalid: list[InvalidItem] = []
        shards = MergedShards(self.query, None)
        while shards.goes_on and len(items) <= self.max_items:
            size = min(self.query.limit, self.max_items + 1 - len(items))
            items += self.query.typed((yield from shards.read(size, context)), invalid)
        is_cut = len(items) > self.max_items
        return WalkResult(tuple(items[: self.max_items]), is_cut, shards.unclaimed, tuple(invalid))
