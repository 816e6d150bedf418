"""Upserts, images, views, streams and counts of the library, on every store."""

from __future__ import annotations

import asyncio
from itertools import count as numbers
from typing import Any, ClassVar

import pytest
from msgspec.structs import replace
from pydantic import BaseModel, Field
from tests.encryption.sample import FixedKeys

from partita import (
    AsyncSession,
    Compressed,
    Encrypted,
    Entity,
    Images,
    Index,
    Key,
    Registry,
    Session,
    Table,
    TableNames,
    Version,
    batch_get,
    batch_write,
    count,
    delete,
    f,
    get,
    insert,
    put,
    query,
    transact,
    update,
    upsert,
)
from partita.errors import ConditionFailed, FieldSealed
from partita.operations import scan_items
from partita.store import Store

_names = numbers(1)

TABLE = Table("library", indexes=[Index("GSI1")], registry=Registry())


class Stats(BaseModel):
    seen: int = 0
    words: frozenset[str] = frozenset()


class Page(Entity, table=TABLE):
    primary: ClassVar = Key("SITE#{site}", "PAGE#{name}")
    by_state: ClassVar = Key("STATE#{state}", "PAGE#{name}", index="GSI1")

    site: str
    name: str
    state: str = "draft"
    hits: int = 10
    lines: list[str] = Field(default_factory=list)
    tags: frozenset[str] = frozenset()
    stats: Stats = Stats()
    version: Version = 0


class Note(Entity, table=TABLE):
    primary: ClassVar = Key("SITE#{site}", "NOTE#{number:04}")

    site: str
    number: int
    text: str = ""


class Summary(BaseModel):
    name: str
    hits: int


@get(Page)
def page_at(site: str, name: str) -> None:
    """One page."""


@get(Page, view=Summary)
def summary_of(site: str, name: str) -> None:
    """The name and the hits of a page."""


@get(Note)
def note_at(site: str, number: int) -> None:
    """One note."""


@query(Note, Note.primary)
def notes_of(site: str) -> None:
    """The notes of a site."""


@count(Page, Page.by_state)
def count_pages(state: str) -> None:
    """The number of pages in a state."""


@pytest.fixture
def db(store: Store) -> Session:
    session = Session(store, table_names=TableNames(prefix=f"lib{next(_names)}-"))
    session.create_tables([TABLE])
    return session


def stored(db: Session) -> dict[str, Any]:
    (item,) = db.maintenance("look").run(scan_items(TABLE))
    return item


def test_an_upsert_makes_and_changes(db: Session) -> None:
    changes = (f(Page.hits).add(1), f(Page.lines).append(["a"]), f(Page.tags).add_members({"x"}))
    with db.meter.watch() as seen:
        made = db.run(upsert(page_at("s", "p"), *changes).images())
        changed = db.run(upsert(page_at("s", "p"), *changes, f(Page.state).set("live")).images())
    assert [run.requests for run in seen] == [("UpdateItem",)] * 2
    assert made == Images(None, Page(site="s", name="p", hits=11, lines=["a"], tags=frozenset("x"), version=1))
    assert changed.old == made.new
    assert (changed.new.hits, changed.new.lines, changed.new.version) == (12, ["a", "a"], 2)
    assert db.run(page_at("s", "p").consistent()) == changed.new
    assert (stored(db)["GSI1PK"], db.run(count_pages("live")), db.run(count_pages("draft"))) == ("STATE#live", 1, 0)


def test_an_upsert_has_conditions_and_transactions(db: Session) -> None:
    start = Page(site="s", name="p", hits=1)
    db.run(transact(upsert(start, f(Page.hits).add(1)), upsert(Note(site="s", number=1), f(Note.text).set("n"))))
    with pytest.raises(ConditionFailed) as caught:
        db.run(upsert(page_at("s", "p"), f(Page.hits).add(1)).when(f(Page.hits).lt(2)))
    assert caught.value.current.hits == 2
    assert db.run(note_at("s", 1)) == Note(site="s", number=1, text="n")


def test_changes_inside_fields(db: Session) -> None:
    db.run(insert(Page(site="s", name="p", lines=["a", "b", "c"], stats=Stats(words=frozenset("xy")))))
    changes = (
        f(Page.lines[1]).remove(),
        f(Page.stats.seen).add(2),
        f(Page.stats.words).remove_members({"x"}),
    )
    images = db.run(update(page_at("s", "p"), *changes).images())
    assert images.old.lines == ["a", "b", "c"]
    assert (images.new.lines, images.new.stats) == (["a", "c"], Stats(seen=2, words=frozenset("y")))
    assert db.run(page_at("s", "p").consistent()) == images.new
    more = db.run(update(images.new, f(Page.stats.words).add_members({"z"}), f(Page.lines).prepend(["0"])))
    assert (more.stats.words, more.lines) == (frozenset("yz"), ["0", "a", "c"])


def test_images_of_puts_and_deletes(db: Session) -> None:
    note = Note(site="s", number=1)
    assert db.run(put(note).images()) == Images(None, note)
    other = note.model_copy(update={"text": "x"})
    assert db.run(put(other).images()) == Images(note, other)
    assert db.run(delete(note_at("s", 1)).images()) == Images(other, None)


def test_views_and_many_keys(db: Session) -> None:
    page = db.run(insert(Page(site="s", name="p")))
    assert db.run(summary_of("s", "p")) == Summary(name="p", hits=10)
    notes = [Note(site="s", number=number) for number in range(220)]
    db.run(batch_write([put(note) for note in notes]))
    gets: list[Any] = [note_at("s", number) for number in range(230)]
    found = db.run(batch_get([*gets, summary_of("s", "p"), page_at("s", "p"), gets[0]]))
    assert found == (*notes, *[None] * 10, Summary(name="p", hits=10), page, notes[0])


def test_streams(db: Session, store: Store) -> None:
    notes = [Note(site="s", number=number) for number in range(30)]
    db.run(batch_write([put(note) for note in notes]))
    stream = db.stream(notes_of("s").page(7), max_items=20)
    assert (list(stream), stream.truncated) == (notes[:20], True)

    async def read() -> list[Note]:
        session = AsyncSession(store, table_names=db.table_names)
        return [note async for note in session.stream(replace(notes_of("s"), forward=False).page(7), max_items=100)]

    assert asyncio.run(read()) == notes[::-1]


class Vault(Entity, table=TABLE):
    primary: ClassVar = Key("VAULT#{owner}", "VAULT")

    owner: str
    pin: Encrypted[str]
    story: Compressed[str] = ""
    version: Version = 0


@get(Vault)
def vault_of(owner: str) -> None:
    """One vault."""


def test_large_and_secret_fields(db: Session, store: Store) -> None:
    sealed = Session(store, keys=FixedKeys(), table_names=db.table_names)
    saved = sealed.run(insert(Vault(owner="ada", pin="1234", story="once " * 1_000)))
    changed = sealed.run(update(saved, f(Vault.pin).set("9999")).images())
    assert (changed.old.pin, changed.new.pin) == ("1234", "9999")
    assert sealed.run(batch_get([vault_of("ada")])) == (changed.new,)
    item = stored(db)
    assert (item["pin"].startswith(b"\x00PE1"), len(item["story"]) < 100) == (True, True)
    with pytest.raises(FieldSealed):
        db.run(vault_of("ada"))
