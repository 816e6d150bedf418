"""Applying every change in the stream's order: each transaction contains some changes and the position after them.

    stream    a1 b1 c1 a2 c2 a3 d1        a2 is the second change of the item a
    written  [a1 b1 c1][a2 c2][a3 d1]     an item occurs once in a transaction; each transaction follows the last one
    position        3      5      7

Changes and position are written atomically. So if a run ends at any point, the next one resumes after the last change
that was applied. A run that was taken over, or a late request of such a run, is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from partita.change import ItemChange
from partita.errors import CopyRefused, TransactionCancelled, ValidationFailed
from partita.runtime import Pace
from partita.store import PutItem, Store, TableSchema, TransactWriteItems, wire_item
from partita.transfer._changes import write_of
from partita.transfer._checkpoint import Checkpoint, CopyState
from partita.transfer._sides import passes
from partita.transfer._units import units_of
from partita.transfer._writing import Write
from partita.values import encode_item, item_size, write_units

MAX_CHANGES: Final = 99
"""A transaction has up to 100 actions; one of them is the checkpoint."""
MAX_BYTES: Final = 3 * 1024 * 1024
"""A transaction has up to 4 MB, including the checkpoint."""


def transactions(changes: Iterable[ItemChange]) -> Iterator[tuple[ItemChange, ...]]:
    """Yield the changes in their order, split before an item that occurs again, and when a transaction is full."""
    part: list[ItemChange] = []
    seen: set[bytes] = set()
    size = 0
    for change in changes:
        key, own = encode_item(change.keys), item_size(change.new_item or change.keys)
        if part and (key in seen or len(part) == MAX_CHANGES or size + own > MAX_BYTES):
            yield tuple(part)
            part, seen, size = [], set(), 0
        part.append(change)
        seen.add(key)
        size += own
    if part:
        yield tuple(part)


class ChangeWriter:
    """Writes changes of one table, together with the position after them."""

    def __init__(
        self,
        store: Store,
        schema: TableSchema,
        checkpoint: Checkpoint,
        *,
        pace: Pace,
        on_written: Callable[[int, float], object],
    ) -> None:
        self._store = store
        self._schema = schema
        self._checkpoint = checkpoint
        self._pace = pace
        self._on_written = on_written

    def write(self, changes: Sequence[ItemChange], state: CopyState) -> CopyState:
        """Write consecutive changes of different items; return the state of the copy after them.

        Raises:
            CopyRefused: the target refuses one of the changes. CopyTakenOver: another run continues the copy.
            StoreError: the target failed.
        """
        places = {change.shard: str(change.sequence) for change in changes}
        after = replace(state, positions={**(state.positions or {}), **places})
        writes = tuple(write_of(self._schema.name, change) for change in changes)
        estimated = sum(map(self._units, writes)) if self._pace.is_limited else 0.0
        self._pace.take(estimated)
        units = self._execute(writes, after)
        self._pace.correct(units - estimated)
        self._on_written(len(writes), units)
        return after

    def _execute(self, writes: tuple[Write, ...], state: CopyState) -> float:
        save = self._checkpoint.next_save(state)
        units = 0.0
        try:
            response = self._store.execute(TransactWriteItems((*writes, save)))
        except ValidationFailed as error:
            raise self._refusal(writes[0], error.message) from error
        except TransactionCancelled as error:
            if passes(error):
                raise
            if error.reasons[-1].code != "ConditionalCheckFailed":
                first = error.failed[0]
                write = (*writes, save)[error.reasons.index(first)]
                raise self._refusal(write, first.message) from error
            self._checkpoint.check_saved(save)  # either its response was lost, or another run continues the copy
        else:
            units = sum(each.total_write for each in response.capacity)
        self._checkpoint.saved()
        return units

    def _units(self, write: Write) -> float:
        """Return the units of a write: in a transaction, items cost twice as much, but index entries do not."""
        if isinstance(write, PutItem):
            return write_units(item_size(write.item)) + units_of(self._schema, write.item)
        return 2 * write_units(1)

    def _refusal(self, write: Write, message: str) -> CopyRefused:
        item = write.item if isinstance(write, PutItem) else write.key
        key = wire_item({part.name: item[part.name] for part in self._schema.key if part.name in item})
        hint = "Correct the table of the target, and run the copy again: it resumes here."
        return CopyRefused(f"{self._schema.name}: the target refuses a change of the item {key}: {message}", hint=hint)
