"""Applying updates to items: the effect of each clause, and which updates are refused."""

from __future__ import annotations

from contextlib import suppress
from copy import deepcopy
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from tests.strategies import items, updates

from partita.errors import ValidationFailed
from partita.expressions._ast import (
    AddAction,
    Arithmetic,
    DeleteAction,
    IfNotExists,
    ListAppend,
    Operand,
    Path,
    SetAction,
    Update,
    Value,
)
from partita.expressions._update import apply_update, creates, touched
from partita.values._attribute_values import AttributeValue, Item

NOWHERE = "The document path provided in the update expression is invalid for update"
WRONG_TYPE = "An operand in the update expression has an incorrect data type"
NO_ATTRIBUTE = "The provided expression refers to an attribute that does not exist in the item"


def path(*parts: str | int) -> Path:
    return Path(parts)


def setting(*assignments: tuple[Path, Operand]) -> Update:
    return Update(sets=tuple(SetAction(where, operand) for where, operand in assignments))


def adding(where: Path, value: AttributeValue) -> Update:
    return Update(adds=(AddAction(where, Value(value)),))


def deleting(where: Path, value: AttributeValue) -> Update:
    return Update(deletes=(DeleteAction(where, Value(value)),))


def removing(*paths: Path) -> Update:
    return Update(removes=paths)


# --- SET ---


@pytest.mark.rule(18)
def test_set_reads_the_item_as_it_was() -> None:
    update = setting((path("a"), Value("new")), (path("b"), path("a")))
    assert apply_update(update, {"a": "old"}) == {"a": "new", "b": "old"}


def test_two_attributes_can_be_swapped() -> None:
    update = setting((path("a"), path("b")), (path("b"), path("a")))
    assert apply_update(update, {"a": 1, "b": 2}) == {"a": 2, "b": 1}


def test_a_nested_value_is_set_and_its_neighbours_stay() -> None:
    item = {"m": {"x": {"y": 1, "z": 2}, "l": [1, {"k": 1}]}}
    update = setting((path("m", "x", "y"), Value(9)), (path("m", "l", 1, "k"), Value(8)))
    assert apply_update(update, item) == {"m": {"x": {"y": 9, "z": 2}, "l": [1, {"k": 8}]}}


@pytest.mark.rule(18)
def test_elements_set_past_the_end_are_appended_in_index_order() -> None:
    update = setting((path("l", 9), Value("nine")), (path("l", 7), Value("seven")), (path("l", 0), Value("zero")))
    assert apply_update(update, {"l": [1, 2, 3]}) == {"l": ["zero", 2, 3, "seven", "nine"]}


@pytest.mark.parametrize(
    "where",
    [
        path("z", "y"),
        path("n", "y"),
        path("l", "y"),
        path("m", 0),
        path("l", 5, "y"),
        path("m", "z", "y"),
    ],
)
def test_set_needs_the_parent_of_its_path(where: Path) -> None:
    with pytest.raises(ValidationFailed, match=NOWHERE):
        apply_update(setting((where, Value(1))), {"n": 1, "l": [1], "m": {}})


def test_set_of_a_nested_path_needs_an_item() -> None:
    with pytest.raises(ValidationFailed, match=NOWHERE):
        apply_update(setting((path("m", "x"), Value(1))), {})


def test_set_from_a_missing_attribute_is_refused() -> None:
    with pytest.raises(ValidationFailed, match=NO_ATTRIBUTE):
        apply_update(setting((path("a"), path("z"))), {"b": 1})


@pytest.mark.parametrize(
    ("operand", "value"),
    [
        (IfNotExists(path("a"), Value(0)), 1),
        (IfNotExists(path("z"), Value(0)), 0),
        (IfNotExists(path("z"), IfNotExists(path("y"), path("a"))), 1),
        (IfNotExists(path("z"), ListAppend(path("l"), Value([2]))), [1, 2]),
        (ListAppend(Value([0]), path("l")), [0, 1]),
        (ListAppend(IfNotExists(path("z"), Value([])), Value([2])), [2]),
        (Arithmetic("+", path("a"), Value(2)), 3),
        (Arithmetic("-", path("a"), Value(Decimal("0.5"))), Decimal("0.5")),
        (Arithmetic("-", Value(Decimal("1.5")), Value(Decimal("0.5"))), 1),
        (Arithmetic("+", IfNotExists(path("z"), Value(10)), path("a")), 11),
    ],
)
def test_functions_and_arithmetic(operand: Operand, value: Any) -> None:
    assert apply_update(setting((path("r"), operand)), {"a": 1, "l": [1]})["r"] == value


