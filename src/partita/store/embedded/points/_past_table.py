"""A table as it was at an instant, read from the table and its change log; and the changes between two instants."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Final

import apsw
from msgspec import Struct

from partita.errors import InstantOutOfRange, RecoveryDisabled
from partita.store._schema import TableSchema
from partita.store.embedded._table import ITEM, Table
from partita.store.embedded.points._access import StoreAccess
from partita.store.embedded.points._change_log import SECOND, first_after, microseconds
from partita.store.embedded.points._settings import EXACT, window

_COLUMNS: Final = (
    "hh NOT NULL, hk NOT NULL, rk NOT NULL, old BLOB, image BLOB, at INTEGER NOT NULL, PRIMARY KEY (hh, hk, rk)"
)
_SAME_KEY: Final = "{0}.hh = items.hh AND {0}.hk = items.hk AND {0}.rk = items.rk"


class NetChange(Struct, frozen=True):
    """The net change of one item between two instants. Images are in the stored form; either may be missing."""

    old: bytes | None
    new: bytes | None
    image: bytes
    """Some image of the item, for its key: an item created and deleted in between has neither old nor new."""
    at: float
    """The time of its last change, in seconds."""


class PastTable(Struct, frozen=True):
    """A table at an instant, on a connection with a snapshot of the file."""

    connection: apsw.Connection
    table: Table
    at: int
    """The instant, in microseconds."""
    now: float
    """The time when it was opened, in seconds."""

    @property
    def schema(self) -> TableSchema:
        """The current schema of the table."""
        return self.table.schema

    def blobs(self) -> Iterator[bytes]:
        """Every item, in the stored form."""
        undone = f"SELECT 1 FROM temp.undone WHERE {_SAME_KEY.format('undone')}"
        now = f"SELECT {ITEM} FROM items_{self.table.id} AS items WHERE NOT EXISTS ({undone})"
        for (blob,) in self.connection.execute(f"{now} UNION ALL SELECT old FROM temp.undone WHERE old IS NOT NULL"):
            yield blob

    def changes_since(self, instant: float) -> Iterator[NetChange]:
        """The net change of each item that changed between an earlier instant and this one.

        Raises:
            InstantOutOfRange: the log does not reach back to the instant.
        """
        since = checked(self.connection, self.table, instant, self.now)
        first = first_after(self.connection, self.table.id, since)
        end = first_after(self.connection, self.table.id, self.at)
        with _temporary(self.connection, "changed"):
            _gather(self.connection, self.table, "changed", first, end)
            yield from self._net_changes()

    def _net_changes(self) -> Iterator[NetChange]:
        later = f"LEFT JOIN temp.undone AS later ON {_SAME_KEY.format('later').replace('items.', 'changed.')}"
        now = f"LEFT JOIN items_{self.table.id} AS items ON {_SAME_KEY.format('changed')}"
        new = "CASE WHEN later.hh IS NOT NULL THEN later.old ELSE CAST(items.item AS BLOB) END"
        sql = f"SELECT changed.old, {new}, changed.at, changed.image FROM temp.changed AS changed {later} {now}"
        for old, image, at, between in self.connection.execute(sql):
            known = old or image or between
            if known is not None:  # otherwise it was created and deleted within one second, and its records were merged
                yield NetChange(old, image, known, at / SECOND)


@contextmanager
def opened(access: StoreAccess, name: str, instant: float | None) -> Iterator[PastTable]:
    """The state of a table at an instant (None: now), to be read while the block runs.

    Raises:
        RecoveryDisabled: the table has no continuous backups. InstantOutOfRange: they do not cover the instant.
    """
    now = access.clock()  # before the snapshot, so that it contains all writes stamped before this time
    with access.snapshot() as reader:
        table, connection = reader.table(name), reader.connection
        at = checked(connection, table, now if instant is None else instant, now)
        with _temporary(connection, "undone"):
            _gather(connection, table, "undone", first_after(connection, table.id, at), None)
            yield PastTable(connection, table, at, now)


def checked(connection: apsw.Connection, table: Table, instant: float, now: float) -> int:
    """Check an instant and return it in microseconds, rounded down to the second if it is older than an hour.

    Raises:
        RecoveryDisabled: the table has no log. InstantOutOfRange: the log does not cover the instant.
    """
    if table.sql_log is None:
        raise RecoveryDisabled(f"The table {table.name} has no continuous backups.")
    first, last = window(connection, table, now)
    at = microseconds(instant)
    if not first <= at <= last:
        raise out_of_range(table.name, instant, first / SECOND, last / SECOND)
    return at if at >= last - EXACT else max(at // SECOND * SECOND, first)


def out_of_range(what: str, instant: float, earliest: float | None, latest: float) -> InstantOutOfRange:
    """The error for an instant at which the table or store cannot be read."""
    since = "" if earliest is None else f" from {_shown(math.ceil(earliest * 1_000) / 1_000)}"  # rounded up
    message = f"The instant {_shown(instant)} is outside the range in which {what} can be read."
    hint = f"It can be read{since} to {_shown(latest)}."
    return InstantOutOfRange(message, hint=hint, earliest=earliest, latest=latest)


def _shown(instant: float) -> str:
    try:
        return datetime.fromtimestamp(instant, UTC).isoformat(timespec="milliseconds")
    except (OverflowError, ValueError, OSError):
        return str(instant)


@contextmanager
def _temporary(connection: apsw.Connection, name: str) -> Iterator[None]:
    connection.execute(f"DROP TABLE IF EXISTS temp.{name}")
    connection.execute(f"CREATE TEMP TABLE {name} ({_COLUMNS}) WITHOUT ROWID")
    try:
        yield
    finally:
        with suppress(apsw.LockedError):  # still being read: the next use drops the table
            connection.execute(f"DROP TABLE temp.{name}")


def _gather(connection: apsw.Connection, table: Table, name: str, first: int | None, end: int | None) -> None:
    """Collect the old image of each item's first record, and the time of its last, from records `first` to `end`."""
    if first is None:
        return
    before_end = "" if end is None else f" AND sequence < {end}"
    records = f"SELECT hh, hk, rk, old, old, at FROM points_{table.id} WHERE sequence >= {first}{before_end}"
    keep = "ON CONFLICT (hh, hk, rk) DO UPDATE SET at = excluded.at, image = ifnull(image, excluded.image)"
    connection.execute(f"INSERT INTO temp.{name} {records} ORDER BY sequence {keep}")
