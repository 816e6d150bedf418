"""Global secondary indexes."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from tests.contract.table import MakeTable, Table
from tests.contract.trees import compare, eq, path, plus, projection, removing, setting, val

from partita.errors import TableInUse, TableNotFound, ValidationFailed
from partita.expressions._ast import IfNotExists, KeyCondition, KeyRange, Update
from partita.store._requests import CreateIndex, DeleteIndex, QueryTable
from partita.store._schema import IndexSchema, KeyAttribute

CITY, AGE, PHOTO = KeyAttribute("city"), KeyAttribute("age", "N"), KeyAttribute("photo", "B")
ALL = IndexSchema("all", (CITY,), (AGE,))
KEYS = IndexSchema("keys", (CITY,), (AGE,), projection="KEYS_ONLY")
SOME = IndexSchema("some", (CITY,), (AGE,), projection=("name",))
HASH_ONLY = IndexSchema("hash-only", (CITY,))
PERSON: dict[str, Any] = {"pk": "a", "sk": "1", "city": "C", "age": 30, "name": "Ada", "notes": "long"}


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (ALL, PERSON),
        (KEYS, {"pk": "a", "sk": "1", "city": "C", "age": 30}),
        (SOME, {"pk": "a", "sk": "1", "city": "C", "age": 30, "name": "Ada"}),
    ],
    ids=["all", "keys only", "include"],
)
def test_an_index_holds_what_it_projects(make_table: MakeTable, index: IndexSchema, expected: dict[str, Any]) -> None:
    table = make_table(indexes=(index,))
    table.put(PERSON)
    assert table.query("C", index=index.name).items == [expected]


@pytest.mark.rule(10)
@pytest.mark.parametrize("left_out", ["city", "age"])
def test_an_item_without_an_index_key_is_off_the_index(make_table: MakeTable, left_out: str) -> None:
    table = make_table(indexes=(ALL,))
    table.put({name: value for name, value in PERSON.items() if name != left_out})
    assert table.scan(index="all").items == []
    assert table.scan().count == 1


MOVES: dict[str, tuple[Update, list[int], list[int]]] = {
    "to another partition": (setting({"city": "D"}), [], [30]),
    "within the partition": (setting({"age": 31}), [31], []),
    "off the index": (removing("age"), [], []),
    "nowhere": (setting({"name": "Bea"}), [30], []),
}


@pytest.mark.parametrize(("update", "in_c", "in_d"), MOVES.values(), ids=MOVES.keys())
def test_an_update_moves_the_entry(make_table: MakeTable, update: Update, in_c: list[int], in_d: list[int]) -> None:
    table = make_table(indexes=(ALL,))
    table.put(PERSON)
    table.update(("a", "1"), update)
    assert [item["age"] for item in table.query("C", index="all").items] == in_c
    assert [item["age"] for item in table.query("D", index="all").items] == in_d


def test_a_put_moves_the_entry(make_table: MakeTable) -> None:
    table = make_table(indexes=(ALL,))
    table.put(PERSON, {**PERSON, "city": "D"})
    assert table.query("C", index="all").items == []
    assert table.query("D", index="all").items == [{**PERSON, "city": "D"}]


def test_a_delete_takes_the_entry_away(make_table: MakeTable) -> None:
    table = make_table(indexes=(ALL,))
    table.put(PERSON)
    table.delete("a", "1")
    assert table.scan(index="all").items == []


def test_an_update_changes_what_is_projected(make_table: MakeTable) -> None:
    table = make_table(indexes=(SOME,))
    table.put(PERSON)
    table.update(("a", "1"), setting({"name": "Bea", "notes": "short"}))
    assert [item["name"] for item in table.query("C", index="some").items] == ["Bea"]


@pytest.mark.parametrize("forward", [True, False], ids=["forward", "backward"])
@pytest.mark.parametrize(
    ("span", "expected"),
    [((), [-1, 9, 30, 100]), (("<", 30), [-1, 9]), ((">=", 30), [30, 100]), (("BETWEEN", 0, 50), [9, 30])],
    ids=["all", "less", "greater or equal", "between"],
)
def test_ranges_of_an_index(
    make_table: MakeTable,
    span: tuple[Any, ...],
    expected: list[int],
    forward: bool,  # noqa: FBT001
) -> None:
    table = make_table(indexes=(ALL,))
    table.put(*({**PERSON, "sk": f"{age}", "age": age} for age in (100, 9, -1, 30)))
    found = [item["age"] for item in table.query("C", *span, index="all", forward=forward).items]
    assert found == (expected if forward else expected[::-1])


def test_several_items_may_share_an_index_key(make_table: MakeTable) -> None:
    table = make_table(indexes=(ALL,))
    table.put(PERSON, {**PERSON, "sk": "2"}, {**PERSON, "pk": "b"})
    assert table.query("C", "BETWEEN", 30, 30, index="all").count == 3


def test_a_table_may_have_several_indexes(make_table: MakeTable) -> None:
    by_name = IndexSchema("by-name", (KeyAttribute("name"),))
    table = make_table(indexes=(ALL, by_name, HASH_ONLY))
    table.put(PERSON, {"pk": "b", "sk": "1", "name": "Ada"})
    assert [
        table.query(key, index=name).count for key, name in (("C", "all"), ("Ada", "by-name"), ("C", "hash-only"))
    ] == [1, 2, 1]


def test_an_index_may_use_the_tables_keys(make_table: MakeTable) -> None:
    table = make_table(indexes=(IndexSchema("turned", (KeyAttribute("sk"),), (KeyAttribute("pk"),)),))
    table.put(*({"pk": pk, "sk": "x"} for pk in "cab"))
    assert [item["pk"] for item in table.query("x", index="turned").items] == ["a", "b", "c"]


def test_a_filter_on_an_index_may_use_the_tables_keys(make_table: MakeTable) -> None:
    table = make_table(indexes=(ALL,))
    table.put(PERSON, {**PERSON, "pk": "b"})
    assert [item["pk"] for item in table.query("C", index="all", filter=eq("pk", "b")).items] == ["b"]


def test_a_filter_on_the_indexs_own_keys_is_refused(make_table: MakeTable) -> None:
    table = make_table(indexes=(ALL,))
    with pytest.raises(ValidationFailed, match="Filter Expression can only contain non-primary key attributes"):
        table.query("C", index="all", filter=compare("age", ">", 1))


@pytest.mark.rule(27)
def test_a_consistent_query_of_a_global_index_is_refused(make_table: MakeTable) -> None:
    table = make_table(indexes=(ALL,))
    with pytest.raises(ValidationFailed, match="Consistent reads are not supported on global secondary indexes"):
        table.query("C", index="all", consistent=True)


@pytest.mark.rule(27)
def test_a_global_index_never_fetches_what_it_does_not_project(make_table: MakeTable) -> None:
    table = make_table(indexes=(SOME,))
    table.put(PERSON)
    with pytest.raises(ValidationFailed, match="does not project"):
        table.query("C", index="some", projection=projection("name", "notes"))


BAD_KEYS: dict[str, dict[str, Any]] = {
    "number for a text": {"city": 1},
    "text for a number": {"age": "30"},
    "null": {"city": None},
    "list": {"city": ["C"]},
    "empty text": {"city": ""},
    "empty binary": {"photo": b""},
    "too long for a partition": {"city": "x" * 2049},
    "too long for a range": {"photo": b"x" * 1025},
}


@pytest.mark.rule(6, 9, 10)
@pytest.mark.parametrize("bad", BAD_KEYS.values(), ids=BAD_KEYS.keys())
def test_a_bad_index_key_refuses_the_write(make_table: MakeTable, bad: dict[str, Any]) -> None:
    table = make_table(indexes=(ALL, IndexSchema("by-photo", (CITY,), (PHOTO,))))
    table.put(PERSON)
    with pytest.raises(ValidationFailed):
        table.put({**PERSON, **bad})
    with pytest.raises(ValidationFailed):
        table.update(("a", "1"), setting(bad))
    assert table.get("a", "1") == PERSON


@pytest.mark.rule(10)
def test_the_message_names_the_index_and_the_types(make_table: MakeTable) -> None:
    table = make_table(indexes=(ALL,))
    with pytest.raises(ValidationFailed, match="Type mismatch for Index Key city Expected: S Actual: N IndexName: all"):
        table.put({**PERSON, "city": 1})


@pytest.mark.rule(10)
def test_of_several_wrong_index_keys_that_of_the_first_name_is_reported(make_table: MakeTable) -> None:
    """The order of the definition and the kind of the index do not matter."""
    local = IndexSchema("local", (KeyAttribute("pk"),), (CITY,), local=True)
    table = make_table(indexes=(IndexSchema("other", (CITY,)), local, IndexSchema("first", (CITY,))))
    with pytest.raises(ValidationFailed, match=r"IndexName: first$"):
        table.put({**PERSON, "city": 1})


@pytest.mark.rule(10)
def test_an_update_to_an_empty_index_key_has_its_own_message(make_table: MakeTable) -> None:
    table = make_table(indexes=(ALL,))
    table.put(PERSON)
    put = "A value specified for a secondary index key is not supported. .* IndexName: all, IndexKey: city$"
    with pytest.raises(ValidationFailed, match=put):
        table.put({**PERSON, "city": ""})
    update = "attempted to update a secondary index key to a value that is not supported. .* empty string value.$"
    for value in ("", IfNotExists(path("nothing"), val(""))):
        with pytest.raises(ValidationFailed, match=update):
            table.update(("a", "1"), setting({"city": value}))


@pytest.mark.rule(10)
def test_the_message_for_an_index_key_of_another_type_depends_on_what_is_known(make_table: MakeTable) -> None:
    """AWS knows the type of a literal and of a sum before it reads the item, but not that of another attribute."""
    table = make_table(indexes=(ALL,))
    table.put(PERSON)
    for value in (1, plus(path("age"), 1)):
        with pytest.raises(ValidationFailed, match="Type mismatch for Index Key city Expected: S Actual: N"):
            table.update(("a", "1"), setting({"city": value}))
    copied = "^The update expression attempted to update the secondary index key to unsupported type$"
    for operand in (path("age"), IfNotExists(path("nothing"), val(1))):
        with pytest.raises(ValidationFailed, match=copied):
            table.update(("a", "1"), setting({"city": operand}))
    assert table.get("a", "1") == PERSON


@pytest.mark.rule(10)
@pytest.mark.parametrize(
    "update",
    [setting({"city.a": 1}), setting({"notes": path("city[1]")}), removing("city.a")],
    ids=["set", "read", "remove"],
)
def test_an_update_may_not_name_a_part_of_an_index_key(make_table: MakeTable, update: Update) -> None:
    table = make_table(indexes=(ALL,))
    table.put(PERSON)
    with pytest.raises(ValidationFailed, match=r"Key attributes must be scalars; .* are not allowed: IndexKey: city$"):
        table.update(("a", "1"), update)


@pytest.mark.rule(4)
def test_equal_numbers_are_one_index_key(make_table: MakeTable) -> None:
    table = make_table(indexes=(IndexSchema("by-age", (AGE,)),))
    table.put({**PERSON, "age": Decimal("30.00")})
    assert table.query(30, index="by-age").count == 1


ORDER = IndexSchema(
    "order",
    (KeyAttribute("tenant"), KeyAttribute("region")),
    (KeyAttribute("year", "N"), KeyAttribute("month", "N"), KeyAttribute("day", "N")),
)


@pytest.fixture
def orders(make_table: MakeTable) -> Table:
    table = make_table(indexes=(ORDER,))
    dates = [(2024, 1, 2), (2024, 1, 10), (2024, 2, 1), (2025, 1, 1)]
    table.put(
        *(
            {"pk": f"{n}", "sk": "o", "tenant": "t", "region": "r", "year": year, "month": month, "day": day}
            for n, (year, month, day) in enumerate(dates)
        ),
        {"pk": "other", "sk": "o", "tenant": "t", "region": "x", "year": 2024, "month": 1, "day": 2},
        {"pk": "partial", "sk": "o", "tenant": "t", "region": "r", "year": 2024, "month": 1},
    )
    return table


def order_keys(table: Table, *equal: tuple[str, Any], within: KeyRange | None = None) -> list[str]:
    """Return the orders that a key condition finds."""
    condition = KeyCondition((("tenant", "t"), ("region", "r"), *equal), within)
    return [item["pk"] for item in table.store.execute(QueryTable(table.name, condition, index="order")).items]


@pytest.mark.rule(30)
def test_a_key_of_several_attributes_is_ordered_from_left_to_right(orders: Table) -> None:
    assert order_keys(orders) == ["0", "1", "2", "3"]


@pytest.mark.rule(30)
def test_range_attributes_are_given_from_left_to_right(orders: Table) -> None:
    assert order_keys(orders, ("year", 2024)) == ["0", "1", "2"]
    assert order_keys(orders, ("year", 2024), ("month", 1)) == ["0", "1"]
    assert order_keys(orders, ("year", 2024), ("month", 1), ("day", 10)) == ["1"]


@pytest.mark.rule(30)
def test_the_last_attribute_given_may_be_a_range(orders: Table) -> None:
    assert order_keys(orders, within=KeyRange("year", ">", (2024,))) == ["3"]
    assert order_keys(orders, ("year", 2024), within=KeyRange("month", ">=", (2,))) == ["2"]
    assert order_keys(orders, ("year", 2024), ("month", 1), within=KeyRange("day", "<", (10,))) == ["0"]


@pytest.mark.rule(30)
@pytest.mark.parametrize(
    "condition",
    [
        KeyCondition((("tenant", "t"),)),
        KeyCondition((("tenant", "t"), ("region", "r"), ("month", 1))),
        KeyCondition((("tenant", "t"), ("region", "r")), KeyRange("month", ">", (1,))),
        KeyCondition((("tenant", "t"),), KeyRange("region", ">", ("a",))),
    ],
    ids=["one partition attribute", "a gap", "a range after a gap", "a range in the partition"],
)
def test_a_key_of_several_attributes_must_be_given_in_order(orders: Table, condition: KeyCondition) -> None:
    with pytest.raises(ValidationFailed):
        orders.store.execute(QueryTable(orders.name, condition, index="order"))


def test_a_key_of_several_attributes_pages(orders: Table) -> None:
    condition = KeyCondition((("tenant", "t"), ("region", "r")))
    found, start = [], None
    while True:
        page = orders.store.execute(QueryTable(orders.name, condition, index="order", limit=1, start=start))
        found += [item["pk"] for item in page.items]
        start = page.last_key
        if start is None:
            break
    assert found == ["0", "1", "2", "3"]


@pytest.mark.rule(30)
def test_a_key_may_have_four_attributes_and_four(make_table: MakeTable) -> None:
    hashes, ranges = ([KeyAttribute(f"{role}{n}") for n in range(4)] for role in "hr")
    table = make_table(indexes=(IndexSchema("wide", tuple(hashes), tuple(ranges)),))
    item = {"pk": "a", "sk": "1", **{part.name: "x" for part in (*hashes, *ranges)}}
    table.put(item)
    condition = KeyCondition(tuple((part.name, "x") for part in (*hashes, *ranges)))
    assert table.store.execute(QueryTable(table.name, condition, index="wide")).items == [item]


@pytest.mark.rule(28)
def test_an_index_made_later_is_filled_from_the_items(table: Table) -> None:
    table.put(PERSON, {"pk": "b", "sk": "1"})
    description = table.store.execute(CreateIndex(table.name, ALL))
    table.schema = description.schema
    assert description.schema.index("all") == ALL
    assert table.query("C", index="all").items == [PERSON]


@pytest.mark.rule(28)
@pytest.mark.parametrize(
    "bad",
    [{"city": 1}, {"age": "30"}, {"city": ""}, {"city": "x" * 2049}, {"age": None}],
    ids=["wrong type", "wrong type of range", "empty", "too long", "null"],
)
def test_filling_an_index_skips_items_that_do_not_fit(table: Table, bad: dict[str, Any]) -> None:
    table.put(PERSON, {**PERSON, "sk": "2", **bad})
    table.schema = table.store.execute(CreateIndex(table.name, ALL)).schema
    assert table.scan(index="all").items == [PERSON]


def test_an_index_made_later_follows_later_writes(table: Table) -> None:
    table.schema = table.store.execute(CreateIndex(table.name, ALL)).schema
    table.put(PERSON)
    assert table.query("C", index="all").items == [PERSON]


def test_an_index_is_made_once(make_table: MakeTable) -> None:
    table = make_table(indexes=(ALL,))
    with pytest.raises((ValidationFailed, TableInUse)):
        table.store.execute(CreateIndex(table.name, ALL))


def test_a_deleted_index_is_gone_and_its_keys_are_free(make_table: MakeTable) -> None:
    table = make_table(indexes=(ALL,))
    table.put(PERSON)
    description = table.store.execute(DeleteIndex(table.name, "all"))
    assert description.schema.indexes == ()
    table.put({**PERSON, "city": 1})
    assert table.get("a", "1") == {**PERSON, "city": 1}


def test_deleting_an_unknown_index_is_refused(table: Table) -> None:
    with pytest.raises((TableNotFound, ValidationFailed)):
        table.store.execute(DeleteIndex(table.name, "nowhere"))


@pytest.mark.rule(27)
def test_a_query_may_not_filter_by_what_the_index_does_not_project(make_table: MakeTable) -> None:
    table = make_table(indexes=(SOME,))
    table.put(PERSON)
    with pytest.raises(ValidationFailed, match=r"Secondary index some does not project one or more filter attributes"):
        table.query("C", index="some", filter=eq("notes", "long"))
    assert table.query("C", index="some", filter=eq("name", "Ada")).count == 1


@pytest.mark.rule(27)
def test_a_scan_of_an_index_sees_only_what_it_projects(make_table: MakeTable) -> None:
    table = make_table(indexes=(SOME,))
    table.put(PERSON)
    assert table.scan(index="some", filter=eq("notes", "long")).items == []
