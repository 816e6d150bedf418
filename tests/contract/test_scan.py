"""Scan."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contract.table import MakeTable, Table
from tests.contract.trees import compare, eq, projection

from partita.errors import TableNotFound, ValidationFailed
from partita.store._interface import Store
from partita.store._requests import PageResponse, ScanTable
from partita.store._schema import IndexSchema, KeyAttribute

BY_CITY = IndexSchema("by-city", (KeyAttribute("city"),), projection="KEYS_ONLY")


@pytest.fixture
def twelve(table: Table) -> Table:
    table.put(*({"pk": f"p{n % 4}", "sk": f"{n:02}", "n": n} for n in range(12)))
    return table


def walk(table: Table, **options: Any) -> list[PageResponse]:
    """Return all pages of a scan."""
    pages = [table.scan(**options)]
    while pages[-1].last_key is not None:
        pages.append(table.scan(start=pages[-1].last_key, **options))
    return pages


def numbers(pages: list[PageResponse]) -> list[int]:
    """Return the numbers of the items found, sorted."""
    return sorted(item["n"] for page in pages for item in page.items)


def test_a_scan_gives_every_item_once(twelve: Table) -> None:
    page = twelve.scan()
    assert numbers([page]) == list(range(12))
    assert (page.count, page.scanned, page.last_key) == (12, 12, None)


def test_a_scan_of_an_empty_table_is_empty(table: Table) -> None:
    page = table.scan()
    assert (page.items, page.count, page.scanned, page.last_key) == ([], 0, 0, None)


@pytest.mark.rule(46)
@pytest.mark.parametrize("limit", [1, 5, 12])
def test_pages_together_are_the_whole(twelve: Table, limit: int) -> None:
    assert numbers(walk(twelve, limit=limit)) == list(range(12))


@pytest.mark.rule(46)
def test_partitions_are_in_the_order_of_their_hashes(make_table: MakeTable) -> None:
    table = make_table(range_type=None)
    names = [f"p{number:02}" for number in range(20)]
    for name in names:
        table.put({"pk": name})
    found = [item["pk"] for item in table.scan().items]
    assert sorted(found) == names
    assert found not in (names, names[::-1])
    assert [item["pk"] for page in walk(table, limit=3) for item in page.items] == found
    parts = [page.items for segment in range(4) for page in walk(table, segment=segment, segments=4)]
    assert sorted(item["pk"] for items in parts for item in items) == names


@pytest.mark.rule(46)
def test_a_scan_goes_on_after_an_item_that_is_gone(make_table: MakeTable) -> None:
    table = make_table(range_type=None)
    for number in range(10):
        table.put({"pk": f"p{number}"})
    whole = [item["pk"] for item in table.scan().items]
    first = table.scan(limit=4)
    table.delete(whole[3])
    assert [item["pk"] for item in table.scan(start=first.last_key).items] == whole[4:]


@pytest.mark.rule(46)
def test_a_scan_of_an_index_is_in_the_order_of_its_own_hashes(make_table: MakeTable) -> None:
    table = make_table(range_type=None, indexes=(IndexSchema("by_g", (KeyAttribute("g"),)),))
    names = [f"g{number:02}" for number in range(20)]
    for number, name in enumerate(names):
        table.put({"pk": str(number), "g": name})
    found = [item["g"] for item in table.scan(index="by_g").items]
    assert (sorted(found), found == names) == (names, False)
    assert [item["g"] for page in walk(table, index="by_g", limit=3) for item in page.items] == found
    options = {"index": "by_g", "segments": 3}
    parts = [page.items for segment in range(3) for page in walk(table, segment=segment, **options)]
    assert [item["g"] for items in parts for item in items] == found


@pytest.mark.rule(46)
def test_the_items_of_a_partition_stay_together_in_key_order(twelve: Table) -> None:
    keys = [(item["pk"], item["sk"]) for item in twelve.scan().items]
    partitions = list(dict.fromkeys(pk for pk, _ in keys))
    assert keys == [(pk, sk) for pk in partitions for sk in sorted(key[1] for key in keys if key[0] == pk)]


def test_a_filter_may_be_on_the_keys(twelve: Table) -> None:
    page = twelve.scan(filter=eq("pk", "p1"))
    assert numbers([page]) == [1, 5, 9]
    assert (page.count, page.scanned) == (3, 12)


@pytest.mark.rule(24)
def test_a_limit_counts_before_the_filter(twelve: Table) -> None:
    page = twelve.scan(limit=5, filter=compare("n", "<", 0))
    assert (page.items, page.count, page.scanned) == ([], 0, 5)
    assert page.last_key is not None


def test_a_projection_applies_to_each_item(twelve: Table) -> None:
    page = twelve.scan(projection=projection("n"), filter=compare("n", "<", 2))
    assert sorted(page.items, key=lambda item: item["n"]) == [{"n": 0}, {"n": 1}]


def test_count_only_gives_no_items(twelve: Table) -> None:
    page = twelve.scan(count_only=True)
    assert (page.items, page.count, page.scanned) == ([], 12, 12)


@pytest.mark.parametrize("segments", [2, 3, 7])
def test_segments_together_are_the_whole_without_overlap(twelve: Table, segments: int) -> None:
    pages = [page for segment in range(segments) for page in walk(twelve, segment=segment, segments=segments, limit=2)]
    assert numbers(pages) == list(range(12))


def test_a_start_key_of_another_segment_is_refused(twelve: Table) -> None:
    first = next(page for segment in range(3) if (page := twelve.scan(segment=segment, segments=3, limit=1)).last_key)
    refusals = 0
    for segment in range(3):
        try:
            twelve.scan(segment=segment, segments=3, start=first.last_key)
        except ValidationFailed as error:
            assert "ExclusiveStartKey with correct Segment" in error.message  # noqa: PT017 - two of three refuse
            refusals += 1
    assert refusals == 2


@pytest.mark.parametrize(
    "options",
    [{"segment": 2, "segments": 2}, {"segment": -1, "segments": 2}, {"segments": 0}, {"limit": 0}],
    ids=["segment beyond", "negative segment", "no segments", "limit zero"],
)
def test_options_that_are_refused(twelve: Table, options: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailed):
        twelve.scan(**options)


def test_an_index_scan_gives_only_what_is_in_the_index(make_table: MakeTable) -> None:
    table = make_table(indexes=(BY_CITY,))
    table.put(
        {"pk": "a", "sk": "1", "city": "C", "n": 1},
        {"pk": "b", "sk": "1", "n": 2},
        {"pk": "c", "sk": "1", "city": "D", "n": 3},
    )
    items = sorted(table.scan(index="by-city").items, key=lambda item: item["pk"])
    assert items == [{"pk": "a", "sk": "1", "city": "C"}, {"pk": "c", "sk": "1", "city": "D"}]


@pytest.mark.rule(25)
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_an_index_scan_pages_over_ties(make_table: MakeTable, limit: int) -> None:
    table = make_table(indexes=(BY_CITY,))
    table.put(*({"pk": f"p{n}", "sk": "1", "city": "C"} for n in range(5)))
    pages = walk(table, index="by-city", limit=limit)
    assert sorted(item["pk"] for page in pages for item in page.items) == ["p0", "p1", "p2", "p3", "p4"]


@pytest.mark.rule(27)
def test_a_consistent_scan_of_a_global_index_is_refused(make_table: MakeTable) -> None:
    table = make_table(indexes=(BY_CITY,))
    with pytest.raises(ValidationFailed, match="Consistent reads are not supported on global secondary indexes"):
        table.scan(index="by-city", consistent=True)


@pytest.mark.rule(8)
def test_a_scan_page_ends_at_one_megabyte(table: Table) -> None:
    table.put(*({"pk": f"p{n}", "sk": "1", "n": n, "body": "x" * 300_000} for n in range(5)))
    pages = walk(table)
    assert [page.count for page in pages] == [4, 1]
    assert numbers(pages) == [0, 1, 2, 3, 4]


def test_a_missing_table_is_reported(store: Store) -> None:
    with pytest.raises(TableNotFound):
        store.execute(ScanTable("no-such-table"))


def test_a_missing_index_is_refused(table: Table) -> None:
    with pytest.raises(ValidationFailed, match="The table does not have the specified index"):
        table.scan(index="nowhere")
