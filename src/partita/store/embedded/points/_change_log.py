"""The change log of a table: the old image of each changed item, written in the transaction of the change.

    recovery(table_id, days, since, merged)
    points_<table>(sequence, at, hh, hk, rk, old)

The table itself is the base, and the log is an undo log: the state of an item at an instant is the old image of its
first change after that instant, or its current state if there is no such change. So the base is never copied, and the
oldest records can be deleted independently of later ones. Times are in microseconds, and never decrease from one record
to the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import apsw

from partita.store.embedded._file import has_table

if TYPE_CHECKING:
    from partita.store.embedded._planned_writes import PlannedWrite

SECOND: Final = 1_000_000
DAY: Final = 86_400 * SECOND
_SQL_SETTINGS: Final = """
    CREATE TABLE IF NOT EXISTS recovery (
        table_id INTEGER PRIMARY KEY, days INTEGER NOT NULL, since INTEGER NOT NULL, merged INTEGER NOT NULL
    )
"""


def microseconds(seconds: float) -> int:
    """Convert a time of the clock to the unit of the log."""
    return round(seconds * SECOND)


def append(connection: apsw.Connection, planned: PlannedWrite, now: float) -> None:
    """Add the record of a write."""
    before = planned.before
    old = None if before is None else before.blob
    connection.execute(planned.table.sql_log, (microseconds(now), *planned.key, old))  # type: ignore[arg-type]


def has_settings(connection: apsw.Connection) -> bool:
    """Whether any table of the file ever had a log."""
    return has_table(connection, "recovery")


def enabled_days(connection: apsw.Connection) -> dict[int, int]:
    """The recovery period in days of each table with a log."""
    return dict(connection.execute("SELECT table_id, days FROM recovery")) if has_settings(connection) else {}


def begin(connection: apsw.Connection, table_id: int, days: int, now: float) -> None:
    """Create a log, which is complete from now on."""
    connection.execute(_SQL_SETTINGS)
    since = microseconds(now)
    connection.execute("INSERT INTO recovery VALUES (?, ?, ?, ?)", (table_id, days, since, since))
    columns = "sequence INTEGER PRIMARY KEY, at INTEGER NOT NULL, hh NOT NULL, hk NOT NULL, rk NOT NULL, old BLOB"
    connection.execute(f"CREATE TABLE points_{table_id} ({columns})")


def drop(connection: apsw.Connection, table_id: int) -> None:
    """Drop a log with its records, if there is one."""
    if has_settings(connection):
        connection.execute(f"DROP TABLE IF EXISTS points_{table_id}")
        connection.execute("DELETE FROM recovery WHERE table_id = ?", (table_id,))


def restart_all(connection: apsw.Connection, now: float) -> None:
    """Restart every log. Call this after the file was restored from a backup, because its logs lack that change."""
    if has_settings(connection):
        rows: list[Any] = connection.execute("SELECT table_id, days FROM recovery").fetchall()
        for table_id, days in rows:
            drop(connection, table_id)
            begin(connection, table_id, days, now)


def first_after(connection: apsw.Connection, table_id: int, at: int) -> int | None:
    """The sequence of the first record after a time, found by binary search, because times never decrease."""
    low, high = connection.execute(f"SELECT min(sequence), max(sequence) FROM points_{table_id}").get
    if low is None:
        return None
    sql, found = f"SELECT sequence, at FROM points_{table_id} WHERE sequence >= ? ORDER BY sequence LIMIT 1", None
    while low <= high:
        middle = (low + high) // 2
        sequence, time = connection.execute(sql, (middle,)).get
        if time > at:
            found, high = sequence, middle - 1
        else:
            low = sequence + 1
    return found
