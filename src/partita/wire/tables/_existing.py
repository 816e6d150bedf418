"""The table that an operation is about, which must be there."""

from __future__ import annotations

from partita.errors import TableNotFound
from partita.store import DescribeTable, TableDescription
from partita.wire._faults import Fault, not_found
from partita.wire._parameters import Requests


def existing(name: str) -> Requests[TableDescription]:
    """The table; the error names it where it is not there."""
    try:
        description: TableDescription = yield DescribeTable(name)
    except TableNotFound:
        raise not_found(f"Table: {name}") from None
    return description


def backed_up(name: str) -> Requests[TableDescription]:
    """The table; operations on backups have an error of their own where it is not there."""
    try:
        description: TableDescription = yield DescribeTable(name)
    except TableNotFound:
        raise Fault("TableNotFoundException", f"Table not found: {name}") from None
    return description