@pytest.mark.parametrize(
    "operand",
    [
        Arithmetic("+", path("s"), Value(1)),
        Arithmetic("-", path("t"), Value(1)),
        ListAppend(path("s"), Value([1])),
        ListAppend(Value([1]), path("n")),
    ],
)
def test_an_operand_of_the_wrong_type_is_refused(operand: Operand) -> None:
    with pytest.raises(ValidationFailed, match=WRONG_TYPE):
        apply_update(setting((path("r"), operand)), {"s": "x", "t": True, "n": 1})


def test_arithmetic_is_exact_at_38_digits() -> None:
    wide = Decimal("1.2345678901234567890123456789012345678")
    update = setting((path("r"), Arithmetic("-", Value(0), path("a"))))
    assert apply_update(update, {"a": wide})["r"] == wide.copy_negate()


@pytest.mark.rule(1)
def test_arithmetic_that_needs_more_than_38_digits_is_refused() -> None:
    with pytest.raises(ValidationFailed, match="38 significant digits"):
        apply_update(setting((path("a"), Arithmetic("+", path("a"), Value(1)))), {"a": 10**50})


# --- REMOVE ---


@pytest.mark.rule(18)
def test_elements_are_removed_by_their_old_positions() -> None:
    assert apply_update(removing(path("l", 0), path("l", 2)), {"l": [0, 1, 2, 3]}) == {"l": [1, 3]}


@pytest.mark.rule(18)
def test_elements_are_set_and_removed_by_their_old_positions() -> None:
    update = Update(sets=(SetAction(path("l", 1), Value("one")),), removes=(path("l", 0),))
    assert apply_update(update, {"l": [0, 1, 2]}) == {"l": ["one", 2]}


def test_a_stored_null_is_not_taken_for_a_removed_element() -> None:
    assert apply_update(removing(path("l", 0)), {"l": [1, None]}) == {"l": [None]}


@pytest.mark.parametrize("where", [path("z"), path("m", "z"), path("l", 7)])
def test_removing_what_is_not_there_changes_nothing(where: Path) -> None:
    item = {"m": {"x": 1}, "l": [1]}
    assert apply_update(removing(where), item) == item


@pytest.mark.rule(19)
@pytest.mark.parametrize("where", [path("z", "y"), path("n", "y"), path("l", "y"), path("l", 7, "y")])
def test_remove_needs_the_parent_of_its_path_where_there_is_an_item(where: Path) -> None:
    with pytest.raises(ValidationFailed, match=NOWHERE):
        apply_update(removing(where), {"n": 1, "l": [1]})


@pytest.mark.rule(19)
def test_remove_and_delete_are_silent_where_there_is_no_item() -> None:
    update = Update(removes=(path("z", "y"),), deletes=(DeleteAction(path("x", "y"), Value(frozenset({1}))),))
    assert apply_update(update, {}) == {}


# --- ADD and DELETE ---


@pytest.mark.parametrize(
    ("item", "where", "value", "updated"),
    [
        ({"n": 1}, path("n"), 2, {"n": 3}),
        ({"n": 1}, path("n"), Decimal("-0.5"), {"n": Decimal("0.5")}),
        ({}, path("n"), 2, {"n": 2}),
        ({"m": {"n": 1}}, path("m", "n"), 1, {"m": {"n": 2}}),
        ({"l": [1, 2]}, path("l", 1), 1, {"l": [1, 3]}),
        ({"s": frozenset({"a"})}, path("s"), frozenset({"b"}), {"s": frozenset({"a", "b"})}),
        ({"s": {1}}, path("s"), {Decimal("1.0")}, {"s": frozenset({1})}),
        ({}, path("s"), {"a"}, {"s": frozenset({"a"})}),
    ],
)
def test_add_sums_numbers_and_unites_sets(item: Item, where: Path, value: Any, updated: Item) -> None:
    assert apply_update(adding(where, value), item) == updated


