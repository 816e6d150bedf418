"""Query on a table: ranges, order, filters and projections."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from tests.contract.table import MakeTable, Table
from tests.contract.trees import between, compare, contains, eq, exists, path, projection

from partita.errors import TableNotFound, ValidationFailed
from partita.expressions._ast import KeyCondition, KeyRange
from partita.store._interface import Store
from partita.store._requests import QueryTable

WORDS = ["a", "ab", "abc", "b", "ba", "c"]


@pytest.fixture
def words(table: Table) -> Table:
    table.put(*({"pk": "p", "sk": word, "n": n} for n, word in enumerate(WORDS)))
    table.put({"pk": "other", "sk": "ab"})
    return table


RANGES: dict[str, tuple[tuple[str, ...], list[str]]] = {
    "all of a partition": ((), WORDS),
    "less": (("<", "b"), ["a", "ab", "abc"]),
    "less or equal": (("<=", "b"), ["a", "ab", "abc", "b"]),
    "greater": ((">", "b"), ["ba", "c"]),
    "greater or equal": ((">=", "b"), ["b", "ba", "c"]),
    "between includes both ends": (("BETWEEN", "ab", "b"), ["ab", "abc", "b"]),
    "between equal ends": (("BETWEEN", "ab", "ab"), ["ab"]),
    "prefix": (("BEGINS_WITH", "ab"), ["ab", "abc"]),
    "prefix that is the whole key": (("BEGINS_WITH", "c"), ["c"]),
    "no match": ((">", "zzz"), []),
}


@pytest.mark.parametrize("forward", [True, False], ids=["forward", "backward"])
@pytest.mark.parametrize(("span", "expected"), RANGES.values(), ids=RANGES.keys())
def test_a_range_of_a_partition_in_key_order(
    words: Table,
    span: tuple[str, ...],
    expected: list[str],
    forward: bool,  # noqa: FBT001
) -> None:
    page = words.query("p", *span, forward=forward)
    assert [item["sk"] for item in page.items] == (expected if forward else expected[::-1])
    assert (page.count, page.scanned, page.last_key) == (len(expected), len(expected), None)


def test_an_equality_on_both_keys_gives_one_item(words: Table) -> None:
    condition = KeyCondition((("pk", "p"), ("sk", "ab")))
    page = words.store.execute(QueryTable(words.name, condition))
    assert page.items == [{"pk": "p", "sk": "ab", "n": 1}]


def test_an_unknown_partition_is_empty(words: Table) -> None:
    page = words.query("nobody")
    assert (page.items, page.count, page.scanned, page.last_key) == ([], 0, 0, None)


def test_a_hash_only_table_gives_its_one_item(make_table: MakeTable) -> None:
    table = make_table(range_type=None)
    table.put({"pk": "a", "n": 1}, {"pk": "b"})
    assert table.query("a").items == [{"pk": "a", "n": 1}]


ORDERS: dict[str, tuple[Any, list[Any]]] = {
    "strings by UTF-8 bytes": ("S", ["A", "Z", "a", "z", "é", "ﬀ", "𝄞"]),
    "numbers numerically": (
        "N",
        [-(10**37), -10, -2, Decimal("-1.5"), 0, Decimal("1E-130"), Decimal("0.5"), 1, 2, 10, 100, 10**125],
    ),
    "binaries by unsigned bytes": ("B", [b"\x00", b"\x00\x00", b"\x01", b"\x7f", b"\x80", b"\xff", b"\xff\x00"]),
}


@pytest.mark.rule(31)
@pytest.mark.parametrize(("kind", "expected"), ORDERS.values(), ids=ORDERS.keys())
def test_order(make_table: MakeTable, kind: Any, expected: list[Any]) -> None:
    table = make_table(range_type=kind)
    table.put(*({"pk": "p", "sk": key} for key in expected[::2]))
    table.put(*({"pk": "p", "sk": key} for key in expected[1::2]))
    assert [item["sk"] for item in table.query("p").items] == expected
    assert [item["sk"] for item in table.query("p", forward=False).items] == expected[::-1]


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        (("<", 2), [-5, Decimal("1.5")]),
        ((">=", 2), [2, 10]),
        (("BETWEEN", Decimal("1.5"), 2), [Decimal("1.5"), 2]),
        (("BETWEEN", Decimal("2.00"), Decimal("2.000")), [2]),
    ],
    ids=["less", "greater or equal", "between", "equal numbers"],
)
def test_ranges_of_numbers(make_table: MakeTable, span: tuple[Any, ...], expected: list[Any]) -> None:
    table = make_table(range_type="N")
    table.put(*({"pk": "p", "sk": n} for n in (10, 2, Decimal("1.5"), -5)))
    assert [item["sk"] for item in table.query("p", *span).items] == expected


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        (("BEGINS_WITH", b"\xff"), [b"\xff", b"\xff\xff"]),
        (("BEGINS_WITH", b"\xff\xff"), [b"\xff\xff"]),
        (("BEGINS_WITH", b"a"), [b"a", b"a\x00"]),
        ((">", b"a"), [b"a\x00", b"\xff", b"\xff\xff"]),
    ],
    ids=["highest byte", "two highest bytes", "a letter", "greater"],
)
def test_ranges_of_binaries(make_table: MakeTable, span: tuple[Any, ...], expected: list[bytes]) -> None:
    table = make_table(range_type="B")
    table.put(*({"pk": "p", "sk": key} for key in (b"a", b"a\x00", b"\xff", b"\xff\xff")))
    assert [item["sk"] for item in table.query("p", *span).items] == expected


def test_a_prefix_ends_with_the_highest_code_point(table: Table) -> None:
    highest = "a\U0010ffff"
    table.put(*({"pk": "p", "sk": key} for key in ("a", highest, highest + "z", "b")))
    assert [item["sk"] for item in table.query("p", "BEGINS_WITH", highest).items] == [highest, highest + "z"]


@pytest.mark.parametrize("kind", ["S", "N", "B"])
def test_every_key_type_can_be_the_partition(make_table: MakeTable, kind: Any) -> None:
    keys: dict[str, tuple[Any, Any]] = {"S": ("a", "b"), "N": (1, 2), "B": (b"a", b"b")}
    table = make_table(hash_type=kind)
    one, two = keys[kind]
    table.put({"pk": one, "sk": "1"}, {"pk": two, "sk": "2"})
    assert table.query(one).items == [{"pk": one, "sk": "1"}]


def test_a_filter_is_counted_apart(words: Table) -> None:
    page = words.query("p", filter=compare("n", ">=", 4))
    assert [item["sk"] for item in page.items] == ["ba", "c"]
    assert (page.count, page.scanned) == (2, 6)


def test_a_filter_on_what_is_missing_gives_nothing(words: Table) -> None:
    page = words.query("p", filter=exists("nothing"))
    assert (page.items, page.count, page.scanned, page.last_key) == ([], 0, 6, None)


def test_count_only_gives_no_items(words: Table) -> None:
    page = words.query("p", count_only=True, filter=between("n", 1, 3))
    assert (page.items, page.count, page.scanned) == ([], 3, 6)


def test_a_projection_applies_to_each_item(words: Table) -> None:
    page = words.query("p", "BEGINS_WITH", "ab", projection=projection("n"))
    assert page.items == [{"n": 1}, {"n": 2}]


def test_a_filter_sees_what_the_projection_leaves_out(words: Table) -> None:
    page = words.query("p", filter=eq("n", 3), projection=projection("sk"))
    assert page.items == [{"sk": "b"}]


REFUSED_CONDITIONS: dict[str, KeyCondition] = {
    "no equality on the partition": KeyCondition((), KeyRange("sk", "<", ("a",))),
    "no condition at all": KeyCondition(()),
    "another attribute": KeyCondition((("n", 1),)),
    "an attribute too many": KeyCondition((("pk", "p"), ("sk", "a"), ("n", 1))),
    "range on another attribute": KeyCondition((("pk", "p"),), KeyRange("n", "<", (1,))),
    "range on the partition": KeyCondition((("sk", "a"),), KeyRange("pk", "<", ("p",))),
    "number for a text": KeyCondition((("pk", 1),)),
    "number for a text in the range": KeyCondition((("pk", "p"),), KeyRange("sk", "<", (1,))),
    "list in the range": KeyCondition((("pk", "p"),), KeyRange("sk", "<", (["a"],))),
    "empty partition": KeyCondition((("pk", ""),)),
    "empty range": KeyCondition((("pk", "p"),), KeyRange("sk", ">", ("",))),
    "ends the wrong way round": KeyCondition((("pk", "p"),), KeyRange("sk", "BETWEEN", ("b", "a"))),
    "ends of two types": KeyCondition((("pk", "p"),), KeyRange("sk", "BETWEEN", ("a", 1))),
}


@pytest.mark.rule(13)
@pytest.mark.parametrize("condition", REFUSED_CONDITIONS.values(), ids=REFUSED_CONDITIONS.keys())
def test_a_key_condition_that_is_refused(words: Table, condition: KeyCondition) -> None:
    with pytest.raises(ValidationFailed):
        words.store.execute(QueryTable(words.name, condition))


def test_a_prefix_of_a_number_is_refused(make_table: MakeTable) -> None:
    table = make_table(range_type="N")
    with pytest.raises(ValidationFailed):
        table.query("p", "BEGINS_WITH", 1)


@pytest.mark.parametrize("name", ["pk", "sk"])
def test_a_filter_on_the_primary_key_is_refused(words: Table, name: str) -> None:
    with pytest.raises(ValidationFailed, match="Filter Expression can only contain non-primary key attributes"):
        words.query("p", filter=eq(name, "a"))


@pytest.mark.rule(15)
@pytest.mark.parametrize(
    "options",
    [
        {"filter": compare("n", "<", [1])},
        {"filter": contains("n", path("n"))},
        {"projection": projection("n", "n")},
        {"limit": 0},
        {"limit": -1},
    ],
    ids=["operand type", "same operand", "overlapping projection", "limit zero", "negative limit"],
)
def test_options_are_validated_though_nothing_matches(table: Table, options: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailed):
        table.query("nobody", **options)


def test_a_missing_table_is_reported(store: Store) -> None:
    with pytest.raises(TableNotFound):
        store.execute(QueryTable("no-such-table", KeyCondition((("pk", "p"),))))


def test_a_missing_index_is_refused(table: Table) -> None:
    condition = KeyCondition((("pk", "p"),))
    with pytest.raises(ValidationFailed, match="The table does not have the specified index"):
        table.store.execute(QueryTable(table.name, condition, index="nowhere"))


@pytest.mark.rule(45)
@pytest.mark.parametrize(
    ("attribute", "message"),
    [("sk", "Query condition missed key schema element: pk"), ("pk", "Query key condition not supported")],
)
def test_a_range_alone_is_refused_for_what_it_lacks(table: Table, attribute: str, message: str) -> None:
    condition = KeyCondition((), KeyRange(attribute, ">", ("a",)))
    with pytest.raises(ValidationFailed, match=f"^{message}$"):
        table.store.execute(QueryTable(table.name, condition))


@pytest.mark.rule(24)
def test_a_filter_by_a_part_of_a_key_is_a_filter_by_a_key(table: Table) -> None:
    with pytest.raises(ValidationFailed, match="Filter Expression can only contain non-primary key attributes"):
        table.query("p", filter=exists("sk.a"))
