"""TransactGetItems."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contract.table import MakeTable, Table
from tests.contract.trees import projection

from partita.errors import TableNotFound, TransactionCancelled, ValidationFailed
from partita.store._interface import Store
from partita.store._requests import GetItem, TransactGetItems


def gets(table: Table, *ranges: str, **options: Any) -> TransactGetItems:
    """Return gets from partition `p`, in one transaction."""
    return TransactGetItems(tuple(GetItem(table.name, {"pk": "p", "sk": sk}, **options) for sk in ranges))


def test_items_align_with_the_gets(table: Table) -> None:
    table.put({"pk": "p", "sk": "1", "n": 1}, {"pk": "p", "sk": "2", "n": 2})
    response = table.store.execute(gets(table, "2", "missing", "1"))
    assert response.items == [{"pk": "p", "sk": "2", "n": 2}, None, {"pk": "p", "sk": "1", "n": 1}]


def test_gets_may_be_of_several_tables(make_table: MakeTable) -> None:
    one, two = make_table(), make_table(range_type=None)
    one.put({"pk": "p", "sk": "1"})
    two.put({"pk": "q"})
    request = TransactGetItems((GetItem(one.name, {"pk": "p", "sk": "1"}), GetItem(two.name, {"pk": "q"})))
    assert one.store.execute(request).items == [{"pk": "p", "sk": "1"}, {"pk": "q"}]


def test_each_get_has_its_own_projection(table: Table) -> None:
    table.put({"pk": "p", "sk": "1", "n": 1, "m": [1, 2]}, {"pk": "p", "sk": "2", "n": 2})
    request = TransactGetItems(
        (
            GetItem(table.name, {"pk": "p", "sk": "1"}, projection=projection("m[1]")),
            GetItem(table.name, {"pk": "p", "sk": "2"}, projection=projection("n")),
        )
    )
    assert table.store.execute(request).items == [{"m": [2]}, {"n": 2}]


@pytest.mark.rule(23)
def test_a_projection_that_matches_nothing_gives_no_item(table: Table) -> None:
    table.put({"pk": "p", "sk": "1"})
    assert table.store.execute(gets(table, "1", projection=projection("nothing"))).items == [None]


@pytest.mark.rule(8)
def test_a_hundred_gets_are_executed(table: Table) -> None:
    table.put({"pk": "p", "sk": "7"})
    response = table.store.execute(gets(table, *map(str, range(100))))
    assert [n for n, item in enumerate(response.items) if item is not None] == [7]


@pytest.mark.rule(8)
def test_more_than_a_hundred_gets_are_refused(table: Table) -> None:
    with pytest.raises(ValidationFailed):
        table.store.execute(gets(table, *map(str, range(101))))


def test_no_gets_are_refused(store: Store) -> None:
    with pytest.raises(ValidationFailed):
        store.execute(TransactGetItems(()))


def test_an_item_may_be_read_once(table: Table) -> None:
    with pytest.raises(ValidationFailed, match="Transaction request cannot include multiple operations on one item"):
        table.store.execute(gets(table, "1", "1"))


def test_a_missing_table_is_reported(store: Store) -> None:
    with pytest.raises(TableNotFound):
        store.execute(TransactGetItems((GetItem("no-such-table", {"pk": "p"}),)))


@pytest.mark.rule(37)
def test_a_wrongly_typed_key_is_a_reason(table: Table) -> None:
    good, bad = GetItem(table.name, {"pk": "p", "sk": "1"}), GetItem(table.name, {"pk": "p", "sk": 7})
    with pytest.raises(TransactionCancelled) as failure:
        table.store.execute(TransactGetItems((good, bad)))
    assert [reason.code for reason in failure.value.reasons] == ["None", "ValidationError"]


@pytest.mark.rule(23, 37)
def test_overlapping_projections_refuse_the_request(table: Table) -> None:
    with pytest.raises(ValidationFailed):
        table.store.execute(gets(table, "1", projection=projection("a", "a.b")))
