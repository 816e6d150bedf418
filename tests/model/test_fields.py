"""Conditions and changes by field, tested by their effect on an item in a real store."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, Any, ClassVar

import pytest
from pydantic import BaseModel, Field
from tests.model.sample import Address, Comment, Status, Task, User, comment_by_id, task_by_id, tasks_of, user_by_id

from partita import (
    Change,
    Condition,
    Entity,
    Key,
    Registry,
    Session,
    Table,
    all_of,
    any_of,
    f,
    get,
    insert,
    not_,
    update,
)
from partita.errors import ConditionFailed, OperationError

TASK = Task(
    user_id="u",
    task_id="t",
    title="Buy milk",
    status=Status.DOING,
    due=date(2026, 1, 5),
    points=5,
    tags=frozenset({"red", "big"}),
    notes=["one", "two"],
)

HOLDING = {
    "title eq": f(Task.title).eq("Buy milk"),
    "title ne": f(Task.title).ne("Buy"),
    "points lt": f(Task.points).lt(6),
    "points le": f(Task.points).le(5),
    "points gt": f(Task.points).gt(4),
    "points ge": f(Task.points).ge(5),
    "points between": f(Task.points).between(5, 5),
    "due between days": f(Task.due).between(date(2026, 1, 1), date(2026, 1, 31)),
    "status is in": f(Task.status).is_in([Status.OPEN, Status.DOING]),
    "status is in a set": f(Task.status).is_in({Status.OPEN, Status.DOING}),
    "due exists": f(Task.due).exists(),
    "due ne None": f(Task.due).ne(None),
    "expires at missing": f(Task.expires_at).missing(),
    "expires at eq None": f(Task.expires_at).eq(None),
    "title begins with": f(Task.title).begins_with("Buy"),
    "title contains": f(Task.title).contains("y m"),
    "tags has": f(Task.tags).has("red"),
    "notes has": f(Task.notes).has("two"),
    "notes size eq": f(Task.notes).size().eq(2),
    "notes size ne": f(Task.notes).size().ne(3),
    "notes size between": f(Task.notes).size().between(1, 2),
    "notes size is in": f(Task.notes).size().is_in({1, 2}),
    "notes size eq another size": f(Task.notes).size().eq(f(Task.tags).size()),
    "version lt a size": f(Task.version).lt(f(Task.notes).size()),
    "title size gt": f(Task.title).size().gt(3),
    "task id lt another field": f(Task.task_id).lt(f(Task.user_id)),
    "notes element eq": f(Task.notes[1]).eq("two"),
    "all of": all_of(f(Task.points).gt(4), f(Task.points).lt(6)),
    "any of": any_of(f(Task.points).gt(9), f(Task.points).lt(6)),
    "all of one": all_of(f(Task.points).eq(5)),
}


@pytest.mark.parametrize("condition", HOLDING.values(), ids=HOLDING)
def test_a_condition_that_holds_lets_the_update_through_and_its_opposite_does_not(
    db: Session, condition: Condition
) -> None:
    db.run(insert(TASK))
    change = update(task_by_id("u", "t"), f(Task.title).set("Done"))
    with pytest.raises(ConditionFailed):
        db.run(change.when(not_(condition)))
    assert db.run(change.when(condition)).title == "Done"


CHANGES: dict[str, tuple[Change, str, Any]] = {
    "title set": (f(Task.title).set("Buy bread"), "title", "Buy bread"),
    "title set to another field": (f(Task.title).set(f(Task.task_id)), "title", "t"),
    "due set None": (f(Task.due).set(None), "due", None),
    "due set": (f(Task.due).set(date(2026, 2, 1)), "due", date(2026, 2, 1)),
    "due remove": (f(Task.due).remove(), "due", None),
    "title set if missing": (f(Task.title).set_if_missing("x"), "title", "Buy milk"),
    "expires at set None": (f(Task.expires_at).set(None), "expires_at", None),
    "tags add members": (f(Task.tags).add_members({"new"}), "tags", {"red", "big", "new"}),
    "tags remove members": (f(Task.tags).remove_members({"red"}), "tags", {"big"}),
    "tags remove all members": (f(Task.tags).remove_members({"red", "big"}), "tags", frozenset()),
    "tags set": (f(Task.tags).set(frozenset({"only"})), "tags", {"only"}),
    "tags set empty": (f(Task.tags).set(frozenset()), "tags", frozenset()),
    "notes set with appended": (
        f(Task.notes).set(f(Task.notes).with_appended(["three"])),
        "notes",
        ["one", "two", "three"],
    ),
    "notes set with prepended": (
        f(Task.notes).set(f(Task.notes).with_prepended(["zero"])),
        "notes",
        ["zero", "one", "two"],
    ),
    "notes element set": (f(Task.notes[0]).set("1"), "notes", ["1", "two"]),
    "notes element remove": (f(Task.notes[0]).remove(), "notes", ["two"]),
    "notes set empty": (f(Task.notes).set([]), "notes", []),
    "title set or default": (f(Task.title).set(f(Task.title).or_default("x")), "title", "Buy milk"),
}


@pytest.mark.parametrize(("change", "field", "expected"), CHANGES.values(), ids=CHANGES)
def test_a_change_has_the_same_effect_on_the_entity_and_in_the_store(
    db: Session, change: Change, field: str, expected: Any
) -> None:
    saved = db.run(insert(TASK))
    changed = db.run(update(saved, change))
    assert getattr(changed, field) == expected
    assert db.run(task_by_id("u", "t")) == changed
    assert saved.with_changes(change) == changed.model_copy(update={"version": saved.version})


# --- None and empty sets, which are stored as absent attributes ---

EMPTY = Task(user_id="u", task_id="t")

ABSENT: dict[str, Condition] = {
    "eq None": f(Task.due).eq(None),
    "in None": f(Task.due).is_in([None, date(2026, 1, 5)]),
    "in a set with None": f(Task.expires_at).is_in({None, datetime(2026, 1, 5, tzinfo=UTC)}),
    "eq an empty set": f(Task.tags).eq(frozenset()),
}


@pytest.mark.parametrize("condition", ABSENT.values(), ids=ABSENT)
def test_what_is_absent_equals_what_it_stands_for(db: Session, condition: Condition) -> None:
    db.run(insert(EMPTY))
    assert len(db.run(tasks_of("u").where(condition))) == 1
    assert len(db.run(tasks_of("u").where(not_(condition)))) == 0


PRESENT: dict[str, Condition] = {
    "ne None": f(Task.due).ne(None),
    "ne an empty set": f(Task.tags).ne(frozenset()),
    "in None and others": f(Task.due).is_in([None, date(2026, 1, 5)]),
}


@pytest.mark.parametrize("condition", PRESENT.values(), ids=PRESENT)
def test_what_is_present_differs_from_what_absence_stands_for(db: Session, condition: Condition) -> None:
    db.run(insert(TASK))
    assert len(db.run(tasks_of("u").where(condition))) == 1


POINTLESS: dict[str, Callable[[], object]] = {
    "set None if missing": lambda: f(Task.due).set_if_missing(None),
    "set nothing if missing": lambda: f(Task.tags).set_if_missing(frozenset()),
    "default to None": lambda: f(Task.due).or_default(None),
    "add no members": lambda: f(Task.tags).add_members(frozenset()),
    "remove no members": lambda: f(Task.tags).remove_members(frozenset()),
}


@pytest.mark.parametrize("make", POINTLESS.values(), ids=POINTLESS)
def test_a_change_to_what_absence_stands_for_already_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(OperationError):
        make()


@pytest.mark.parametrize("join", [all_of, any_of])
def test_a_condition_of_nothing_is_refused(join: Callable[[], Condition]) -> None:
    with pytest.raises(OperationError, match="condition"):
        join()


def test_numbers_are_added_up_from_zero(db: Session) -> None:
    db.run(insert(Comment(user_id="u", comment_id="c", score=5)))
    at = comment_by_id("u", "c")
    assert db.run(update(at, f(Comment.score).add(3))).score == 8
    assert db.run(update(at, f(Comment.score).add(-10))).score == -2
    assert db.run(update(at, f(Comment.score).set(f(Comment.score).plus(5)))).score == 3
    assert db.run(update(at, f(Comment.score).set(f(Comment.score).minus(1)))).score == 2


def test_a_field_inside_a_nested_model_is_changed_alone(db: Session) -> None:
    db.run(insert(User(user_id="u", name="Ada", address=Address(city="Bern", street="Gasse"))))
    at = user_by_id("u")
    city: Any = User.address
    changed = db.run(update(at, f(city.city).set("Basel")).when(f(city.street).eq("Gasse")))
    assert changed.address == Address(city="Basel", street="Gasse")


def test_a_nested_field_that_does_not_exist_is_an_attribute_error() -> None:
    address: Any = User.address
    with pytest.raises(AttributeError, match="address has no field 'town'"):
        address.town  # noqa: B018


def test_a_condition_on_another_entitys_field_is_refused() -> None:
    with pytest.raises(OperationError, match="Task has no attribute 'name'"):
        update(task_by_id("u", "t"), f(Task.title).set("x")).when(f(User.name).eq("Ada"))


def test_a_change_of_another_entitys_field_is_refused() -> None:
    with pytest.raises(OperationError, match="Task has no attribute 'name'"):
        update(task_by_id("u", "t"), f(User.name).set("Ada"))


@pytest.mark.parametrize("change", [f(Task.user_id).set("v"), f(Task.task_id).remove()])
def test_a_key_field_cannot_be_changed(change: Change) -> None:
    with pytest.raises(OperationError, match="is the key and cannot be updated"):
        update(task_by_id("u", "t"), change)


def test_the_version_cannot_be_changed_by_hand() -> None:
    with pytest.raises(OperationError, match="is the version and cannot be updated"):
        update(task_by_id("u", "t"), f(Task.version).set(9))


def test_an_update_without_changes_is_refused() -> None:
    with pytest.raises(OperationError, match="at least one change"):
        update(task_by_id("u", "t"))


# --- paths into maps, lists and nested models ---


class Line(BaseModel):
    sku: str = Field(alias="s")
    count: int = 1


class Order(Entity, table=Table("orders", registry=Registry())):
    primary: ClassVar = Key("ORDER#{order_id}", "ORDER")

    order_id: str
    by_number: dict[int, str] = Field(default_factory=dict)
    by_day: dict[date, int] = Field(default_factory=dict)
    by_status: Mapping[Status, Line] = Field(default_factory=dict)
    by_price: dict[Decimal, bool] = Field(default_factory=dict)
    lines: tuple[Line, ...] = ()
    pair: tuple[str, Line] | None = None
    maybe_lines: list[Line] | None = None
    maybe_by_name: dict[str, Line] | None = None
    marked: list[Annotated[Line, "marked"]] = Field(default_factory=list)
    deep: dict[int, list[dict[str, Line]]] = Field(default_factory=dict)
    anything: Any = None
    plain: dict = Field(default_factory=dict)  # type: ignore[type-arg]


@get(Order)
def order_by_id(order_id: str) -> None: ...


ANY: Any = Order  # type checkers see no members of an optional field
LINE = Line(s="a", count=2)
ORDER = Order(
    order_id="o",
    by_number={5: "five"},
    by_day={date(2026, 1, 5): 3},
    by_status={Status.OPEN: LINE},
    by_price={Decimal("1.50"): True},
    lines=(Line(s="z"), LINE),
    pair=("x", LINE),
    maybe_lines=[LINE],
    maybe_by_name={"one": LINE},
    marked=[LINE],
    deep={7: [{"x": LINE}]},
    anything={"list": [{"5": "text"}]},
    plain={"a": [1]},
)

MEMBERS: dict[str, tuple[Callable[[], Any], Any]] = {
    "a map by numbers": (lambda: Order.by_number[5], "five"),
    "a map by dates": (lambda: Order.by_day[date(2026, 1, 5)], 3),
    "a map by enums": (lambda: Order.by_status[Status.OPEN].sku, "a"),
    "a map by decimals": (lambda: Order.by_price[Decimal("1.50")], True),
    "a tuple": (lambda: Order.lines[1].sku, "a"),
    "a tuple of different types": (lambda: ANY.pair[1].count, 2),
    "an optional list": (lambda: ANY.maybe_lines[0].sku, "a"),
    "an optional map": (lambda: ANY.maybe_by_name["one"].sku, "a"),
    "an annotated element": (lambda: Order.marked[0].sku, "a"),
    "several levels": (lambda: Order.deep[7][0]["x"].sku, "a"),
    "whatever it is": (lambda: Order.anything["list"][0]["5"], "text"),
    "a map of whatever it is": (lambda: Order.plain["a"][0], 1),
}


@pytest.mark.parametrize(("path", "value"), MEMBERS.values(), ids=MEMBERS)
def test_a_path_leads_to_the_member_that_was_stored(partita_db: Session, path: Callable[[], Any], value: Any) -> None:
    partita_db.create_tables([Order.__entity__.table])
    stored = partita_db.run(insert(ORDER))
    change = update(order_by_id("o"), f(path()).set(value)).when(f(path()).eq(value))
    assert partita_db.run(change) == stored


def test_a_member_of_a_map_is_set_under_the_key_that_it_has(partita_db: Session) -> None:
    partita_db.create_tables([Order.__entity__.table])
    stored = partita_db.run(insert(ORDER))
    changed = partita_db.run(update(stored, f(Order.by_number[6]).set("six"), f(Order.lines[0].sku).set("b")))
    assert changed.by_number == {5: "five", 6: "six"}
    assert changed.lines == (Line(s="b"), LINE)
    assert partita_db.run(order_by_id("o")) == changed


NO_MEMBERS: dict[str, Callable[[], object]] = {
    "a position from the end": lambda: Task.notes[-1],
    "a slice": lambda: Task.notes[0:1],
    "a character of a text": lambda: Task.title[0],
    "a name in a list": lambda: ANY.lines["a"],
}


@pytest.mark.parametrize("make", NO_MEMBERS.values(), ids=NO_MEMBERS)
def test_a_member_that_no_path_leads_to_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(OperationError, match="has no member"):
        make()


def test_a_list_of_models_has_no_fields_itself() -> None:
    with pytest.raises(AttributeError, match="lines has no field 'sku'"):
        ANY.lines.sku  # noqa: B018


def test_a_field_is_not_gone_through() -> None:
    with pytest.raises(TypeError):
        "two" in Task.notes  # noqa: B015


@pytest.mark.parametrize("method", ["set", "set_if_missing", "add", "plus", "remove", "or_default", "size", "exists"])
def test_the_size_of_a_field_can_only_be_compared(method: str) -> None:
    assert not hasattr(f(Task.notes).size(), method)
