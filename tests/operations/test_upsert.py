"""Upserts: one request creates or changes an item, and leaves it as a put of the whole entity would."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from tests.model.sample import (
    TABLE,
    Address,
    Comment,
    Status,
    Task,
    User,
    comment_by_id,
    fresh_session,
    steady,
    task_by_id,
    tasks_with_status,
    user_by_id,
)
from tests.operations.test_index_keys import assert_index_keys_fit, comment_changes, task_changes

from partita import (
    Change,
    Entity,
    Index,
    Key,
    Registry,
    Session,
    Table,
    Upsert,
    Wcu,
    explain,
    f,
    get,
    insert,
    pattern,
    put,
    transact,
    upsert,
)
from partita.errors import ConditionFailed, OperationError, TransactionCancelled
from partita.model import schema_of
from partita.operations import scan_items
from partita.store import DeleteItem, PutItem
from partita.testing import FakeClock, assert_budget

CARTS = Table("carts", indexes=[Index("GSI1")], registry=Registry())


class Line(BaseModel):
    product: str
    count: int


class Cart(Entity, table=CARTS):
    """A cart with fields of every kind of default, and a required field."""

    primary: ClassVar = Key("CART#{user_id}", "CART")
    by_state: ClassVar = Key("STATE#{state}", "CART#{user_id}", index="GSI1")

    user_id: str
    currency: str
    state: str = "open"
    lines: list[Line] = Field(default_factory=list)
    notes: list[str] | None = None
    cents: int = 0
    points: int = 10
    tags: frozenset[str] = frozenset()


@get(Cart)
def cart_of(user_id: str) -> None:
    """A user's cart."""


@pattern(budget=Wcu(3))
def add_line(user_id: str, line: Line) -> Upsert[Cart]:
    """Add a line to a cart, and create the cart if it does not exist."""
    return upsert(Cart(user_id=user_id, currency="EUR"), f(Cart.lines).append([line]))


@pytest.fixture
def carts(partita_db: Session) -> Session:
    partita_db.create_tables([CARTS])
    return partita_db


def stored(db: Session) -> dict[str, Any]:
    (item,) = db.maintenance("look").run(scan_items(CARTS))
    return item


CHANGES = (
    f(Cart.currency).set_if_missing("EUR"),
    f(Cart.cents).add(250),
    f(Cart.points).add(1),
    f(Cart.lines).append([Line(product="pen", count=1)]),
    f(Cart.notes).prepend(["wrap it"]),
    f(Cart.tags).add_members({"new"}),
)


def test_an_upsert_makes_what_an_insert_of_the_changed_entity_would(carts: Session) -> None:
    with carts.meter.watch() as seen:
        made = carts.run(upsert(cart_of("ada"), *CHANGES))
    assert [run.requests for run in seen] == [("UpdateItem",)]
    expected = Cart(
        user_id="ada",
        currency="EUR",
        lines=[Line(product="pen", count=1)],
        notes=["wrap it"],
        cents=250,
        points=11,
        tags=frozenset({"new"}),
    )
    assert made == expected
    assert stored(carts) == schema_of(Cart).item(expected)


def test_an_upsert_of_what_is_there_changes_it_in_one_request(carts: Session) -> None:
    carts.run(put(Cart(user_id="ada", currency="USD", state="paid", cents=1, points=3, notes=["a"])))
    with carts.meter.watch() as seen:
        changed = carts.run(upsert(cart_of("ada"), *CHANGES))
    assert [run.requests for run in seen] == [("UpdateItem",)]
    assert (changed.currency, changed.state, changed.cents, changed.points) == ("USD", "paid", 251, 4)
    assert changed.notes == ["wrap it", "a"]
    assert stored(carts) == schema_of(Cart).item(changed)


