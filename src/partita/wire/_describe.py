"""Table descriptions and ARNs, which several operations use."""

from __future__ import annotations

from typing import Final

from partita.store import DescribeTable, TableDescription
from partita.wire._parameters import Requests

ACCOUNT: Final = "000000000000"


def described(table: str) -> Requests[TableDescription]:
    """The store's description of the table."""
    description: TableDescription = yield DescribeTable(table)
    return description


def table_arn(region: str, table: str) -> str:
    """The ARN of a table in the region of the request."""
    return f"arn:aws:dynamodb:{region}:{ACCOUNT}:table/{table}"


def stream_arn(region: str, table: str, label: str) -> str:
    """The ARN of a table's stream."""
    return f"{table_arn(region, table)}/stream/{label}"
