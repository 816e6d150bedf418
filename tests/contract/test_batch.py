"""BatchGetItem and BatchWriteItem."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contract.table import MakeTable, Table
from tests.contract.trees import eq, projection

from partita.errors import TableNotFound, ValidationFailed
from partita.store._interface import Store
from partita.store._requests import BatchGetItem, BatchWriteItem, DeleteItem, GetItem, PutItem
from partita.store._schema import IndexSchema, KeyAttribute


def gets(table: Table, *ranges: str, **options: Any) -> tuple[GetItem, ...]:
    """Return gets from partition `p`."""
    return tuple(GetItem(table.name, {"pk": "p", "sk": sk}, **options) for sk in ranges)


def puts(table: Table, count: int, **attributes: Any) -> tuple[PutItem, ...]:
    """Return this number of puts into partition `p`."""
    return tuple(PutItem(table.name, {"pk": "p", "sk": f"{n:03}", **attributes}) for n in range(count))


def test_items_align_with_the_gets(table: Table) -> None:
    table.put({"pk": "p", "sk": "1", "n": 1}, {"pk": "p", "sk": "2", "n": 2})
    response = table.store.execute(BatchGetItem(gets(table, "2", "missing", "1")))
    assert response.items == [{"pk": "p", "sk": "2", "n": 2}, None, {"pk": "p", "sk": "1", "n": 1}]
    assert response.unprocessed == ()


def test_gets_may_be_of_several_tables(make_table: MakeTable) -> None:
    one, two = make_table(), make_table(range_type=None)
    one.put({"pk": "p", "sk": "1"})
    two.put({"pk": "q", "n": 2})
    request = BatchGetItem((GetItem(two.name, {"pk": "q"}), GetItem(one.name, {"pk": "p", "sk": "1"})))
    assert one.store.execute(request).items == [{"pk": "q", "n": 2}, {"pk": "p", "sk": "1"}]


def test_gets_may_be_projected(table: Table) -> None:
    table.put({"pk": "p", "sk": "1", "n": 1, "m": 2})
    request = BatchGetItem(gets(table, "1", projection=projection("pk", "sk", "n")))
    assert table.store.execute(request).items == [{"pk": "p", "sk": "1", "n": 1}]


@pytest.mark.rule(8)
def test_a_hundred_gets_are_executed(table: Table) -> None:
    table.put({"pk": "p", "sk": "42"})
    response = table.store.execute(BatchGetItem(gets(table, *map(str, range(100)))))
    assert [n for n, item in enumerate(response.items) if item is not None] == [42]


@pytest.mark.rule(8)
def test_more_than_a_hundred_gets_are_refused(table: Table) -> None:
    with pytest.raises(ValidationFailed):
        table.store.execute(BatchGetItem(gets(table, *map(str, range(101)))))


def test_no_gets_are_refused(store: Store) -> None:
    with pytest.raises(ValidationFailed):
        store.execute(BatchGetItem(()))


@pytest.mark.rule(35)
def test_the_same_key_twice_refuses_the_gets(table: Table) -> None:
    with pytest.raises(ValidationFailed, match="Provided list of item keys contains duplicates"):
        table.store.execute(BatchGetItem(gets(table, "1", "2", "1")))


@pytest.mark.rule(35)
def test_equal_numbers_are_the_same_key(make_table: MakeTable) -> None:
    table = make_table(range_type="N")
    keys = [{"pk": "p", "sk": number} for number in (1, 1)]
    with pytest.raises(ValidationFailed, match="Provided list of item keys contains duplicates"):
        table.store.execute(BatchGetItem(tuple(GetItem(table.name, key) for key in keys)))


def test_a_get_of_a_missing_table_is_reported(table: Table) -> None:
    with pytest.raises(TableNotFound):
        table.store.execute(BatchGetItem((*gets(table, "1"), GetItem("no-such-table", {"pk": "p"}))))


def test_a_get_with_a_wrong_key_refuses_the_batch(table: Table) -> None:
    with pytest.raises(ValidationFailed):
        table.store.execute(BatchGetItem((*gets(table, "1"), GetItem(table.name, {"pk": "p"}))))


@pytest.mark.rule(8)
def test_gets_beyond_sixteen_megabytes_are_left_unprocessed(table: Table) -> None:
    table.put(*({"pk": "p", "sk": f"{n:03}", "body": "x" * 390_000} for n in range(50)))
    request = BatchGetItem(gets(table, *(f"{n:03}" for n in range(50))))
    response = table.store.execute(request)
    found = [item["sk"] for item in response.items if item is not None]
    left = [get.key["sk"] for get in response.unprocessed]
    assert sorted(found + left) == [f"{n:03}" for n in range(50)]
    assert 40 <= len(found) <= 43
    again = table.store.execute(BatchGetItem(response.unprocessed))
    assert [item["sk"] for item in again.items if item is not None] == left


def test_puts_and_deletes_are_all_done(table: Table) -> None:
    table.put({"pk": "p", "sk": "gone"})
    writes: tuple[PutItem | DeleteItem, ...] = (*puts(table, 24), DeleteItem(table.name, {"pk": "p", "sk": "gone"}))
    response = table.store.execute(BatchWriteItem(writes))
    assert response.unprocessed == ()
    assert [item["sk"] for item in table.query("p").items] == [f"{n:03}" for n in range(24)]


def test_writes_may_be_of_several_tables(make_table: MakeTable) -> None:
    one, two = make_table(), make_table(range_type=None)
    one.store.execute(BatchWriteItem((PutItem(one.name, {"pk": "p", "sk": "1"}), PutItem(two.name, {"pk": "q"}))))
    assert (one.get("p", "1"), two.get("q")) == ({"pk": "p", "sk": "1"}, {"pk": "q"})


def test_a_batch_replaces_what_is_there(table: Table) -> None:
    table.put({"pk": "p", "sk": "000", "old": 1})
    table.store.execute(BatchWriteItem(puts(table, 1, new=2)))
    assert table.get("p", "000") == {"pk": "p", "sk": "000", "new": 2}


def test_a_batch_keeps_the_indexes(make_table: MakeTable) -> None:
    table = make_table(indexes=(IndexSchema("by-city", (KeyAttribute("city"),)),))
    table.store.execute(BatchWriteItem(puts(table, 3, city="C")))
    table.store.execute(BatchWriteItem((DeleteItem(table.name, {"pk": "p", "sk": "001"}),)))
    assert [item["sk"] for item in table.query("C", index="by-city").items] == ["000", "002"]


REFUSED_WRITES: dict[str, Any] = {
    "more than 25": lambda table: puts(table, 26),
    "none": lambda _: (),
    "the same key twice": lambda table: (*puts(table, 2), DeleteItem(table.name, {"pk": "p", "sk": "000"})),
    "two puts of one key": lambda table: (*puts(table, 1), *puts(table, 1, n=1)),
    "a wrong key": lambda table: (*puts(table, 1), DeleteItem(table.name, {"pk": "p"})),
    "a key too few": lambda table: (*puts(table, 1), PutItem(table.name, {"pk": "p"})),
    "an empty key": lambda table: (*puts(table, 1), PutItem(table.name, {"pk": "p", "sk": ""})),
    "an empty set": lambda table: (*puts(table, 1), PutItem(table.name, {"pk": "p", "sk": "x", "s": frozenset()})),
    "an item too large": lambda table: (
        *puts(table, 1),
        PutItem(table.name, {"pk": "p", "sk": "x", "body": "x" * 409_600}),
    ),
}


@pytest.mark.rule(8, 35)
@pytest.mark.parametrize("writes", REFUSED_WRITES.values(), ids=REFUSED_WRITES.keys())
def test_one_bad_write_refuses_the_whole_batch(table: Table, writes: Any) -> None:
    with pytest.raises(ValidationFailed):
        table.store.execute(BatchWriteItem(writes(table)))
    assert table.scan().count == 0


def test_a_write_to_a_missing_table_refuses_the_whole_batch(table: Table) -> None:
    writes = (*puts(table, 1), PutItem("no-such-table", {"pk": "p"}))
    with pytest.raises(TableNotFound):
        table.store.execute(BatchWriteItem(writes))
    assert table.scan().count == 0


@pytest.mark.rule(35)
def test_the_message_says_that_keys_repeat(table: Table) -> None:
    with pytest.raises(ValidationFailed, match="Provided list of item keys contains duplicates"):
        table.store.execute(BatchWriteItem((*puts(table, 1), *puts(table, 1))))


def test_a_batch_takes_no_conditions(table: Table, store_name: str) -> None:
    if store_name not in ("embedded", "named"):
        pytest.skip("DynamoDB's protocol has no place for them")
    with pytest.raises(ValidationFailed):
        table.store.execute(BatchWriteItem((PutItem(table.name, {"pk": "p", "sk": "1"}, condition=eq("n", 1)),)))
