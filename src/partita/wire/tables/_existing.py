"""Looks up the table of an operation, which must exist."""

from __future__ import annotations

from partita.errors import TableNotFound
from partita.store import DescribeTable, TableDescription
from partita.wire._faults import Fault, not_found
from partita.wire._parameters import Requests


def existing(name: str) -> Requests[TableDescription]:
    """The description of a table; if it does not exist, the error names it."""
    try:
        description: TableDescription = yield DescribeTable(name)
    except TableNotFound:
        raise not_found(f"Table: {name}") from None
    return description


def backed_up(name: str) -> Requests[TableDescription]:
    """The description of a table; operations on backups have their own error if it does not exist."""
    try:
        description: TableDescription = yield DescribeTable(name)
    except TableNotFound:
        raise Fault("TableNotFoundException", f"Table not found: {name}") from None
    return description