def test_a_new_item_begins_with_the_entity_that_is_given(carts: Session) -> None:
    first = Line(product="ink", count=2)
    start = Cart(user_id="ada", currency="EUR", cents=100, lines=[first], state="gift")
    made = carts.run(upsert(start, f(Cart.cents).add(5), f(Cart.lines).append([first])))
    assert (made.cents, made.lines, made.state) == (105, [first, first], "gift")
    again = carts.run(upsert(start, f(Cart.cents).add(5)))
    assert (again.cents, again.lines) == (110, [first, first])
    assert stored(carts)["GSI1PK"] == "STATE#gift"


def test_an_upsert_without_changes_makes_the_item_once(carts: Session) -> None:
    first = carts.run(upsert(Cart(user_id="ada", currency="EUR")))
    assert carts.run(upsert(Cart(user_id="ada", currency="USD", cents=5))) == first


def test_a_default_that_a_change_says_goes_before_that_of_the_field(carts: Session) -> None:
    start = (f(Cart.currency).set("EUR"), f(Cart.state).set_if_missing("held"))
    made = carts.run(upsert(cart_of("ada"), *start, f(Cart.points).set(f(Cart.points).or_default(2).plus(1))))
    assert (made.state, made.points) == ("held", 3)
    assert stored(carts)["GSI1PK"] == "STATE#held"


def test_a_number_counts_from_the_default_of_its_field(carts: Session) -> None:
    made = carts.run(upsert(cart_of("ada"), f(Cart.currency).set("EUR"), f(Cart.points).set(f(Cart.points).minus(4))))
    assert made.points == 6


def test_a_declared_upsert_keeps_to_its_budget(carts: Session) -> None:
    line = Line(product="pen", count=1)
    for count in (1, 2, 3):
        assert len(assert_budget(carts, add_line("ada", line)).lines) == count
    explained = explain(add_line("ada", line))
    assert (explained.call, explained.name) == ("UpdateItem", "add_line")
    assert "if_not_exists" in explained.request["UpdateExpression"]


# --- versions, expiry, and items that lack a key ---


def test_an_upsert_counts_the_version(db: Session) -> None:
    first = db.run(upsert(task_by_id("u", "t"), f(Task.title).set("one")))
    second = db.run(upsert(task_by_id("u", "t"), f(Task.title).set("two")))
    assert (first.version, second.version) == (1, 2)
    with pytest.raises(OperationError, match="has version 2, so it is already stored"):
        upsert(second, f(Task.title).set("three"))


def test_an_expired_item_is_replaced_as_if_there_were_none(db: Session, fake_clock: FakeClock) -> None:
    soon = datetime.fromtimestamp(fake_clock(), UTC) + timedelta(seconds=5)
    db.run(insert(Task(user_id="u", task_id="t", points=7, status=Status.DONE, expires_at=soon)))
    fake_clock.advance(10)
    made = db.run(upsert(task_by_id("u", "t"), f(Task.points).set_if_missing(1)))
    assert made == Task(user_id="u", task_id="t", points=1, version=1)
    assert db.run(task_by_id("u", "t")) == made
    assert_index_keys_fit(db, Task)


def test_an_expired_item_is_refused_in_a_transaction(db: Session, fake_clock: FakeClock) -> None:
    soon = datetime.fromtimestamp(fake_clock(), UTC) + timedelta(seconds=5)
    db.run(insert(Task(user_id="u", task_id="t", expires_at=soon)))
    fake_clock.advance(10)
    with pytest.raises(TransactionCancelled) as caught:
        db.run(transact(upsert(task_by_id("u", "t"), f(Task.title).set("x"))))
    assert "has expired and is still stored" in str(caught.value.reasons[0].error)


def test_an_item_that_lacks_an_index_key_gets_the_right_one(carts: Session) -> None:
    old = {"PK": "CART#ada", "SK": "CART", "user_id": "ada", "currency": "EUR", "state": "paid"}
    carts.store.execute(PutItem("carts", old))
    with pytest.raises(TransactionCancelled) as caught:
        carts.run(transact(upsert(cart_of("ada"), f(Cart.cents).add(1), f(Cart.currency).set("USD"))))
    assert "stored without an index key" in str(caught.value.reasons[0].error)
    changed = carts.run(upsert(cart_of("ada"), f(Cart.cents).add(1), f(Cart.currency).set("USD")))
    assert (changed.state, changed.cents) == ("paid", 1)
    assert stored(carts)["GSI1PK"] == "STATE#paid"


