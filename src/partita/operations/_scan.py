"""Reading a whole table, for maintenance only: an ordinary session refuses such a scan."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from partita.model import Entity, EntitySchema, Table, schema_of
from partita.operations._operation import Context, Operation, Requests
from partita.operations._page import Page
from partita.operations._query import DEFAULT_LIMIT
from partita.operations._unclaimed import unclaimed_among
from partita.store import PageResponse, ScanTable
from partita.values import Item

E = TypeVar("E", bound=Entity)


class Scan(Operation[Page[E]], Generic[E], frozen=True):
    """One page of all items of an entity, without expired ones. Pages may be short or empty."""

    schema: EntitySchema[E]
    limit: int = DEFAULT_LIMIT
    cursor: str | None = None

    def page(self, limit: int, *, after: str | None = None) -> Scan[E]:
        """Inspect `limit` items of the table, after the cursor of the previous page."""
        return replace(self, limit=limit, cursor=after)

    def default_name(self) -> str:
        """The name in metrics."""
        return f"{self.schema.name}.scan"

    def requests(self, context: Context) -> Requests[Page[E]]:
        """Read one page."""
        start = None if self.cursor is None else context.cursors.open(self.cursor, self.name)
        response: PageResponse = yield ScanTable(self.schema.table.name, limit=self.limit, start=start)
        now = context.clock()
        owned = [item for item in response.items if self.schema.owns(item) and self.schema.live(item, now)]
        unclaimed = unclaimed_among(self.schema.table, response.items)
        if unclaimed is not None:
            yield unclaimed
        cursor = None if response.last_key is None else context.cursors.seal(response.last_key, self.name)
        return Page(tuple(self.schema.entity(item) for item in owned), cursor, unclaimed.count if unclaimed else 0)


class ScanItems(Operation[tuple[Item, ...]], frozen=True):
    """Every stored item of a table as plain attributes, including expired items and those of no entity."""

    table: Table

    def default_name(self) -> str:
        """The name in metrics."""
        return f"{self.table.name}.scan"

    def requests(self, context: Context) -> Requests[tuple[Item, ...]]:  # noqa: ARG002 - one signature for all operations
        """Read page by page to the end."""
        items: list[Any] = []
        request = ScanTable(self.table.name, limit=DEFAULT_LIMIT)
        while True:
            response: PageResponse = yield request
            items += response.items
            if response.last_key is None:
                return tuple(items)
            request = replace(request, start=response.last_key)


def scan(entity: type[E]) -> Scan[E]:
    """All items of an entity, a page at a time, for `session.maintenance(reason)`."""
    return Scan(schema_of(entity))


def scan_items(table: Table) -> ScanItems:
    """All items stored in a table, for `session.maintenance(reason)`."""
    return ScanItems(table)
