"""The settings of a table's continuous backups, and the instants that they cover."""

from __future__ import annotations

from typing import Final

import apsw

from partita.errors import ValidationFailed
from partita.store._points import MAX_RECOVERY_DAYS, DescribeRecovery, RecoveryDescription, SetRecovery
from partita.store.embedded._connection import Reader, Writer
from partita.store.embedded._table import Table
from partita.store.embedded.points import _change_log
from partita.store.embedded.points._change_log import DAY, SECOND, microseconds

EXACT: Final = 3_600 * SECOND
"""The time for which every change has its own record; after that, one record per item and second is kept."""
_SQL_BYTES: Final = "SELECT ifnull(sum(pgsize), 0) FROM dbstat WHERE name = ? AND aggregate = TRUE"


def set_recovery(writer: Writer, request: SetRecovery) -> RecoveryDescription:
    """Create or drop the log of a table, or change its recovery period.

    Raises:
        ValidationFailed: the days are not between 1 and 35.
    """
    table, connection, days, now = writer.table(request.table), writer.connection, request.days, writer.clock()
    if days is not None and not 1 <= days <= MAX_RECOVERY_DAYS:
        raise ValidationFailed(f"RecoveryPeriodInDays must be between 1 and {MAX_RECOVERY_DAYS}, not {days}")
    if days is None:
        _change_log.drop(connection, table.id)
    elif table.sql_log is None:
        _change_log.begin(connection, table.id, days, now)
    else:
        connection.execute("UPDATE recovery SET days = ? WHERE table_id = ?", (days, table.id))
    writer.catalog_changed()
    return describe(connection, table, now)


def describe_recovery(reader: Reader, request: DescribeRecovery) -> RecoveryDescription:
    """Return the instants that a table can be restored to and, if requested, the size of its log."""
    reader.refresh()  # another process may have changed it
    return describe(reader.connection, reader.table(request.table), reader.clock(), measured=request.measured)


def describe(connection: apsw.Connection, table: Table, now: float, *, measured: bool = False) -> RecoveryDescription:
    """The description of a table's continuous backups."""
    days = _change_log.enabled_days(connection).get(table.id)
    if days is None:
        return RecoveryDescription(enabled=False)
    first, last = window(connection, table, now)
    if not measured:
        return RecoveryDescription(True, days, first / SECOND, last / SECOND)
    name = f"points_{table.id}"
    records = connection.execute(f"SELECT count(*) FROM {name}").get
    taken = connection.execute(_SQL_BYTES, (name,)).get
    return RecoveryDescription(True, days, first / SECOND, last / SECOND, records, taken)


def window(connection: apsw.Connection, table: Table, now: float) -> tuple[int, int]:
    """The first and the last instant at which a table with a log can be read."""
    days, since = connection.execute("SELECT days, since FROM recovery WHERE table_id = ?", (table.id,)).get
    last = microseconds(now)
    return min(max(since, last - days * DAY), last), last
