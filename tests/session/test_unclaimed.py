"""Items that no declared entity claims are counted, logged once, and refused in strict sessions."""

from __future__ import annotations

import dataclasses
import logging
from typing import Any, ClassVar

import pytest

from partita import EmbeddedStore, Entity, Key, Registry, Session, Table, collect, insert, query
from partita.errors import InvalidItem, UnclaimedItem
from partita.operations import scan
from partita.store import PutItem

TABLE = Table("mixed", registry=Registry())


class Note(Entity, table=TABLE):
    primary: ClassVar = Key("A#{owner}", "NOTE#{n:02}")
    owner: str
    n: int


class Owner(Entity, table=TABLE):
    primary: ClassVar = Key("A#{owner}", "OWNER")
    owner: str


@dataclasses.dataclass
class Account:
    owner: Owner
    notes: tuple[Note, ...]


@query(Note, Note.primary)
def notes_of(owner: str) -> None:
    """Notes."""


@collect(Account, "A#{owner}")
def account_of(owner: str) -> None:
    """An account."""


def session(**options: Any) -> Session:
    db = Session(EmbeddedStore(":memory:"), **options)
    db.create_tables([TABLE])
    db.run(insert(Owner(owner="ada")))
    db.run(insert(Note(owner="ada", n=1)))
    for key in ("NOTE#x#y", "NOTE#z#"):
        db.store.execute(PutItem("mixed", {"PK": "A#ada", "SK": key, "owner": "ada"}))
    return db


def unclaimed_of(db: Session, name: str) -> int:
    return next(usage.unclaimed for usage in db.meter.usage() if usage.name == name)


def test_they_are_counted_on_the_page_and_in_the_meter_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    db = session()
    with caplog.at_level(logging.WARNING, "partita"):
        pages = [db.run(notes_of("ada")) for _ in range(2)]
    assert [(len(page), page.unclaimed) for page in pages] == [(1, 2), (1, 2)]
    assert unclaimed_of(db, "notes_of") == 4
    (record,) = caplog.records
    assert "notes_of found an item in mixed that no declared entity claims" in record.getMessage()
    assert "NOTE#x#y" in record.getMessage()


def test_walks_counts_collections_and_scans_notice_them_too() -> None:
    db = session()
    walked = db.run(notes_of("ada").walk(max_items=10))
    assert (len(walked), walked.unclaimed) == (1, 2)
    assert db.run(notes_of("ada").first()) == Note(owner="ada", n=1)
    assert db.run(notes_of("ada").count()) == 1
    account = db.run(account_of("ada"))
    assert account is not None
    assert len(account.notes) == 1
    assert unclaimed_of(db, "account_of") == 2
    page = db.maintenance("a look").run(scan(Note))
    assert (len(page), page.unclaimed) == (1, 2)


def test_a_strict_session_refuses_them() -> None:
    db = session(strict_budgets=True)
    with pytest.raises(UnclaimedItem, match="notes_of found 2 items in 'mixed'") as refused:
        db.run(notes_of("ada"))
    assert refused.value.example == {"PK": "A#ada", "SK": "NOTE#x#y"}


def test_one_invalid_item_names_its_key_and_can_be_skipped() -> None:
    db = session()
    db.store.execute(PutItem("mixed", {"PK": "A#ada", "SK": "NOTE#02", "owner": 5, "n": 2}))
    with pytest.raises(InvalidItem, match="The item at PK 'A#ada', SK 'NOTE#02' is not a valid Note"):
        db.run(notes_of("ada"))
    page = db.run(notes_of("ada").skipping_invalid())
    assert [note.n for note in page] == [1]
    (error,) = page.invalid
    assert error.item["SK"] == "NOTE#02"
    walked = db.run(notes_of("ada").skipping_invalid().walk(max_items=10))
    assert (len(walked), len(walked.invalid)) == (1, 1)