@pytest.mark.parametrize("value", [1, frozenset({1}), frozenset({b"x"})])
def test_add_to_another_type_is_refused(value: AttributeValue) -> None:
    with pytest.raises(ValidationFailed, match=WRONG_TYPE):
        apply_update(adding(path("a"), value), {"a": frozenset({"x"})})


def test_add_needs_the_parent_of_its_path() -> None:
    with pytest.raises(ValidationFailed, match=NOWHERE):
        apply_update(adding(path("z", "n"), 1), {"a": 1})


@pytest.mark.rule(11)
@pytest.mark.parametrize(
    ("item", "where", "updated"),
    [
        ({"s": frozenset({"a", "b"})}, path("s"), {"s": frozenset({"b"})}),
        ({"s": {"a"}, "n": 1}, path("s"), {"n": 1}),
        ({"m": {"s": frozenset({"a"})}}, path("m", "s"), {"m": {}}),
        ({"l": [frozenset({"a"}), 1]}, path("l", 0), {"l": [1]}),
        ({"n": 1}, path("s"), {"n": 1}),
    ],
)
def test_delete_takes_members_out_and_an_empty_set_away(item: Item, where: Path, updated: Item) -> None:
    assert apply_update(deleting(where, frozenset({"a"})), item) == updated


def test_delete_from_another_type_is_refused() -> None:
    with pytest.raises(ValidationFailed, match=WRONG_TYPE):
        apply_update(deleting(path("a"), frozenset({"x"})), {"a": frozenset({1})})


# --- the item, before and after ---


@given(updates(), items)
def test_the_given_item_never_changes(update: Update, item: Item) -> None:
    before = deepcopy(item)
    with suppress(ValidationFailed):
        apply_update(update, item)
    assert item == before


def test_what_is_not_touched_is_not_copied() -> None:
    item = {"touched": {"x": 1}, "other": {"y": 1}}
    updated = apply_update(setting((path("touched", "x"), Value(2))), item)
    assert updated["other"] is item["other"]
    assert updated["touched"] is not item["touched"]


def test_an_empty_update_changes_nothing() -> None:
    assert apply_update(Update(), {"a": 1}) == {"a": 1}


@pytest.mark.rule(20)
@pytest.mark.parametrize(
    ("update", "created"),
    [
        (Update(), True),
        (setting((path("a"), Value(1))), True),
        (adding(path("a"), 1), True),
        (removing(path("a")), False),
        (deleting(path("a"), frozenset({1})), False),
        (Update(sets=(SetAction(path("a"), Value(1)),), removes=(path("b"),)), True),
    ],
)
def test_an_update_that_only_takes_away_creates_no_item(update: Update, *, created: bool) -> None:
    assert creates(update) == created


OLD: Item = {"p": 1, "a": {"b": "dog", "c": [1, 2, 3]}, "d": "cat"}


@pytest.mark.rule(21)
@pytest.mark.parametrize(
    ("update", "before", "after"),
    [
        (setting((path("a", "b"), Value("hi"))), {"a": {"b": "dog"}}, {"a": {"b": "hi"}}),
        (setting((path("a", "c", 1), Value(7))), {"a": {"c": [2]}}, {"a": {"c": [7]}}),
        (setting((path("new"), Value(7))), {}, {"new": 7}),
        (removing(path("d")), {"d": "cat"}, {}),
        (removing(path("a", "c", 2), path("a", "c", 0)), {"a": {"c": [1, 3]}}, {"a": {"c": [2]}}),
        (setting((path("a", "c", 100), Value(7))), {}, {}),
        (Update(), {}, {}),
    ],
)
def test_only_touched_paths_are_returned(update: Update, before: Item, after: Item) -> None:
    """The same list index is looked up before and after the update, even if elements moved, as in DynamoDB."""
    assert touched(update, OLD) == before
    assert touched(update, apply_update(update, OLD)) == after
