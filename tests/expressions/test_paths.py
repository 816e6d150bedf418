"""Finding values by document paths, and projecting items to some of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from tests.strategies import items, projections

from partita.expressions._ast import Path, Projection
from partita.expressions._paths import MISSING, project, resolve
from partita.values._attribute_values import Item

ITEM: Item = {"a": {"b": [10, {"c": None}, 30]}, "l": ["x", "y", "z"], "n": 1}


@pytest.mark.parametrize(
    ("parts", "value"),
    [
        (("n",), 1),
        (("a", "b", 0), 10),
        (("a", "b", 1, "c"), None),
        (("l", 2), "z"),
        (("l", 3), MISSING),
        (("z",), MISSING),
        (("a", "z"), MISSING),
        (("n", "b"), MISSING),
        (("n", 0), MISSING),
        (("a", 0), MISSING),
        (("l", "x"), MISSING),
    ],
)
def test_a_path_leads_to_its_value_or_nowhere(parts: tuple[str | int, ...], value: Any) -> None:
    assert resolve(Path(parts), ITEM) == value


@pytest.mark.rule(23)
@pytest.mark.parametrize(
    ("projection", "projected"),
    [
        ((Path(("n",)), Path(("z",))), {"n": 1}),
        ((Path(("l", 2)), Path(("l", 0))), {"l": ["x", "z"]}),
        ((Path(("a", "b", 2)), Path(("a", "b", 1, "c"))), {"a": {"b": [{"c": None}, 30]}}),
        ((Path(("l", 9)), Path(("a", "z")), Path(("n", "z"))), {}),
        ((Path(("a", "b", 1, "z")), Path(("a", "b", 0))), {"a": {"b": [10]}}),
    ],
)
def test_a_projection_keeps_its_paths_with_lists_compacted_in_index_order(
    projection: Projection, projected: Item
) -> None:
    assert project(projection, ITEM) == projected


@given(projections, items)
def test_what_a_path_finds_is_projected(projection: Projection, item: Item) -> None:
    found = {path.parts[0] for path in projection if resolve(path, item) is not MISSING}
    assert project(projection, item).keys() == found
