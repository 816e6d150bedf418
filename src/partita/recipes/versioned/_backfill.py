"""Backfills: counting the stored items of each data version, and rewriting the old ones in the current version.

Both read the whole table, so they run in `session.maintenance(reason)`, one page at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from partita.errors import ConditionFailed
from partita.model import Budget, Entity
from partita.operations import Context, Operation, Procedure, Requests, forecast
from partita.recipes.versioned._form import VersionedForm
from partita.recipes.versioned._table import VersionedTable
from partita.runtime import Pause
from partita.store import PageResponse, PutItem, ScanTable, WriteResponse
from partita.values import Item

E = TypeVar("E", bound=Entity)

PAGE: Final = 100
MAX_TRIES: Final = 3


class VersionCount(Struct, frozen=True):
    """The number of stored items in each data version, and the estimated cost of rewriting the old ones."""

    entity: str
    data_version: int
    items: Mapping[int, int] = {}
    rewrite: Budget = Budget()
    """An estimate that counts every rewritten item as new to its indexes."""

    @property
    def old(self) -> int:
        """The number of items older than the code."""
        return sum(count for version, count in self.items.items() if version < self.data_version)

    @property
    def newer(self) -> int:
        """The number of items newer than the code."""
        return sum(count for version, count in self.items.items() if version > self.data_version)


class BackfillProgress(Struct, frozen=True):
    """The progress of a backfill. `position` continues it; None when it has read everything."""

    data_version: int
    inspected: int = 0
    rewritten: int = 0
    overtaken: int = 0
    """Old items that other writers kept changing; the next backfill will find them."""
    newer: int = 0
    """Items that newer code has written, which were not changed."""
    position: Item | None = None
    done: bool = False


def count_versions(table: VersionedTable[..., E]) -> Procedure[VersionCount]:
    """Count the items of each data version, and estimate the cost of a backfill."""
    counts: Counter[int] = Counter()
    rewrite = Budget()
    page = VersionPage(table.form)
    while True:
        found = yield from page
        for item in found.items:
            version = table.form.stored_version(item)
            counts[version] += 1
            if version < table.form.data_version:
                rewrite += forecast(rewritten(table.form, item), [table.form.schema.table], 0)
        if found.last_key is None:
            return VersionCount(table.form.schema.name, table.form.data_version, dict(sorted(counts.items())), rewrite)
        page = replace(page, start=found.last_key)


def backfill_page(
    table: VersionedTable[..., E], so_far: BackfillProgress | None = None, *, wcu_per_second: float
) -> Operation[BackfillProgress]:
    """Rewrite the old items of the next page, at no more than `wcu_per_second` write units per second.

    A change by another writer is never lost, and `last_write` is kept, so the versions that clients hold remain valid.
    """
    start = so_far or BackfillProgress(table.form.data_version)
    return BackfillPage(table.form, start, wcu_per_second)


class VersionPage(Operation[PageResponse], Generic[E], frozen=True):
    """The stored items of the entity on one page, in any data version, including expired ones."""

    form: VersionedForm[E]
    start: Item | None = None

    def default_name(self) -> str:
        """The name in metrics."""
        return f"{self.form.schema.name}.count_versions"

    def requests(self, context: Context) -> Requests[PageResponse]:  # noqa: ARG002 - one signature for all operations
        """Read the page."""
        response: PageResponse = yield ScanTable(self.form.schema.table.name, limit=PAGE, start=self.start)
        return replace(response, items=[item for item in response.items if self.form.schema.owns(item)])


class BackfillPage(Operation[BackfillProgress], Generic[E], frozen=True):
    """Rewrite the old items of one page."""

    form: VersionedForm[E]
    so_far: BackfillProgress
    wcu_per_second: float

    def default_name(self) -> str:
        """The name in metrics."""
        return f"{self.form.schema.name}.backfill"

    def requests(self, context: Context) -> Requests[BackfillProgress]:
        """Read the page; rewrite each old item, then wait until the rate allows the next one."""
        page = yield from VersionPage(self.form, self.so_far.position).requests(context)
        seen: Counter[str] = Counter()
        for item in page.items:
            version = self.form.stored_version(item)
            if version < self.form.data_version:
                seen[(yield from self._rewrite(item, context))] += 1
            elif version > self.form.data_version:
                seen["newer"] += 1
        return replace(
            self.so_far,
            inspected=self.so_far.inspected + len(page.items),
            rewritten=self.so_far.rewritten + seen["rewritten"],
            overtaken=self.so_far.overtaken + seen["overtaken"],
            newer=self.so_far.newer + seen["newer"],
            position=page.last_key,
            done=page.last_key is None,
        )

    def _rewrite(self, item: Item, context: Context) -> Requests[str]:
        current: Item | None = item
        for _ in range(MAX_TRIES):
            if current is None or self.form.stored_version(current) >= self.form.data_version:
                return "settled"  # deleted, or migrated by another writer
            started = context.clock()
            try:
                response: WriteResponse = yield rewritten(self.form, current)
            except ConditionFailed as error:
                current = error.item
                continue
            wait = response.capacity.total_write / self.wcu_per_second - (context.clock() - started)
            if wait > 0:
                yield Pause(wait)
            return "rewritten"
        return "overtaken"


def rewritten(form: VersionedForm[Any], item: Item) -> PutItem:
    """The request that writes an old item in the current data version, unless it was changed in the meantime."""
    versioned = form.versioned(item)
    condition = form.follows(versioned.last_write)
    return PutItem(form.schema.table.name, form.item(versioned), condition, on_failure_item=True)
