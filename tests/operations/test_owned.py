"""Reads of an index skip items whose primary key names another owner than the index partition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel
from tests.recipes.interleaving import empty_db

from partita import Entity, Index, Key, LocalIndex, Query, Registry, Session, Table, collect, insert, query
from partita.model import KeyFormat, schema_of
from partita.recipes.removal import remove_all
from partita.store import GetItem, PutItem
from partita.values import Item

TABLES = Registry()
TABLE = Table("owned", indexes=[Index("GSI1"), Index("GSI2"), LocalIndex("LSI1")], registry=TABLES)
BOOKED = Table("booked", hash=("number", "N"), range=None, indexes=[Index("GSI1", range=False)], registry=TABLES)


class Note(Entity, table=TABLE):
    primary: ClassVar = Key("NOTE#{user_id}", "NOTE#{note_id}")
    by_state: ClassVar = Key("USER#{user_id}", "STATE#{state}#{note_id}", index="GSI1")
    by_month: ClassVar = Key("{user_id}", "MONTH#{month:02}#{note_id}", index="GSI2")
    by_title: ClassVar = Key("NOTE#{user_id}", "TITLE#{title}", index="LSI1")

    user_id: str
    note_id: str
    state: str = "open"
    month: int = 1
    title: str = "a"


class Draft(Entity, table=TABLE):
    """A draft whose partition key also contains the year, which the index key pads to another width."""

    primary: ClassVar = Key("DRAFT#{year:04}#{user_id}", "DRAFT")
    by_user: ClassVar = Key("DRAFTER#{user_id}#{year:06}", "DRAFT", index="GSI1")

    user_id: str
    year: int


class Booking(Entity, table=BOOKED):
    primary: ClassVar = Key("{number}")
    by_number: ClassVar = Key("BOOKING#{number}", index="GSI1")

    number: int


class Title(BaseModel):
    """A view of a note without its owner."""

    title: str


@dataclass(frozen=True)
class Shelf:
    """The notes of a user."""

    notes: tuple[Note, ...]


@query(Note, Note.by_state)
def notes_by_state(user_id: str) -> None:
    """A user's notes."""


@query(Note, Note.by_state, view=Title)
def titles_by_state(user_id: str) -> None:
    """The titles of a user's notes."""


@query(Note, Note.by_month)
def notes_by_month(user_id: str) -> None:
    """A user's notes by month."""


@query(Note, Note.by_title)
def notes_by_title(user_id: str) -> None:
    """A user's notes by title."""


@query(Draft, Draft.by_user)
def drafts_of(user_id: str, year: int) -> None:
    """A user's drafts."""


@query(Booking, Booking.by_number)
def bookings(number: int) -> None:
    """A booking by its number."""


@collect(Shelf, "USER#{user_id}", index="GSI1")
def shelf_of(user_id: str) -> None:
    """A user's notes, as a collection."""


MINE = Note(user_id="b#b", note_id="mine", title="mine")


def planted(**fields: Any) -> Item:
    """Return an item that an attacker may write to their own partition: it has the victim's index keys."""
    stranger = Note(user_id="eve", note_id="planted", title="planted")
    theirs = {name: MINE_STORED[name] for name in ("GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK")}
    return {**schema_of(Note).item(stranger), **theirs, **fields}


MINE_STORED: Item = schema_of(Note).item(MINE)


@pytest.fixture
def db() -> Iterator[Session]:
    with empty_db(TABLES) as db:
        db.run(insert(MINE))
        yield db


@pytest.fixture(params=[{}, {"user_id": "b#b"}], ids=["with the attacker's fields", "with the victim's fields"])
def attacked(db: Session, request: pytest.FixtureRequest) -> Session:
    db.store.execute(PutItem("owned", planted(**request.param)))
    return db


def test_a_planted_item_is_in_no_list_of_the_victims(attacked: Session) -> None:
    for listed in (notes_by_state("b#b"), notes_by_month("b#b")):
        assert list(attacked.run(listed)) == [MINE]
        assert list(attacked.run(listed.walk(max_items=10))) == [MINE]
        assert attacked.run(listed.reversed().first()) == MINE
        assert attacked.run(listed.count()) == 1


