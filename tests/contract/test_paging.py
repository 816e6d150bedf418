"""Pages of queries and scans: limits, 1 MB, start keys and ties."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.contract.table import MakeTable, Table
from tests.contract.trees import compare, eq, missing, projection

from partita.errors import ValidationFailed
from partita.store._schema import IndexSchema, KeyAttribute

BY_CITY = IndexSchema("by-city", (KeyAttribute("city"),), (KeyAttribute("age", "N"),))
BY_HASH = IndexSchema("by-hash", (KeyAttribute("city"),))
BY_AGE = IndexSchema("by-age", (KeyAttribute("pk"),), (KeyAttribute("age", "N"),), local=True)


@pytest.fixture
def ten(table: Table) -> Table:
    table.put(*({"pk": "p", "sk": f"{n}", "n": n} for n in range(10)))
    return table


def test_a_limit_ends_the_page_with_the_key_of_its_last_item(ten: Table) -> None:
    page = ten.query("p", limit=3)
    assert [item["n"] for item in page.items] == [0, 1, 2]
    assert page.last_key == {"pk": "p", "sk": "2"}


@pytest.mark.parametrize("forward", [True, False], ids=["forward", "backward"])
@pytest.mark.parametrize("limit", [1, 2, 3, 5, 7])
def test_pages_together_are_the_whole(ten: Table, limit: int, forward: bool) -> None:  # noqa: FBT001
    found = [item["n"] for page in ten.pages("p", limit=limit, forward=forward) for item in page.items]
    assert found == (list(range(10)) if forward else list(range(9, -1, -1)))


def test_a_page_that_ends_with_the_last_item_still_has_a_last_key(ten: Table) -> None:
    page = ten.query("p", limit=10)
    assert (page.count, page.last_key) == (10, {"pk": "p", "sk": "9"})
    after = ten.query("p", limit=10, start=page.last_key)
    assert (after.items, after.count, after.last_key) == ([], 0, None)


def test_a_limit_beyond_the_end_has_no_last_key(ten: Table) -> None:
    assert ten.query("p", limit=11).last_key is None


@pytest.mark.rule(24)
def test_a_limit_counts_items_before_the_filter(ten: Table) -> None:
    page = ten.query("p", limit=4, filter=compare("n", ">=", 3))
    assert [item["n"] for item in page.items] == [3]
    assert (page.count, page.scanned, page.last_key) == (1, 4, {"pk": "p", "sk": "3"})


@pytest.mark.rule(24)
def test_a_page_may_be_empty_and_go_on(ten: Table) -> None:
    page = ten.query("p", limit=4, filter=eq("n", 9))
    assert (page.items, page.count, page.scanned, page.last_key) == ([], 0, 4, {"pk": "p", "sk": "3"})


def test_a_start_key_need_not_exist(ten: Table) -> None:
    page = ten.query("p", start={"pk": "p", "sk": "5x"})
    assert [item["n"] for item in page.items] == [6, 7, 8, 9]


def test_the_last_key_holds_the_keys_though_the_projection_does_not(ten: Table) -> None:
    page = ten.query("p", limit=2, projection=projection("n"))
    assert (page.items, page.last_key) == ([{"n": 0}, {"n": 1}], {"pk": "p", "sk": "1"})


def test_a_count_is_paged_too(ten: Table) -> None:
    pages = list(ten.pages("p", limit=4, count_only=True))
    assert [(page.count, page.scanned) for page in pages] == [(4, 4), (4, 4), (2, 2)]


def test_what_was_deleted_between_pages_does_not_break_the_walk(ten: Table) -> None:
    first = ten.query("p", limit=3)
    ten.delete("p", "2")
    ten.delete("p", "3")
    assert [item["n"] for item in ten.query("p", start=first.last_key).items] == [4, 5, 6, 7, 8, 9]


BAD_STARTS: dict[str, Any] = {
    "another partition": {"pk": "other", "sk": "1"},
    "range left out": {"pk": "p"},
    "one attribute too many": {"pk": "p", "sk": "1", "n": 1},
    "wrong type": {"pk": "p", "sk": 1},
    "empty": {"pk": "p", "sk": ""},
}


@pytest.mark.rule(26)
@pytest.mark.parametrize("start", BAD_STARTS.values(), ids=BAD_STARTS.keys())
def test_a_start_key_that_is_not_of_the_query_is_refused(ten: Table, start: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailed):
        ten.query("p", start=start)


@pytest.mark.rule(26)
@pytest.mark.parametrize(
    ("span", "start"),
    [((">", "3"), "2"), (("<", "3"), "4"), (("BETWEEN", "2", "4"), "1"), (("BEGINS_WITH", "3"), "4")],
    ids=["greater", "less", "between", "prefix"],
)
def test_a_start_key_outside_the_range_is_refused(ten: Table, span: tuple[Any, ...], start: str) -> None:
    with pytest.raises(ValidationFailed, match="The provided starting key does not match the range key predicate"):
        ten.query("p", *span, start={"pk": "p", "sk": start})


@pytest.mark.rule(25)
@pytest.mark.parametrize("forward", [True, False], ids=["forward", "backward"])
@pytest.mark.parametrize("limit", [1, 2, 3, 4])
@pytest.mark.parametrize("index", [BY_CITY, BY_HASH, BY_AGE], ids=["range key", "hash only", "local"])
def test_ties_in_an_index_page_completely(
    make_table: MakeTable,
    index: IndexSchema,
    limit: int,
    forward: bool,  # noqa: FBT001
) -> None:
    table = make_table(indexes=(index,))
    keys = [("p", f"{n}") for n in range(7)] + ([] if index.local else [("q", "1"), ("a", "9")])
    table.put(*({"pk": pk, "sk": sk, "city": "C", "age": 30} for pk, sk in keys))
    pages = table.pages("p" if index.local else "C", index=index.name, limit=limit, forward=forward)
    found = [(item["pk"], item["sk"]) for page in pages for item in page.items]
    assert sorted(found) == sorted(keys)
    assert len(set(found)) == len(found)


@pytest.mark.rule(25)
def test_the_last_key_of_an_index_holds_index_and_table_keys(make_table: MakeTable) -> None:
    table = make_table(indexes=(BY_CITY,))
    table.put(*({"pk": "p", "sk": f"{n}", "city": "C", "age": n} for n in range(3)))
    page = table.query("C", index="by-city", limit=2)
    assert page.last_key == {"pk": "p", "sk": "1", "city": "C", "age": 1}


@pytest.mark.rule(26)
@pytest.mark.parametrize(
    "start",
    [{"pk": "p", "sk": "1"}, {"city": "C", "age": 1}, {"pk": "p", "sk": "1", "city": "C", "age": 1, "x": 1}],
    ids=["table key alone", "index key alone", "one attribute too many"],
)
def test_a_start_key_of_an_index_must_be_complete(make_table: MakeTable, start: dict[str, Any]) -> None:
    table = make_table(indexes=(BY_CITY,))
    table.put({"pk": "p", "sk": "1", "city": "C", "age": 1})
    with pytest.raises(ValidationFailed):
        table.query("C", index="by-city", start=start)


@pytest.mark.rule(26)
@pytest.mark.parametrize("start", [{}, {"pk": "p"}, {"pk": "p", "sk": "1", "n": 1}], ids=["empty", "part", "more"])
def test_the_message_for_a_start_key_names_the_schema_only_in_scans_of_tables(
    make_table: MakeTable, start: dict[str, Any]
) -> None:
    table = make_table(indexes=(IndexSchema("by-city", (KeyAttribute("city"),)),))
    invalid = "The provided starting key is invalid"
    with pytest.raises(ValidationFailed, match=f"^{invalid}: The provided key element does not match the schema$"):
        table.scan(start=start)
    with pytest.raises(ValidationFailed, match=f"^{invalid}$"):
        table.scan(index="by-city", start=start)
    with pytest.raises(ValidationFailed, match=f"^{invalid}$"):
        table.query("p", start=start)


SCHEMA = "The provided key element does not match the schema"
TYPES: dict[str, tuple[dict[str, Any], str | None, str, str]] = {
    "key of the table": ({"pk": "p", "sk": 1}, None, SCHEMA, f"The provided starting key is invalid: {SCHEMA}"),
    "key of the index": ({"pk": "p", "sk": "1", "city": 1, "age": 1}, "by-city", SCHEMA, SCHEMA),
    "key of its table": (
        {"pk": "p", "sk": 1, "city": "C", "age": 1},
        "by-city",
        f"The provided starting key is invalid: {SCHEMA}",
        f"The provided starting key is invalid: {SCHEMA}",
    ),
}


@pytest.mark.rule(26)
@pytest.mark.parametrize(("start", "index", "of_query", "of_scan"), TYPES.values(), ids=TYPES.keys())
def test_the_message_for_a_wrong_type_depends_on_what_is_read(
    make_table: MakeTable, start: dict[str, Any], index: str | None, of_query: str, of_scan: str
) -> None:
    table = make_table(indexes=(BY_CITY,))
    with pytest.raises(ValidationFailed, match=f"^{of_query}$"):
        table.query("p" if index is None else "C", index=index, start=start)
    with pytest.raises(ValidationFailed, match=f"^{of_scan}$"):
        table.scan(index=index, start=start)


@pytest.mark.rule(26)
@pytest.mark.parametrize(
    ("span", "sort", "message"),
    [
        ((), "1", "The provided starting key is outside query boundaries based on provided conditions"),
        (("<", "3"), "4", "The provided starting key does not match the range key predicate"),
        (("<", "3"), "1", "The query can return at most one row and cannot be restarted"),
    ],
)
def test_the_message_for_another_partition_depends_on_the_range(
    ten: Table, span: tuple[Any, ...], sort: str, message: str
) -> None:
    with pytest.raises(ValidationFailed, match=f"^{message}$"):
        ten.query("p", *span, start={"pk": "other", "sk": sort})


@pytest.mark.rule(26)
def test_the_message_for_a_start_key_on_a_hash_only_table_shows_the_key(make_table: MakeTable) -> None:
    table = make_table(range_type=None)
    message = "The provided exclusive start key is invalid: ExclusiveStartKey: {pk=AttributeValue: {S:a}}"
    with pytest.raises(ValidationFailed, match=re.escape(message)):
        table.query("a", start={"pk": "a"})


@pytest.mark.rule(26)
def test_a_start_key_on_a_hash_only_table_is_refused(make_table: MakeTable) -> None:
    table = make_table(range_type=None)
    table.put({"pk": "a"})
    with pytest.raises(ValidationFailed):
        table.query("a", start={"pk": "a"})


LARGE = "x" * 300_000


@pytest.fixture
def large(table: Table) -> Table:
    table.put(*({"pk": "p", "sk": f"{n}", "body": LARGE} for n in range(5)))
    return table


@pytest.mark.rule(8)
def test_a_page_ends_at_one_megabyte(large: Table) -> None:
    pages = list(large.pages("p"))
    assert [[item["sk"] for item in page.items] for page in pages] == [["0", "1", "2", "3"], ["4"]]
    assert pages[0].last_key == {"pk": "p", "sk": "3"}
    assert pages[0].capacity.read == 146.5  # the item that goes over the megabyte is returned and charged


@pytest.mark.rule(8)
def test_a_page_that_its_last_item_fills_has_a_last_key(large: Table) -> None:
    large.delete("p", "4")
    full = large.query("p")
    assert (full.count, full.last_key) == (4, {"pk": "p", "sk": "3"})
    assert large.query("p", start=full.last_key).items == []
    assert large.query("p", limit=3).count == 3


@pytest.mark.rule(24)
def test_a_page_is_measured_before_filter_and_projection(large: Table) -> None:
    filtered = large.query("p", filter=missing("body"))
    assert (filtered.items, filtered.scanned, filtered.last_key) == ([], 4, {"pk": "p", "sk": "3"})
    projected = large.query("p", projection=projection("sk"))
    assert (projected.scanned, projected.last_key) == (4, {"pk": "p", "sk": "3"})


@pytest.mark.rule(8)
def test_a_count_ends_at_one_megabyte_too(large: Table) -> None:
    assert [page.count for page in large.pages("p", count_only=True)] == [4, 1]


def test_a_page_of_exactly_the_limit_does_not_wait_for_a_megabyte(large: Table) -> None:
    assert large.query("p", limit=2).last_key == {"pk": "p", "sk": "1"}
