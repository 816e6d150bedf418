"""The statistics of a table are exact if it is small, and approximate if it is large."""

from __future__ import annotations

import apsw
import pytest

from partita.store.embedded._table_stats import MAX_COUNTED, table_stats

FILL = """
    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
    INSERT INTO items (size) SELECT 100 + n % 400 FROM numbers
"""


def filled(rows: int) -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE items (id INTEGER PRIMARY KEY, size INTEGER NOT NULL)")
    if rows:
        connection.execute(FILL, (rows,))
    return connection


def truth(connection: apsw.Connection) -> tuple[int, int]:
    found: tuple[int, int] = connection.execute("SELECT count(*), coalesce(sum(size), 0) FROM items").get
    return found


@pytest.mark.parametrize("rows", [0, 1, MAX_COUNTED])
def test_few_items_are_counted(rows: int) -> None:
    connection = filled(rows)
    assert truth(connection) == table_stats(connection, "items")


@pytest.mark.parametrize("keeping", ["1", "id % 3", "id % 7 = 0", "id < 40000"], ids=["all", "most", "few", "a run"])
def test_many_items_are_estimated(keeping: str) -> None:
    connection = filled(50_000)
    connection.execute(f"DELETE FROM items WHERE NOT ({keeping})")  # noqa: S608 - from the cases above
    assert table_stats(connection, "items") == pytest.approx(truth(connection), rel=0.1)


def test_many_items_in_few_of_many_rows_are_many() -> None:
    connection = filled(MAX_COUNTED + 1)
    connection.execute("INSERT INTO items (id, size) VALUES (1000000000, 100)")
    assert table_stats(connection, "items")[0] > MAX_COUNTED