def test_a_planted_item_is_in_no_view_and_no_collection_of_the_victims(attacked: Session) -> None:
    assert list(attacked.run(titles_by_state("b#b"))) == [Title(title="mine")]
    assert attacked.run(shelf_of("b#b")) == Shelf((MINE,))


def test_a_planted_item_is_not_removed_with_what_is_the_victims(attacked: Session) -> None:
    assert attacked.run(remove_all(notes_by_state("b#b"))) == 1
    key = {"PK": "NOTE#eve", "SK": "NOTE#planted"}
    assert attacked.store.execute(GetItem("owned", key)).item is not None


def test_the_partition_of_a_local_index_is_the_tables_own(attacked: Session) -> None:
    assert list(attacked.run(notes_by_title("b#b"))) == [MINE]
    assert attacked.run(notes_by_title("b#b").count()) == 1


def test_a_count_leaves_it_to_the_store_where_the_partition_says_whose_the_items_are() -> None:
    assert notes_by_month("b#b").count().request().count_only
    assert notes_by_title("b#b").count().request().count_only
    assert not bookings(7).count().request().count_only  # numbers are compared in Python


def test_a_part_of_the_key_is_enough_to_say_whose_an_item_is(db: Session) -> None:
    mine = db.run(insert(Draft(user_id="b#b", year=2026)))
    stored = schema_of(Draft).item(mine)
    db.store.execute(PutItem("owned", {**stored, "PK": "DRAFT#2026#eve"}))
    assert list(db.run(drafts_of("b#b", 2026))) == [mine]


def test_a_number_by_itself_says_the_same_as_its_text(db: Session) -> None:
    mine = db.run(insert(Booking(number=7)))
    db.store.execute(PutItem("booked", {**schema_of(Booking).item(mine), "number": 8}))
    assert list(db.run(bookings(7))) == [mine]
    assert db.run(bookings(7).count()) == 1


def test_keys_of_other_tools_are_compared_where_they_say_the_same_thing() -> None:
    table = Table("theirs", indexes=[Index("GSI1")], keys=KeyFormat("|", values="raw"), registry=Registry())

    class Visit(Entity, table=table):
        primary: ClassVar = Key("U|{user_id}|{day:%Y}", "{day:%m}|{user_id:upper}")
        by_month: ClassVar = Key("M|{day:%m}|{user_id}", "{day:%Y}", index="GSI1")

        user_id: str
        day: date

    visits: Callable[[date, str], Query[Visit]] = query(
        Visit, Visit.by_month, name="visits", doc="Visits in a month.", parameters=["day", "user_id"]
    )
    with empty_db([table]) as db:
        mine = db.run(insert(Visit(user_id="Bo", day=date(2026, 5, 1))))
        stored = schema_of(Visit).item(mine)
        for key in ({"PK": "U|eve|2026"}, {"SK": "06|BO"}):
            db.store.execute(PutItem("theirs", stored | key))
        assert list(db.run(visits(date(2026, 5, 1), "Bo"))) == [mine]


def test_an_item_that_is_known_by_its_type_may_have_a_key_of_another_form() -> None:
    table = Table("tagged", indexes=[Index("GSI1")], type_attribute="type", registry=Registry())

    class Tagged(Entity, table=table):
        primary: ClassVar = Key("NOTE#{user_id}", "NOTE")
        by_user: ClassVar = Key("USER#{user_id}", "NOTE", index="GSI1")

        user_id: str

    notes: Callable[[str], Query[Tagged]] = query(
        Tagged, Tagged.by_user, name="notes", doc="A user's notes.", parameters=["user_id"]
    )
    with empty_db([table]) as db:
        mine = db.run(insert(Tagged(user_id="bob")))
        stored = schema_of(Tagged).item(mine)
        for key in ("NOTE#eve", "imported-17"):
            db.store.execute(PutItem("tagged", stored | {"PK": key}))
        assert len(db.run(notes("bob"))) == 2
        assert db.run(notes("bob").count()) == 2
