"""GetItem and projections."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contract.table import MakeTable, Table
from tests.contract.trees import projection

from partita.errors import ValidationFailed
from partita.store._requests import GetItem

ITEM: dict[str, Any] = {
    "pk": "a",
    "sk": "1",
    "name": "Ada",
    "tags": ["x", "y", "z"],
    "address": {"city": "Paris", "lines": ["1 rue", "2 rue"], "geo": {"lat": 1, "lon": 2}},
    "rows": [{"n": 1, "m": 2}, {"n": 3, "m": 4}],
}


def test_a_missing_item_is_none(table: Table) -> None:
    assert table.get("a", "1") is None


@pytest.mark.parametrize("consistent", [False, True])
def test_a_read_after_a_write_sees_it(table: Table, consistent: bool) -> None:  # noqa: FBT001
    table.put(ITEM)
    assert table.read("a", "1", consistent=consistent).item == ITEM


PROJECTIONS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "top-level attributes, keys not added": (("name",), {"name": "Ada"}),
    "key attributes": (("pk", "sk"), {"pk": "a", "sk": "1"}),
    "nested attribute": (("address.city",), {"address": {"city": "Paris"}}),
    "two of one map": (("address.geo.lat", "address.city"), {"address": {"city": "Paris", "geo": {"lat": 1}}}),
    "list element": (("tags[1]",), {"tags": ["y"]}),
    "list elements in index order": (("tags[2]", "tags[0]"), {"tags": ["x", "z"]}),
    "list element in a map": (("address.lines[1]",), {"address": {"lines": ["2 rue"]}}),
    "members of list elements": (("rows[1].n", "rows[0].m"), {"rows": [{"m": 2}, {"n": 3}]}),
    "some that are missing": (("name", "nothing", "address.nothing", "tags[9]"), {"name": "Ada"}),
    "none that exists": (("nothing", "tags.a", "name.first"), {}),
}


@pytest.mark.rule(23)
@pytest.mark.parametrize(("paths", "expected"), PROJECTIONS.values(), ids=PROJECTIONS.keys())
def test_a_projection_gives_only_its_paths(table: Table, paths: tuple[str, ...], expected: dict[str, Any]) -> None:
    table.put(ITEM)
    assert table.read("a", "1", projection=projection(*paths)).item == expected


def test_a_projection_of_a_missing_item_is_none(table: Table) -> None:
    assert table.read("a", "1", projection=projection("name")).item is None


@pytest.mark.rule(23)
@pytest.mark.parametrize(
    "paths",
    [("name", "name"), ("address", "address.city"), ("tags[0]", "tags"), ("rows[0]", "rows[0].n")],
    ids=["twice the same", "map and its member", "element and its list", "element and its member"],
)
def test_overlapping_projections_are_refused(table: Table, paths: tuple[str, ...]) -> None:
    with pytest.raises(ValidationFailed, match="Two document paths overlap with each other"):
        table.read("a", "1", projection=projection(*paths))


@pytest.mark.rule(23)
def test_conflicting_projections_are_refused(table: Table) -> None:
    with pytest.raises(ValidationFailed, match="Two document paths conflict with each other"):
        table.read("a", "1", projection=projection("name[0]", "name.first"))


@pytest.mark.parametrize(
    "key",
    [
        {"pk": "a"},
        {"pk": "a", "sk": "1", "more": 1},
        {"pk": "a", "other": "1"},
        {"pk": "a", "sk": 1},
        {"pk": b"a", "sk": "1"},
        {"pk": "", "sk": "1"},
        {"pk": "a", "sk": ""},
        {"pk": None, "sk": "1"},
        {"pk": ["a"], "sk": "1"},
        {},
    ],
    ids=[
        "range left out",
        "one attribute too many",
        "another attribute",
        "number for a string",
        "binary for a string",
        "empty hash",
        "empty range",
        "null hash",
        "list hash",
        "no key",
    ],
)
def test_a_key_that_is_not_the_tables_is_refused(table: Table, key: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailed):
        table.store.execute(GetItem(table.name, key))


def test_the_message_says_that_the_key_does_not_match(table: Table) -> None:
    with pytest.raises(ValidationFailed, match="The provided key element does not match the schema"):
        table.store.execute(GetItem(table.name, {"pk": "a"}))


def test_a_hash_only_table_takes_no_range(make_table: MakeTable) -> None:
    table = make_table(range_type=None)
    with pytest.raises(ValidationFailed, match="The provided key element does not match the schema"):
        table.store.execute(GetItem(table.name, {"pk": "a", "sk": "1"}))


@pytest.mark.parametrize("inside", ["pk.a", "sk[0]"])
def test_a_key_has_no_inside(table: Table, inside: str) -> None:
    table.put(ITEM)
    with pytest.raises(ValidationFailed, match="Key attributes must be scalars"):
        table.read("a", "1", projection=projection(inside))
    with pytest.raises(ValidationFailed, match="Key attributes must be scalars"):
        table.scan(projection=projection(inside))
