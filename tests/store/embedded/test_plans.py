"""Every query starts to read at the start of its result: nothing is sorted, and nothing is read and discarded."""

from __future__ import annotations

import re

import pytest
from tests.store.embedded.support import TABLE

from partita.store._requests import CreateTable
from partita.store._schema import IndexSchema, KeyAttribute, TableSchema
from partita.store.embedded import EmbeddedStore
from partita.store.embedded._queries import _range_sql, _select_all
from partita.store.embedded._table import Source, Table

OWNER, TEAM, RANK, NAME = (KeyAttribute(name) for name in ("owner", "team", "rank", "name"))
MODEL = TableSchema(
    "plans",
    TABLE.hash,
    TABLE.range,
    (
        IndexSchema("global", (OWNER, TEAM), (RANK, NAME)),
        IndexSchema("hash-only", (OWNER,)),
        IndexSchema("local", (TABLE.hash,), (RANK,), local=True),
    ),
)


@pytest.fixture
def table() -> Table:
    with EmbeddedStore(":memory:") as store:
        store.execute(CreateTable(MODEL))
        return store._catalog.tables["plans"]


def plan_of(sql: str) -> str:
    with EmbeddedStore(":memory:") as store:
        store.execute(CreateTable(MODEL))
        rows = store._writer.connection.execute(f"EXPLAIN QUERY PLAN {sql}", (1,) * sql.count("?")).fetchall()
    (plan,) = [str(row[3]) for row in rows]
    return plan


@pytest.mark.parametrize(
    ("name", "equal"), [("plans", 0), ("global", 0), ("global", 1), ("hash-only", 0), ("local", 0)]
)
@pytest.mark.parametrize(("start", "forward"), [(True, True), (True, False), (False, True), (False, False)])
def test_a_page_begins_at_its_start_key(table: Table, name: str, equal: int, *, start: bool, forward: bool) -> None:
    source: Source = table if name == "plans" else table.index_of(name)
    fixed = len(source.hash) + equal
    plan = plan_of(_range_sql(source, (fixed, None, None, start, forward)))
    columns = (*source.hash_columns, *source.range_columns, *source.ties)
    assert plan.startswith("SEARCH")
    assert all(f"{column}=?" in plan for column in columns[:fixed])
    if start:
        assert re.search(rf"\(?{columns[fixed]}[,\w]*\)?{'>' if forward else '<'}", plan)


@pytest.mark.parametrize("name", ["plans", "global", "local"])
@pytest.mark.parametrize("forward", [True, False])
def test_a_range_is_bounded_on_both_sides(table: Table, name: str, *, forward: bool) -> None:
    source: Source = table if name == "plans" else table.index_of(name)
    plan = plan_of(_range_sql(source, (len(source.hash), True, True, False, forward)))
    column = source.range_columns[0]
    assert f"{column}>? AND {column}<?" in plan


@pytest.mark.parametrize("name", ["plans", "global", "hash-only", "local"])
def test_a_scan_goes_on_at_its_start_key(table: Table, name: str) -> None:
    source: Source = table if name == "plans" else table.index_of(name)
    assert plan_of(_select_all(source, start=True, segmented=False)).startswith("SEARCH")
