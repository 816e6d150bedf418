"""Local secondary indexes."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contract.table import MakeTable, Table
from tests.contract.trees import eq, projection, setting

from partita.errors import ValidationFailed
from partita.store._schema import IndexSchema, KeyAttribute

PK, SCORE = KeyAttribute("pk"), KeyAttribute("score", "N")
ALL = IndexSchema("all", (PK,), (SCORE,), local=True)
KEYS = IndexSchema("keys", (PK,), (SCORE,), projection="KEYS_ONLY", local=True)
SOME = IndexSchema("some", (PK,), (SCORE,), projection=("name",), local=True)
PLAYER: dict[str, Any] = {"pk": "p", "sk": "1", "score": 5, "name": "Ada", "notes": "long"}


def players(make_table: MakeTable, index: IndexSchema) -> Table:
    """Put three players with a score and one without into partition `p`, and one into another partition."""
    table = make_table(indexes=(index,))
    table.put(*({**PLAYER, "sk": sk, "score": score} for sk, score in (("1", 5), ("2", -1), ("3", 20))))
    table.put({"pk": "p", "sk": "4"}, {**PLAYER, "pk": "q"})
    return table


@pytest.mark.parametrize("forward", [True, False], ids=["forward", "backward"])
@pytest.mark.parametrize(
    ("span", "expected"),
    [((), [-1, 5, 20]), ((">", 0), [5, 20]), (("BETWEEN", -5, 5), [-1, 5])],
    ids=["all", "greater", "between"],
)
def test_ranges_of_a_local_index(
    make_table: MakeTable,
    span: tuple[Any, ...],
    expected: list[int],
    forward: bool,  # noqa: FBT001
) -> None:
    page = players(make_table, ALL).query("p", *span, index="all", forward=forward)
    assert [item["score"] for item in page.items] == (expected if forward else expected[::-1])


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (ALL, PLAYER),
        (KEYS, {"pk": "p", "sk": "1", "score": 5}),
        (SOME, {"pk": "p", "sk": "1", "score": 5, "name": "Ada"}),
    ],
    ids=["all", "keys only", "include"],
)
def test_a_local_index_gives_what_it_projects(
    make_table: MakeTable, index: IndexSchema, expected: dict[str, Any]
) -> None:
    assert players(make_table, index).query("p", "BETWEEN", 5, 5, index=index.name).items == [expected]


@pytest.mark.rule(27)
def test_a_local_index_fetches_from_the_table_what_it_does_not_project(make_table: MakeTable) -> None:
    page = players(make_table, KEYS).query("p", "BETWEEN", 5, 5, index="keys", projection=projection("notes", "sk"))
    assert page.items == [{"notes": "long", "sk": "1"}]


def test_a_local_index_may_be_read_consistently(make_table: MakeTable) -> None:
    assert players(make_table, ALL).query("p", index="all", consistent=True).count == 3


def test_a_filter_may_use_the_tables_range_key(make_table: MakeTable) -> None:
    page = players(make_table, ALL).query("p", index="all", filter=eq("sk", "3"))
    assert [item["score"] for item in page.items] == [20]


def test_an_update_moves_the_entry(make_table: MakeTable) -> None:
    table = players(make_table, ALL)
    table.update(("p", "4"), setting({"score": 6}))
    assert [item["sk"] for item in table.query("p", index="all").items] == ["2", "1", "4", "3"]


@pytest.mark.rule(10)
def test_a_bad_local_index_key_refuses_the_write(make_table: MakeTable) -> None:
    table = players(make_table, ALL)
    with pytest.raises(ValidationFailed):
        table.put({**PLAYER, "score": "5"})
    assert table.get("p", "1") == PLAYER


@pytest.mark.rule(25)
def test_the_last_key_of_a_local_index_holds_all_keys(make_table: MakeTable) -> None:
    page = players(make_table, ALL).query("p", index="all", limit=1)
    assert page.last_key == {"pk": "p", "sk": "2", "score": -1}


def test_a_query_may_not_filter_by_what_the_local_index_does_not_project(make_table: MakeTable) -> None:
    table = players(make_table, SOME)
    with pytest.raises(ValidationFailed, match=r"Secondary index some does not project one or more filter attributes"):
        table.query("p", index="some", filter=eq("notes", "long"))
    assert table.query("p", index="some", filter=eq("name", "Ada")).count == 3
