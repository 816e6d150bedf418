"""The number and size of a table's items: counted in small tables, estimated in large ones.

DynamoDB's own figures are up to six hours old, so programs cannot rely on them; but DescribeTable is called often, and
must not read a whole table each time.
"""

from __future__ import annotations

from typing import Final

import apsw

MAX_COUNTED: Final = 2_000
"""The figures are exact for tables with at most this many items."""

_PROBES: Final = 500
_GOLDEN: Final = 0.6180339887498949  # gives evenly spread positions that do not coincide with any pattern of the rows
_SQL_COUNT: Final = "SELECT count(*), coalesce(sum(size), 0) FROM (SELECT size FROM {items} LIMIT ?)"
_SQL_SPAN: Final = "SELECT (SELECT min(id) FROM {items}), (SELECT max(id) FROM {items})"
_SQL_PROBE: Final = "SELECT count(*), coalesce(sum(size), 0) FROM {items} WHERE id IN (SELECT value FROM json_each(?))"


def table_stats(connection: apsw.Connection, items: str) -> tuple[int, int]:
    """The number of items in an SQLite table, and their size in bytes."""
    count, size = connection.execute(_SQL_COUNT.format(items=items), (MAX_COUNTED + 1,)).get
    return (count, size) if count <= MAX_COUNTED else _estimate(connection, items)


def _estimate(connection: apsw.Connection, items: str) -> tuple[int, int]:
    """Estimate from a sample: the share of existing rows among row numbers that are spread over the whole range."""
    first, last = connection.execute(_SQL_SPAN.format(items=items)).get
    span = last - first + 1
    ids = [first + int(span * (place * _GOLDEN % 1)) for place in range(_PROBES)]
    found, size = connection.execute(_SQL_PROBE.format(items=items), (str(ids),)).get
    count = max(MAX_COUNTED + 1, round(span * found / _PROBES))
    return count, round(count * size / found) if found else 0
