"""Requests about points in time: continuous backups of a table, and a new table as an old one was."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from partita.store._requests import Request, TableDescription
from partita.store._schema import TableSchema

MAX_RECOVERY_DAYS: Final = 35
"""For so many days the past of a table can be kept, and is unless fewer are asked for."""


class RecoveryDescription(Struct, frozen=True):
    """Whether a table has continuous backups, and which instants it can be restored to; in seconds."""

    enabled: bool
    days: int = MAX_RECOVERY_DAYS
    earliest: float | None = None
    latest: float | None = None
    records: int = 0
    """How many the change log has, where it was measured."""
    log_bytes: int = 0
    """How many bytes of the file the change log takes, where it was measured."""


class SetRecovery(Request[RecoveryDescription], frozen=True):
    """Keep a table restorable to every second of the last days, 1 to 35; None stops it and drops what was kept."""

    table: str
    days: int | None = MAX_RECOVERY_DAYS


class DescribeRecovery(Request[RecoveryDescription], frozen=True):
    """Whether a table has continuous backups, and since when. `measured`: count what its log takes, by reading it."""

    table: str
    measured: bool = False


class RestoreTable(Request[TableDescription], frozen=True):
    """Make a new table with the items that another had at an instant, the latest one for None.

    The new table has the indexes of `schema`; it is seen when it is complete.
    """

    table: str
    schema: TableSchema
    instant: float | None = None
