"""A function that delivers the records of a change stream to sinks, in order; a batch can fail from some record on.

The response names the first record that failed, and AWS sends the batch again from there. Sinks skip changes that they
already have, which they know by shard and sequence; an event names its shard only if the event source has a tumbling
window.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct

from partita.change import ItemChange, Sink
from partita.errors import EventRefused, PartitaError, RebuildRequired
from partita.model import Table
from partita.store import TableNames
from partita.store.remote import pushed_record

logger: Final = logging.getLogger("partita.functions")

Target: TypeAlias = Sink | Callable[[ItemChange], object]
"""A target of changes: a sink, which stores its own position, or a function that tolerates repeated changes."""

AS_DECLARED: Final = TableNames(prefix="")
_WINDOW: Final = "Give the event source a TumblingWindowInSeconds: only then do events name the shard of their records."


class DeliveredRecords(Struct, frozen=True):
    """How many records of an event were delivered."""

    table: Table
    received: int
    applied: int
    """How many records, counted from the first, were delivered to all targets."""
    at: float | None
    """The time of the first record that was not delivered, or else of the last one; None if it cannot be read."""


class _Batch(Struct, frozen=True):
    """The changes of an event, up to the first record that cannot be read."""

    table: Table
    shard: str
    changes: list[ItemChange]
    unreadable: str | None
    """The sequence number of this record; None if all can be read."""


class StreamHandler:
    """Delivers the records of a table's stream to sinks or functions.

    handler = StreamHandler({ORDERS: [projection, notify]})
    """

    def __init__(
        self,
        targets: Mapping[Table, Sequence[Target]],
        *,
        table_names: TableNames = AS_DECLARED,
        after: Callable[[DeliveredRecords], object] = lambda _delivered: None,
    ) -> None:
        """Deliver records to targets.

        Args:
            targets: the targets for the changes of each table. A sink must have been loaded before.
            table_names: the names of the tables in DynamoDB.
            after: called after the records of an event were delivered, or some of them failed.
        """
        self._targets = targets
        self._after = after
        self._tables = {table_names.stored(table.name): table for table in targets}

    def __call__(self, event: Any, context: object = None) -> dict[str, Any]:  # noqa: ARG002 - as AWS calls it
        """Deliver the records of an event to the targets, and return the first record that failed.

        Raises:
            EventRefused: the event is not from a stream of these tables, or does not name the shard for a sink.
            RebuildRequired: a sink was never loaded.
        """
        if not isinstance(event, Mapping) or not isinstance(event.get("Records"), list):
            raise EventRefused("This event has no records.")
        failed = self._first_failed(event) if event["Records"] else None
        response: dict[str, Any] = {"batchItemFailures": [] if failed is None else [{"itemIdentifier": failed}]}
        if "window" in event:
            response["state"] = event.get("state") or {}
        return response

    def _first_failed(self, event: Mapping[str, Any]) -> str | None:
        batch = self._read(event)
        applied = 0
        try:
            applied = self._applied(batch)
        finally:
            next_one = batch.changes[min(applied, len(batch.changes) - 1)] if batch.changes else None
            at = None if next_one is None else next_one.at
            self._after(DeliveredRecords(batch.table, len(event["Records"]), applied, at))
        return str(batch.changes[applied].sequence) if applied < len(batch.changes) else batch.unreadable

    def _applied(self, batch: _Batch) -> int:
        """Return how many changes, counted from the first, all targets applied."""
        done = len(batch.changes)
        for target in self._targets[batch.table]:
            done = _delivered(target, batch.changes[:done], batch.shard)
        return done

    def _read(self, event: Mapping[str, Any]) -> _Batch:
        records = event["Records"]
        table, shard = self._table_of(records[0]), event.get("shardId", "")
        changes: list[ItemChange] = []
        for record in records:
            try:
                if self._table_of(record) is not table:
                    raise EventRefused("The event contains records of several tables.")
                changes.append(ItemChange(table, pushed_record(record), shard or "function"))
            except PartitaError as error:
                logger.exception("A record of %s cannot be read.", table.name)
                return _Batch(table, shard, changes, _sequence_of(record, error))
        return _Batch(table, shard, changes, None)

    def _table_of(self, record: Any) -> Table:
        source = record.get("eventSourceARN", "") if isinstance(record, Mapping) else ""
        _, _, path = str(source).partition(":table/")
        table = self._tables.get(path.partition("/stream/")[0])
        if table is None:
            raise EventRefused(f"A record is not from a stream of these tables, but from {source!r}.")
        return table


def _sequence_of(record: Any, error: PartitaError) -> str:
    """Return the sequence number of a record that cannot be read; without one, the whole event fails."""
    change = record.get("dynamodb") if isinstance(record, Mapping) else None
    number = change.get("SequenceNumber") if isinstance(change, Mapping) else None
    if not isinstance(number, str) or not number.isdigit():
        raise EventRefused("A record has no sequence number.") from error
    return number


def _delivered(target: Target, changes: Sequence[ItemChange], shard: str) -> int:
    """Deliver changes to a target, in order, and return how many it applied before one failed."""
    if callable(target):
        return next((n for n, change in enumerate(changes) if not _accepts(target, change)), len(changes))
    if not changes:
        return 0
    if not shard:
        raise EventRefused("This event does not name the shard of its records.", hint=_WINDOW)
    if not target.positions():
        raise RebuildRequired(f"The sink of {changes[0].table.name} was never loaded.")
    return _committed(target, changes, shard)


def _accepts(function: Callable[[ItemChange], object], change: ItemChange) -> bool:
    try:
        function(change)
    except Exception:  # after any error, AWS sends the record again
        logger.exception("%r failed, and will be sent again.", change)
        return False
    return True


def _committed(sink: Sink, changes: Sequence[ItemChange], shard: str) -> int:
    """Let a sink apply changes, and return how many it applied. If all at once fail, find out by halving."""
    known = sink.positions()
    last = max(changes[-1].sequence, known.get(shard, 0))
    try:
        sink.apply(changes, {**known, shard: last})
    except Exception:  # after any error, AWS sends the changes that were not applied again
        logger.exception("%d changes of %s could not be applied.", len(changes), changes[0].table.name)
        if len(changes) == 1:
            return 0
    else:
        return len(changes)
    half = len(changes) // 2
    done = _committed(sink, changes[:half], shard)
    return done if done < half else half + _committed(sink, changes[half:], shard)
