"""Requests for point-in-time recovery: continuous backups of a table, and restoring a table to an instant."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from partita.store._requests import Request, TableDescription
from partita.store._schema import TableSchema

MAX_RECOVERY_DAYS: Final = 35
"""The maximum number of days for which the history of a table is kept, and the default."""


class RecoveryDescription(Struct, frozen=True):
    """Whether a table has continuous backups, and the range of instants it can be restored to, in seconds."""

    enabled: bool
    days: int = MAX_RECOVERY_DAYS
    earliest: float | None = None
    latest: float | None = None
    records: int = 0
    """The number of records in the change log, if it was measured."""
    log_bytes: int = 0
    """The size of the change log in the file in bytes, if it was measured."""


class SetRecovery(Request[RecoveryDescription], frozen=True):
    """Keep a table restorable to every second of the last 1 to 35 days; None disables this and deletes the log."""

    table: str
    days: int | None = MAX_RECOVERY_DAYS


class DescribeRecovery(Request[RecoveryDescription], frozen=True):
    """Describe a table's continuous backups. `measured`: also measure its change log, which reads all of it."""

    table: str
    measured: bool = False


class RestoreTable(Request[TableDescription], frozen=True):
    """Create a table with the items that another table had at an instant; None means the latest instant.

    The new table has the indexes of `schema`. It becomes visible when it is complete.
    """

    table: str
    schema: TableSchema
    instant: float | None = None
