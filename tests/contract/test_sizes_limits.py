"""Item sizes, key sizes, nesting and the limits of expressions."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from tests.contract.table import MakeTable, Table
from tests.contract.trees import append, eq, exists, path, setting

from partita.errors import ValidationFailed
from partita.expressions._ast import And, Not, Or, Path, Update
from partita.store._requests import GetItem

LARGEST = 409_600
# The key of these items has 2 + 1 + 2 + 1 bytes, and the name of the filling attribute 1.
FILLING = LARGEST - 7


def item(body: Any, **attributes: Any) -> dict[str, Any]:
    """Return an item whose filling attribute has a name of one letter."""
    return {"pk": "a", "sk": "1", "b": body, **attributes}


@pytest.mark.rule(5)
def test_the_largest_item_is_accepted(table: Table) -> None:
    table.put(item("x" * FILLING))
    assert table.get("a", "1") == item("x" * FILLING)


@pytest.mark.rule(5)
def test_one_byte_more_is_refused(table: Table) -> None:
    with pytest.raises(ValidationFailed, match="Item size has exceeded the maximum allowed size"):
        table.put(item("x" * (FILLING + 1)))
    assert table.get("a", "1") is None


SIZED: dict[str, tuple[Any, int]] = {
    "text of two-byte letters": ("é" * 10, 20),
    "binary": (b"\x00" * 10, 10),
    "true": (True, 1),
    "null": (None, 1),
    "empty list": ([], 3),
    "empty map": ({}, 3),
    "list of texts": (["ab", "cd"], 3 + 2 + 4),
    "map": ({"name": "Ada"}, 3 + 1 + 4 + 3),
    "string set": (frozenset({"ab", "cde"}), 5),
    "number": (1234, 3),
    "negative number": (-1234, 4),
    "number of odd digits": (123, 3),
    "number with zeros": (1_000_000, 2),
    "fraction": (Decimal("12.34"), 3),
}


@pytest.mark.rule(5)
@pytest.mark.parametrize(("value", "size"), SIZED.values(), ids=SIZED.keys())
def test_a_value_counts_its_bytes(table: Table, value: Any, size: int) -> None:
    room = FILLING - 1 - size
    table.put(item("x" * room, v=value))
    with pytest.raises(ValidationFailed):
        table.put(item("x" * (room + 1), v=value))


@pytest.mark.rule(5)
def test_an_update_may_not_grow_an_item_too_large(table: Table) -> None:
    table.put(item("x" * (FILLING - 10)))
    with pytest.raises(ValidationFailed, match="Item size to update has exceeded the maximum allowed size"):
        table.update(("a", "1"), setting({"more": "x" * 20}))
    assert table.get("a", "1") == item("x" * (FILLING - 10))


def test_an_item_grows_too_large_by_appending(table: Table) -> None:
    table.put(item(["x" * 200_000]))
    table.update(("a", "1"), setting({"b": append(path("b"), ["x" * 200_000])}))
    with pytest.raises(ValidationFailed):
        table.update(("a", "1"), setting({"b": append(path("b"), ["x" * 20_000])}))


KEY_SIZES: dict[str, tuple[str, Any, Any]] = {
    "partition text": ("S", "x" * 2048, "1"),
    "partition text of two-byte letters": ("S", "é" * 1024, "1"),
    "partition binary": ("B", b"x" * 2048, "1"),
    "range text": ("S", "a", "x" * 1024),
    "range text of two-byte letters": ("S", "a", "é" * 512),
}


@pytest.mark.rule(6)
@pytest.mark.parametrize(("kind", "hash_key", "range_key"), KEY_SIZES.values(), ids=KEY_SIZES.keys())
def test_the_longest_keys(make_table: MakeTable, kind: Any, hash_key: Any, range_key: Any) -> None:
    table = make_table(hash_type=kind)
    table.put({"pk": hash_key, "sk": range_key})
    assert table.get(hash_key, range_key) == {"pk": hash_key, "sk": range_key}
    longer = (hash_key + hash_key[:1], range_key) if len(hash_key) > 1 else (hash_key, range_key + range_key[:1])
    with pytest.raises(ValidationFailed):
        table.put({"pk": longer[0], "sk": longer[1]})
    with pytest.raises(ValidationFailed):
        table.store.execute(GetItem(table.name, {"pk": longer[0], "sk": longer[1]}))


@pytest.mark.rule(9)
@pytest.mark.parametrize(
    "bad",
    [
        {"pk": "", "sk": "1"},
        {"pk": "a", "sk": ""},
        {"pk": None, "sk": "1"},
        {"pk": 1, "sk": "1"},
        {"pk": ["a"], "sk": "1"},
    ],
    ids=["empty partition", "empty range", "null", "number for a text", "list"],
)
def test_a_key_that_cannot_be_one_is_refused(table: Table, bad: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailed):
        table.put(bad)


@pytest.mark.parametrize("kind", ["B", "N"])
def test_a_key_of_another_type_is_refused(make_table: MakeTable, kind: Any) -> None:
    table = make_table(range_type=kind)
    with pytest.raises(ValidationFailed, match="Type mismatch for key sk"):
        table.put({"pk": "a", "sk": "text"})


@pytest.mark.rule(9)
def test_an_empty_binary_key_is_refused(make_table: MakeTable) -> None:
    with pytest.raises(ValidationFailed):
        make_table(range_type="B").put({"pk": "a", "sk": b""})


@pytest.mark.rule(6)
def test_an_empty_attribute_name_is_refused(table: Table) -> None:
    with pytest.raises(ValidationFailed):
        table.put({"pk": "a", "sk": "1", "": 1})


@pytest.mark.rule(6)
def test_a_long_attribute_name_is_accepted(table: Table) -> None:
    name = "n" * 65_535
    table.put({"pk": "a", "sk": "1", name: 1})
    assert table.get("a", "1") == {"pk": "a", "sk": "1", name: 1}


@pytest.mark.rule(6)
def test_an_attribute_name_too_long_is_refused(table: Table) -> None:
    with pytest.raises(ValidationFailed):
        table.put({"pk": "a", "sk": "1", "n" * 65_536: 1})


def nested(levels: int, *, kind: str = "list") -> Any:
    """Return a value inside this number of lists or maps."""
    value: Any = 1
    for _ in range(levels):
        value = [value] if kind == "list" else {"a": value}
    return value


@pytest.mark.rule(7)
@pytest.mark.parametrize("kind", ["list", "map"])
def test_values_may_be_nested_32_levels_deep(table: Table, kind: str) -> None:
    table.put({"pk": "a", "sk": "1", "v": nested(31, kind=kind)})
    assert table.get("a", "1") == {"pk": "a", "sk": "1", "v": nested(31, kind=kind)}
    with pytest.raises(ValidationFailed, match="Nesting Levels have exceeded supported limits"):
        table.put({"pk": "a", "sk": "1", "v": nested(32, kind=kind)})


@pytest.mark.rule(7)
def test_an_update_may_not_nest_deeper(table: Table) -> None:
    table.put({"pk": "a", "sk": "1", "v": nested(31)})
    with pytest.raises(ValidationFailed):
        table.update(("a", "1"), setting({"v" + "[0]" * 31: [1]}))
    with pytest.raises(ValidationFailed):
        table.update(("a", "1"), setting({"w": nested(32)}))


@pytest.mark.rule(7)
def test_a_path_may_have_32_parts(table: Table) -> None:
    table.put({"pk": "a", "sk": "1", "v": nested(31)})
    longest = Path(("v", *([0] * 31)))
    table.put({"pk": "a", "sk": "1", "n": 1}, condition=eq(longest, 1))
    assert table.get("a", "1") == {"pk": "a", "sk": "1", "n": 1}
    with pytest.raises(ValidationFailed):
        table.put({"pk": "a", "sk": "1"}, condition=eq(Path(("v", *([0] * 32))), 1))


@pytest.mark.rule(7)
def test_three_hundred_operators_are_accepted_and_more_refused(table: Table) -> None:
    table.put({"pk": "a", "sk": "1"})
    table.put({"pk": "a", "sk": "1", "n": 1}, condition=Or((*(exists("x") for _ in range(149)), exists("pk"))))
    with pytest.raises(ValidationFailed):
        table.put({"pk": "a", "sk": "1"}, condition=Or(tuple(exists("pk") for _ in range(302))))


@pytest.mark.rule(7)
@pytest.mark.timeout(60)
def test_thousands_of_nested_terms_are_refused_and_kill_nothing(table: Table) -> None:
    condition: Any = exists("pk")
    for _ in range(400):
        condition = Not(And((condition, exists("sk"))))
    with pytest.raises(ValidationFailed):
        table.put({"pk": "a", "sk": "1"}, condition=condition)
    assert table.get("a", "1") is None


def test_many_attributes_can_be_set_at_once(table: Table) -> None:
    table.update(("a", "1"), Update(sets=setting({f"a{n}": n for n in range(200)}).sets))
    stored = table.get("a", "1")
    assert stored == {"pk": "a", "sk": "1", **{f"a{n}": n for n in range(200)}}
