"""Capacity units, as AWS calculates them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contract.table import MakeTable, Table
from tests.contract.trees import adding, exists, missing, path, projection, removing, setting

from partita.errors import ConditionFailed
from partita.expressions._ast import Update
from partita.store._requests import (
    BatchGetItem,
    BatchWriteItem,
    Capacity,
    ConditionCheck,
    DeleteItem,
    GetItem,
    PutItem,
    TransactGetItems,
    TransactWriteItems,
    UpdateItem,
)
from partita.store._schema import IndexSchema, KeyAttribute

# The key has 6 bytes, and the name of the body 4.
OVERHEAD = 10


def sized(size: int, sk: str = "1", **attributes: Any) -> dict[str, Any]:
    """Return an item of `size` bytes, plus further attributes."""
    return {"pk": "p", "sk": sk, "body": "x" * (size - OVERHEAD), **attributes}


@pytest.mark.rule(32)
@pytest.mark.parametrize(("size", "units"), [(100, 1), (4096, 1), (4097, 2), (8192, 2), (8193, 3), (400_000, 98)])
def test_a_read_costs_a_unit_for_each_4_kb(table: Table, size: int, units: float) -> None:
    table.put(sized(size))
    assert table.read("p", "1", consistent=True).capacity == Capacity(table.name, read=units)
    assert table.read("p", "1").capacity == Capacity(table.name, read=units / 2)


@pytest.mark.rule(32)
def test_reading_a_missing_item_costs_the_minimum(table: Table) -> None:
    assert table.read("p", "1").capacity.total_read == 0.5
    assert table.read("p", "1", consistent=True).capacity.total_read == 1


@pytest.mark.rule(32)
def test_a_projection_does_not_make_a_read_cheaper(table: Table) -> None:
    table.put(sized(9000))
    assert table.read("p", "1", consistent=True, projection=projection("sk")).capacity.total_read == 3


@pytest.mark.rule(32)
@pytest.mark.parametrize(("size", "units"), [(100, 1), (1024, 1), (1025, 2), (2048, 2), (400_000, 391)])
def test_a_write_costs_a_unit_for_each_kb(table: Table, size: int, units: float) -> None:
    assert table.put(sized(size)).capacity == Capacity(table.name, write=units)


@pytest.mark.rule(32)
def test_a_put_is_charged_on_the_larger_of_before_and_after(table: Table) -> None:
    table.put(sized(3000))
    assert table.put(sized(100)).capacity.total_write == 3
    assert table.put(sized(5000)).capacity.total_write == 5


@pytest.mark.rule(32)
def test_an_update_is_charged_on_the_larger_of_before_and_after(table: Table) -> None:
    table.put(sized(3000))
    assert table.update(("p", "1"), removing("body")).capacity.total_write == 3
    assert table.update(("p", "1"), setting({"body": "x" * 2000})).capacity.total_write == 2


@pytest.mark.rule(32)
def test_a_small_change_of_a_large_item_costs_the_whole_item(table: Table) -> None:
    table.put(sized(10_000))
    assert table.update(("p", "1"), adding({"n": 1})).capacity.total_write == 10


@pytest.mark.rule(32)
def test_a_delete_costs_what_it_deletes(table: Table) -> None:
    table.put(sized(3000))
    assert table.delete("p", "1").capacity.total_write == 3
    assert table.delete("p", "1").capacity.total_write == 1


@pytest.mark.rule(32)
def test_a_query_is_charged_by_the_sum_of_its_items(table: Table) -> None:
    table.put(*(sized(1000, f"{n}") for n in range(10)))
    assert table.query("p", consistent=True).capacity == Capacity(table.name, read=3)
    assert table.query("p").capacity == Capacity(table.name, read=1.5)
    assert table.query("p", limit=4).capacity.total_read == 0.5
    assert table.query("p", limit=5, consistent=True).capacity.total_read == 2


@pytest.mark.rule(24)
def test_filter_projection_and_count_do_not_make_a_query_cheaper(table: Table) -> None:
    table.put(*(sized(1000, f"{n}") for n in range(10)))
    for options in ({"filter": exists("nothing")}, {"projection": projection("sk")}, {"count_only": True}):
        assert table.query("p", consistent=True, **options).capacity.total_read == 3


@pytest.mark.rule(32)
def test_a_query_that_finds_nothing_costs_the_minimum(table: Table) -> None:
    assert table.query("nobody").capacity.total_read == 0.5
    assert table.query("nobody", consistent=True).capacity.total_read == 1


@pytest.mark.rule(32)
def test_a_scan_is_charged_by_the_sum_of_its_items(table: Table) -> None:
    table.put(*(sized(1000, f"{n}") for n in range(10)))
    assert table.scan(consistent=True).capacity.total_read == 3
    assert table.scan().capacity.total_read == 1.5


ALL = IndexSchema("all", (KeyAttribute("city"),), (KeyAttribute("age", "N"),))
SOME = IndexSchema("some", (KeyAttribute("city"),), projection=("name",))
KEYS = IndexSchema("keys", (KeyAttribute("city"),), projection="KEYS_ONLY")
LOCAL = IndexSchema("local", (KeyAttribute("pk"),), (KeyAttribute("age", "N"),), projection="KEYS_ONLY", local=True)
PERSON: dict[str, Any] = {"pk": "p", "sk": "1", "city": "C", "age": 30, "name": "Ada", "notes": "n"}


def index_units(capacity: Capacity) -> dict[str, float]:
    """Return the write units of each index that has any."""
    return {name: write for name, _, write in capacity.indexes if write}


@pytest.mark.rule(33)
@pytest.mark.parametrize("index", [ALL, SOME, KEYS, LOCAL], ids=["all", "include", "keys only", "local"])
def test_an_index_entry_costs_a_unit_to_insert_and_to_delete(make_table: MakeTable, index: IndexSchema) -> None:
    table = make_table(indexes=(index,))
    inserted, deleted = table.put(PERSON).capacity, table.delete("p", "1").capacity
    assert (inserted.write, index_units(inserted)) == (1, {index.name: 1})
    assert (deleted.write, index_units(deleted)) == (1, {index.name: 1})
    assert (inserted.total_write, deleted.total_write) == (2, 2)


INDEX_CHANGES: dict[str, tuple[IndexSchema, Update, dict[str, float]]] = {
    "key moved": (ALL, setting({"city": "D"}), {"all": 2}),
    "range moved": (ALL, setting({"age": 31}), {"all": 2}),
    "projected attribute": (ALL, setting({"name": "Bea"}), {"all": 1}),
    "off the index": (ALL, removing("city"), {"all": 1}),
    "included attribute": (SOME, setting({"name": "Bea"}), {"some": 1}),
    "attribute not included": (SOME, setting({"notes": "m"}), {}),
    "attribute beside keys only": (KEYS, setting({"name": "Bea"}), {}),
    "the same value": (ALL, setting({"name": path("name")}), {}),
    "local key moved": (LOCAL, setting({"age": 31}), {"local": 2}),
}


@pytest.mark.rule(33)
@pytest.mark.parametrize(("index", "update", "expected"), INDEX_CHANGES.values(), ids=INDEX_CHANGES.keys())
def test_an_index_is_charged_by_what_changes_in_it(
    make_table: MakeTable, index: IndexSchema, update: Update, expected: dict[str, float]
) -> None:
    table = make_table(indexes=(index,))
    table.put(PERSON)
    capacity = table.update(("p", "1"), update).capacity
    assert (capacity.write, index_units(capacity)) == (1, expected)


@pytest.mark.rule(33)
def test_an_item_off_the_index_costs_nothing_there(make_table: MakeTable) -> None:
    table = make_table(indexes=(ALL, SOME))
    capacity = table.put({"pk": "p", "sk": "1", "age": 30}).capacity
    assert (capacity.total_write, index_units(capacity)) == (1, {})


@pytest.mark.rule(33)
def test_an_index_write_is_charged_by_the_size_of_its_entry(make_table: MakeTable) -> None:
    table = make_table(indexes=(ALL, KEYS))
    capacity = table.put({**PERSON, "body": "x" * 3000}).capacity
    assert (capacity.write, index_units(capacity)) == (3, {"all": 3, "keys": 1})


def test_a_query_of_an_index_is_charged_to_the_index_by_its_entries(make_table: MakeTable) -> None:
    table = make_table(indexes=(ALL, KEYS))
    table.put(*({**PERSON, "sk": f"{n}", "body": "x" * 3000} for n in range(4)))
    whole, keys = table.query("C", index="all").capacity, table.query("C", index="keys").capacity
    assert (whole.read, whole.indexes) == (0, (("all", 1.5, 0.0),))
    assert (keys.read, keys.indexes) == (0, (("keys", 0.5, 0.0),))


@pytest.mark.rule(27)
def test_a_local_index_charges_what_it_fetches_to_the_table(make_table: MakeTable) -> None:
    table = make_table(indexes=(LOCAL,))
    table.put(*({**PERSON, "sk": f"{n}", "body": "x" * 5000} for n in range(3)))
    capacity = table.query("p", index="local", projection=projection("body"), consistent=True).capacity
    assert (capacity.read, capacity.indexes) == (6, (("local", 1.0, 0.0),))


@pytest.mark.rule(34)
def test_a_transaction_doubles_the_tables_part(make_table: MakeTable) -> None:
    table = make_table(indexes=(ALL,))
    actions = (PutItem(table.name, PERSON), PutItem(table.name, sized(1500, "2")))
    (capacity,) = table.store.execute(TransactWriteItems(actions)).capacity
    assert (capacity.write, index_units(capacity)) == (6, {"all": 1})


@pytest.mark.rule(34)
def test_a_condition_check_costs_two(table: Table) -> None:
    check = ConditionCheck(table.name, {"pk": "p", "sk": "1"}, missing("pk"))
    (capacity,) = table.store.execute(TransactWriteItems((check,))).capacity
    assert capacity.total_write == 2


@pytest.mark.rule(34)
def test_updates_and_deletes_in_a_transaction_cost_double(table: Table) -> None:
    table.put(sized(3000), sized(1500, "2"))
    actions = (
        UpdateItem(table.name, {"pk": "p", "sk": "1"}, adding({"n": 1})),
        DeleteItem(table.name, {"pk": "p", "sk": "2"}),
    )
    (capacity,) = table.store.execute(TransactWriteItems(actions)).capacity
    assert capacity.total_write == 6 + 4


@pytest.mark.rule(34)
def test_a_replayed_transaction_is_charged_as_reads(table: Table) -> None:
    request = TransactWriteItems((PutItem(table.name, sized(5000)),), f"{table.name}-token")
    table.store.execute(request)
    (capacity,) = table.store.execute(request).capacity
    assert (capacity.total_read, capacity.total_write) == (4, 0)


@pytest.mark.rule(34)
def test_a_transactional_get_costs_two_for_each_4_kb(table: Table) -> None:
    table.put(sized(5000), sized(100, "2"))
    gets = tuple(GetItem(table.name, {"pk": "p", "sk": sk}) for sk in ("1", "2", "missing"))
    (capacity,) = table.store.execute(TransactGetItems(gets)).capacity
    assert capacity.total_read == 4 + 2 + 2


def test_a_batch_costs_what_its_parts_cost(make_table: MakeTable) -> None:
    one, two = make_table(), make_table()
    one.put(sized(5000), sized(100, "2"))
    gets = [GetItem(one.name, {"pk": "p", "sk": sk}) for sk in ("1", "2", "missing")]
    request = BatchGetItem((*gets, GetItem(two.name, {"pk": "p", "sk": "1"}, consistent=True)))
    units = {capacity.table: capacity.total_read for capacity in one.store.execute(request).capacity}
    assert units == {one.name: 1 + 0.5 + 0.5, two.name: 1}


def test_a_batch_write_costs_what_its_parts_cost(make_table: MakeTable) -> None:
    one, two = make_table(), make_table(indexes=(ALL,))
    writes = (PutItem(one.name, sized(1500)), DeleteItem(one.name, {"pk": "p", "sk": "2"}), PutItem(two.name, PERSON))
    response = one.store.execute(BatchWriteItem(writes))
    units = {capacity.table: (capacity.write, index_units(capacity)) for capacity in response.capacity}
    assert units == {one.name: (3, {}), two.name: (1, {"all": 1})}


def test_a_failed_condition_leaves_the_next_write_as_cheap(table: Table) -> None:
    table.put(sized(3000))
    with pytest.raises(ConditionFailed):
        table.put(sized(10_000), condition=missing("pk"))
    assert table.put(sized(100)).capacity.total_write == 3