# --- conditions and transactions ---


def test_a_condition_holds_for_upserts_too(carts: Session) -> None:
    carts.run(put(Cart(user_id="ada", currency="EUR", cents=5)))
    below = upsert(cart_of("ada"), f(Cart.currency).set("USD")).when(f(Cart.cents).lt(5))
    with pytest.raises(ConditionFailed, match="The condition on this Cart is false") as caught:
        carts.run(below)
    assert caught.value.current.cents == 5
    carts.store.execute(DeleteItem("carts", {"PK": "CART#ada", "SK": "CART"}))
    with pytest.raises(ConditionFailed):
        carts.run(below)


def test_an_upsert_is_part_of_a_transaction(carts: Session) -> None:
    carts.transact(
        upsert(cart_of("ada"), f(Cart.currency).set("EUR"), f(Cart.cents).add(1)),
        upsert(cart_of("ben"), f(Cart.currency).set("EUR"), f(Cart.cents).add(2)),
    )
    ada, ben = carts.run(cart_of("ada")), carts.run(cart_of("ben"))
    assert ada is not None
    assert ben is not None
    assert (ada.cents, ben.cents) == (1, 2)


# --- refusals ---


def test_an_item_that_would_not_be_whole_is_refused() -> None:
    with pytest.raises(OperationError, match="would not be valid: currency: Field required"):
        upsert(cart_of("ada"), f(Cart.cents).add(1))


def test_a_change_inside_a_field_is_refused() -> None:
    with pytest.raises(OperationError, match=r"address\.city is inside a field that a new item may not have"):
        upsert(user_by_id("u"), f(User.name).set("Ada"), f(User.address.city).set("Rome"))  # type: ignore[union-attr]
    upsert(user_by_id("u"), f(User.name).set("Ada"), f(User.address).set(Address(city="Rome")))


def test_an_index_key_that_cannot_be_known_is_refused() -> None:
    with pytest.raises(OperationError, match=r"Comment\.by_score depends on score, which this upsert does not set"):
        upsert(comment_by_id("u", "c"), f(Comment.mood).set("sad"))
    with pytest.raises(OperationError, match=r"Comment\.by_score depends on mood, score"):
        upsert(comment_by_id("u", "c"), f(Comment.score).add(1))
    upsert(comment_by_id("u", "c"), f(Comment.mood).set("sad"), f(Comment.score).set(1))


def test_a_field_that_a_new_item_has_not_cannot_be_read() -> None:
    with pytest.raises(OperationError, match="reads 'points', which a new item would not have"):
        upsert(task_by_id("u", "t"), f(Task.points).set(f(Task.points).plus(1)))


def test_a_set_that_is_given_and_changed_is_refused() -> None:
    start = Cart(user_id="ada", currency="EUR", tags=frozenset("a"))
    with pytest.raises(OperationError, match="cannot start with members of a set"):
        upsert(start, f(Cart.tags).add_members({"b"}))


def test_a_key_cannot_be_upserted() -> None:
    with pytest.raises(OperationError, match="is the key and cannot be updated"):
        upsert(cart_of("ada"), f(Cart.user_id).set("ben"))


# --- the index keys always match the entity ---

Writes = st.lists(st.tuples(st.booleans(), st.booleans(), task_changes), min_size=1, max_size=5)


