"""Grouping items by kind: by a type attribute, or by the shape of their keys."""

from __future__ import annotations

from typing import Any

import pytest

from partita.adopt._entity_groups import find_type_attribute, group_items
from partita.adopt._key_shapes import KeyShapes, words_of
from partita.store import IndexSchema, KeyAttribute, TableSchema

SCHEMA = TableSchema("table", KeyAttribute("pk"), KeyAttribute("sk"))
USERS = [{"pk": f"USER#{name}", "sk": "PROFILE"} for name in ("ada", "bob")]
ORDERS = [{"pk": "USER#ada", "sk": f"ORDER#{number}"} for number in range(3)]


def shapes(items: list[dict[str, Any]], schema: TableSchema = SCHEMA) -> KeyShapes:
    return KeyShapes.of_table(items, schema, "#")


def typed(items: list[dict[str, Any]], name: str, value: Any) -> list[dict[str, Any]]:
    return [{**item, name: value} for item in items]


@pytest.mark.parametrize("name", ["__edb_e__", "_et", "_type", "cls", "entityType", "EntityType", "__typename"])
def test_a_name_that_is_used_for_nothing_else_is_enough(name: str) -> None:
    items = [*typed(USERS[:1], name, "user"), *typed(USERS[1:], name, "team")]
    assert find_type_attribute(items, shapes(items)) == name


@pytest.mark.parametrize("name", ["type", "kind", "what"])
def test_another_name_must_follow_the_shapes_of_keys(name: str) -> None:
    items = [*typed(USERS, name, "user"), *typed(ORDERS, name, "order")]
    assert find_type_attribute(items, shapes(items)) == name


def test_the_type_of_a_payment_is_not_the_type_of_an_item() -> None:
    items = [*typed(ORDERS[:2], "type", "card"), *typed(ORDERS[2:], "type", "cash"), *typed(USERS, "type", "card")]
    assert find_type_attribute(items, shapes(items)) is None


def test_one_type_for_all_is_not_one_to_tell_them_apart() -> None:
    items = typed([*USERS, *ORDERS], "type", "thing")
    assert find_type_attribute(items, shapes(items)) is None


def test_an_attribute_that_many_items_lack_is_not_the_type() -> None:
    items = [*typed(USERS, "_type", "user"), *ORDERS]
    assert find_type_attribute(items, shapes(items)) is None


def test_an_attribute_that_hardly_any_item_lacks_is_the_type() -> None:
    items = [*typed([{"pk": f"USER#{n}", "sk": "PROFILE"} for n in range(40)], "_type", "user"), *USERS[:1]]
    assert find_type_attribute(items, shapes(items)) == "_type"
    assert [len(group.items) for group in group_items(items, shapes(items), "_type")] == [40]


def test_a_key_of_an_index_or_a_number_is_not_the_type() -> None:
    schema = TableSchema("table", SCHEMA.hash, SCHEMA.range, (IndexSchema("one", (KeyAttribute("_type"),)),))
    items = typed(USERS, "_type", "user")
    assert find_type_attribute(items, shapes(items, schema)) is None
    numbered = typed(USERS, "_type", 1)
    assert find_type_attribute(numbered, shapes(numbered)) is None


def test_items_are_grouped_by_their_type() -> None:
    items = [*typed(USERS, "_type", "b"), *typed(ORDERS, "_type", "a")]
    groups = group_items(items, shapes(items), "_type")
    assert [(group.type_name, len(group.items)) for group in groups] == [("a", 3), ("b", 2)]


def test_items_are_grouped_by_the_literal_text_of_their_keys() -> None:
    items = [*USERS, *ORDERS]
    groups = group_items(items, shapes(items), None)
    assert [(group.type_name, len(group.items)) for group in groups] == [(None, 3), (None, 2)]
    assert [list(words_of(shapes(items).of(group.items[0]))) for group in groups] == [
        ["USER", "ORDER"],
        ["USER", "PROFILE"],
    ]


def test_a_value_at_the_beginning_of_a_key_makes_no_kinds() -> None:
    items = [{"pk": f"{country}#{city}", "sk": "x", "country": country} for country in ("de", "ch") for city in "ab"]
    assert len(group_items(items, shapes(items), None)) == 1


def test_too_many_words_at_the_beginning_of_keys_are_values() -> None:
    names = [f"{a}{b}" for a in "abcdefgh" for b in "abcdefgh"]
    items = [{"pk": f"{name}#1", "sk": "x"} for name in names]
    assert len(group_items(items, shapes(items), None)) == 1
