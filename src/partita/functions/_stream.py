"""A function that takes the records of a change stream to sinks, in order; a batch may fail from some record on.

AWS is told the first record that failed, and sends the batch again from there. Sinks pass over what they have, which
they know by shard and sequence; an event names its shard only where the event source has a tumbling window.
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
"""Where changes go: a sink, which keeps its own place in the stream, or a function that bears to see one twice."""

AS_DECLARED: Final = TableNames(prefix="")
_WINDOW: Final = "Give its event source a TumblingWindowInSeconds: only then does AWS say which shard records are of."


class DeliveredRecords(Struct, frozen=True):
    """How far the records of an event came."""

    table: Table
    received: int
    applied: int
    """So many of the first were taken to all targets."""
    at: float | None
    """When the first that was not, or else the last that was, happened; None where that cannot be read."""


class _Batch(Struct, frozen=True):
    """Changes that could be read, up to the first record that could not."""

    table: Table
    shard: str
    changes: list[ItemChange]
    unreadable: str | None
    """The sequence number of that record."""


class StreamHandler:
    """Takes the records of a table's stream to sinks or functions.

    handler = StreamHandler({ORDERS: [projection, notify]})
    """

    def __init__(
        self,
        targets: Mapping[Table, Sequence[Target]],
        *,
        table_names: TableNames = AS_DECLARED,
        after: Callable[[DeliveredRecords], object] = lambda _delivered: None,
    ) -> None:
        """Take records to targets.

        Args:
            targets: where the changes of each table go. A sink must have been loaded before.
            table_names: what the tables are called in DynamoDB.
            after: called when the records of an event were taken to the targets, or some failed.
        """
        self._targets = targets
        self._after = after
        self._tables = {table_names.stored(table.name): table for table in targets}

    def __call__(self, event: Any, context: object = None) -> dict[str, Any]:  # noqa: ARG002 - as AWS calls it
        """Take the records of an event to the targets; gives the first that failed.

        Raises:
            EventRefused: it is not an event of a stream of these tables, or it does not say what a sink must know.
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
        """How many of the first changes all targets took."""
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
                    raise EventRefused("Records of several tables are in one event.")
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
            raise EventRefused(f"This record is not of a stream of these tables, but of {source!r}.")
        return table


def _sequence_of(record: Any, error: PartitaError) -> str:
    """By what AWS knows a record that cannot be read; where it has no number, the event fails as a whole."""
    change = record.get("dynamodb") if isinstance(record, Mapping) else None
    number = change.get("SequenceNumber") if isinstance(change, Mapping) else None
    if not isinstance(number, str) or not number.isdigit():
        raise EventRefused("A record has no sequence number.") from error
    return number


def _delivered(target: Target, changes: Sequence[ItemChange], shard: str) -> int:
    """Take changes to a target, in order; how many it took before one failed."""
    if callable(target):
        return next((n for n, change in enumerate(changes) if not _accepts(target, change)), len(changes))
    if not changes:
        return 0
    if not shard:
        raise EventRefused("This event does not say which shard its records are of.", hint=_WINDOW)
    if not target.positions():
        raise RebuildRequired(f"The sink of {changes[0].table.name} was never loaded.")
    return _committed(target, changes, shard)


def _accepts(function: Callable[[ItemChange], object], change: ItemChange) -> bool:
    try:
        function(change)
    except Exception:  # whatever it raises, AWS sends the record again
        logger.exception("%r failed, and is sent again.", change)
        return False
    return True


def _committed(sink: Sink, changes: Sequence[ItemChange], shard: str) -> int:
    """Have a sink apply changes; where it cannot, as many of the first as it can, found by halving."""
    known = sink.positions()
    last = max(changes[-1].sequence, known.get(shard, 0))
    try:
        sink.apply(changes, {**known, shard: last})
    except Exception:  # whatever it raises, what it did not take is sent again
        logger.exception("%d changes of %s could not be applied.", len(changes), changes[0].table.name)
        if len(changes) == 1:
            return 0
    else:
        return len(changes)
    half = len(changes) // 2
    done = _committed(sink, changes[:half], shard)
    return done if done < half else half + _committed(sink, changes[half:], shard)