@steady
@given(Writes)
def test_random_upserts_of_a_task_leave_the_right_index_keys(writes: list[tuple[bool, bool, list[Change]]]) -> None:
    with fresh_session() as db:
        for with_entity, gone, changes in writes:
            if gone:
                db.store.execute(DeleteItem(TABLE.name, {"PK": "USER#u", "SK": "TASK#t"}))
            try:
                operation = upsert(
                    Task(user_id="u", task_id="t", due=date(2026, 1, 2)) if with_entity else task_by_id("u", "t"),
                    *changes,
                )
            except OperationError:
                continue
            after = db.run(operation)
            assert db.run(task_by_id("u", "t")) == after
            assert_index_keys_fit(db, Task)
            assert after in db.run(tasks_with_status("u", after.status)).items


@steady
@given(st.lists(st.tuples(st.booleans(), comment_changes), min_size=1, max_size=5))
def test_random_upserts_of_a_comment_leave_the_right_index_keys(writes: list[tuple[bool, list[Change]]]) -> None:
    with fresh_session() as db:
        for with_entity, changes in writes:
            try:
                start = Comment(user_id="u", comment_id="c", mood="odd", score=3)
                operation = upsert(start if with_entity else comment_by_id("u", "c"), *changes)
            except OperationError:
                continue
            after = db.run(operation)
            assert db.run(comment_by_id("u", "c")) == after
            assert_index_keys_fit(db, Comment)


# --- keys under a condition, and keys that share attributes ---

ORDERS = Table(
    "orders",
    indexes=[Index("GSI1"), Index("GSI2", hash="GSI1PK", range="GSI2SK")],
    registry=Registry(),
)


def is_open(state: str) -> bool:
    return state != "closed"


class Order(Entity, table=ORDERS):
    """An order that is in both indexes while it is open; their keys share the partition attribute."""

    primary: ClassVar = Key("ORDER#{number}", "ORDER")
    by_shop: ClassVar = Key("SHOP#{shop}", "DAY#{day}", index="GSI1", when=is_open)
    by_cents: ClassVar = Key("SHOP#{shop}", "CENTS#{cents:06}", index="GSI2", when=is_open)

    number: str
    shop: str = "main"
    day: str | None = None
    cents: int = 0
    state: str = "open"
    notes: list[str] = Field(default_factory=list)


@get(Order)
def order(number: str) -> None:
    """One order."""


words = st.sampled_from(["a", "b"])
order_changes: st.SearchStrategy[list[Change]] = st.lists(
    st.one_of(
        words.map(lambda word: f(Order.shop).set(word)),
        words.map(lambda word: f(Order.day).set(word)),
        words.map(lambda word: f(Order.day).set_if_missing(word)),
        st.integers(0, 9).map(lambda cents: f(Order.cents).set(cents)),
        st.sampled_from(["open", "closed"]).map(lambda state: f(Order.state).set(state)),
        st.sampled_from(["open", "closed"]).map(lambda state: f(Order.state).set_if_missing(state)),
        words.map(lambda word: f(Order.notes).append([word])),
    ),
    min_size=1,
    max_size=5,
    unique_by=lambda change: change.path,
)


@steady
@given(st.lists(st.tuples(st.sampled_from(["get", "entity", "put"]), order_changes), min_size=1, max_size=5))
def test_random_upserts_keep_keys_under_a_condition(writes: list[tuple[str, list[Change]]]) -> None:
    with fresh_session() as db:
        db.create_tables([ORDERS])
        for way, changes in writes:
            start = Order(number="1", day="c", state="closed" if len(changes) == 1 else "open")
            try:
                work: Any = put(start) if way == "put" else upsert(order("1") if way == "get" else start, *changes)
            except OperationError:
                continue
            after = db.run(work)
            (item,) = db.maintenance("compare").run(scan_items(ORDERS))
            assert item == schema_of(Order).item(after)


def test_an_item_that_is_off_an_index_stays_off_it(partita_db: Session) -> None:
    partita_db.create_tables([ORDERS])
    partita_db.run(put(Order(number="1", state="closed")))
    changed = partita_db.run(upsert(order("1"), f(Order.notes).append(["late"])))
    assert (changed.state, changed.notes) == ("closed", ["late"])
    (item,) = partita_db.maintenance("look").run(scan_items(ORDERS))
    assert "GSI1PK" not in item
