"""Creating tables: only missing parts are created, repeating it does no harm, and conflicts are refused."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import pytest

from partita import (
    AsyncSession,
    EmbeddedStore,
    Entity,
    Index,
    Key,
    LocalIndex,
    Registry,
    Session,
    Table,
    VectorIndex,
    insert,
    query,
)
from partita.errors import ModelError, ValidationFailed
from partita.store import CreateIndex, CreateTable, DescribeTable, Request, SetStream, SetTimeToLive, TableDescription
from partita.testing import FaultyStore


def table(**settings: Any) -> Table:
    return Table("table", registry=Registry(), **settings)


def stored(db: Session) -> TableDescription:
    return db.store.execute(DescribeTable("table"))


@pytest.fixture
def db(partita_store: EmbeddedStore) -> Session:
    return Session(partita_store)


def test_a_table_is_created_with_all_that_is_declared(db: Session) -> None:
    declared = table(indexes=[Index("GSI1"), LocalIndex("LSI1")], ttl="ttl", stream="NEW_AND_OLD_IMAGES")
    db.create_tables([declared])
    assert stored(db).schema == declared.schema


def test_creating_twice_changes_nothing(db: Session, partita_store: EmbeddedStore) -> None:
    store = FaultyStore(partita_store)
    declared = table(indexes=[Index("GSI1")], ttl="ttl", stream="KEYS_ONLY")
    Session(store).create_tables([declared])
    before = stored(db)
    Session(store).create_tables([declared])
    assert stored(db) == before
    assert [type(request).__name__ for request in store.requests] == ["DescribeTable", "CreateTable", "DescribeTable"]


def test_an_async_session_creates_tables_too(db: Session, partita_store: EmbeddedStore) -> None:
    asyncio.run(AsyncSession(partita_store).create_tables([table()]))
    assert stored(db).schema.name == "table"


def test_a_new_index_is_added_and_filled(db: Session) -> None:
    db.create_tables([table(indexes=[Index("GSI1")])])
    grown = table(indexes=[Index("GSI1"), Index("GSI2")], ttl="ttl", stream="KEYS_ONLY")

    class Note(Entity, table=grown):
        primary: ClassVar = Key("N#{note_id}", "N")
        by_color: ClassVar = Key("C#{color}", "N#{note_id}", index="GSI2")
        note_id: str
        color: str

    @query(Note, Note.by_color)
    def notes_with_color(color: str) -> None: ...

    note = db.run(insert(Note(note_id="1", color="red")))
    db.create_tables([grown])
    assert stored(db).schema == grown.schema
    assert db.run(notes_with_color("red")).items == (note,)


def test_a_vector_index_is_added_too_and_never_replaced(db: Session) -> None:
    db.create_tables([table()])
    grown = table(indexes=[VectorIndex("by-meaning", "embedding", 3)])
    db.create_tables([grown])
    db.create_tables([grown])
    before = stored(db)
    assert before.schema.vectors == grown.schema.vectors
    with pytest.raises(ModelError, match="The index 'by-meaning' of 'table' differs in the store from its declaration"):
        db.create_tables([table(indexes=[VectorIndex("by-meaning", "embedding", 4)])])
    assert stored(db) == before


def test_what_is_stored_and_no_longer_declared_is_kept(db: Session) -> None:
    db.create_tables([table(indexes=[Index("GSI1")], ttl="ttl", stream="KEYS_ONLY")])
    before = stored(db)
    db.create_tables([table()])
    assert stored(db) == before


@pytest.mark.parametrize(
    ("other", "complaint"),
    [
        ({"hash": "id"}, "exists with the key PK and SK, but id and SK is declared"),
        ({"range": None}, "exists with the key PK and SK, but PK is declared"),
        ({"hash": ("PK", "N")}, "exists with the key"),
        (
            {"indexes": [Index("GSI1", "other")]},
            "The index 'GSI1' of 'table' differs in the store from its declaration",
        ),
        ({"indexes": [Index("GSI1", projection="KEYS_ONLY")]}, "The index 'GSI1'"),
        ({"indexes": [LocalIndex("LSI1")]}, "The index 'LSI1'"),
        ({"ttl": "other"}, "ttl"),
        ({"stream": "NEW_IMAGE"}, "stream"),
    ],
)
def test_a_table_that_cannot_be_brought_in_line_is_refused(db: Session, other: dict[str, Any], complaint: str) -> None:
    db.create_tables([table(indexes=[Index("GSI1")], ttl="ttl", stream="KEYS_ONLY")])
    before = stored(db)
    with pytest.raises(ModelError, match=complaint):
        db.create_tables([table(**other)])
    assert stored(db) == before


class Overtaken(FaultyStore):
    """A store in which another process always makes the same change of a table first."""

    def execute(self, request: Request[Any]) -> Any:
        if isinstance(request, CreateTable | CreateIndex | SetTimeToLive | SetStream):
            super().execute(request)
        return super().execute(request)


def test_two_processes_may_create_the_same_tables(db: Session, partita_store: EmbeddedStore) -> None:
    declared = table(indexes=[Index("GSI1")])
    Session(Overtaken(partita_store)).create_tables([declared])
    assert stored(db).schema == declared.schema


def test_two_processes_may_add_the_same_to_a_table(db: Session, partita_store: EmbeddedStore) -> None:
    db.create_tables([table()])
    grown = table(indexes=[Index("GSI1"), Index("GSI2")], ttl="ttl", stream="KEYS_ONLY")
    Session(Overtaken(partita_store)).create_tables([grown])
    assert stored(db).schema == grown.schema


class Refusing(FaultyStore):
    """A store that enables no stream."""

    def execute(self, request: Request[Any]) -> Any:
        if isinstance(request, SetStream):
            raise ValidationFailed("No streams.")
        return super().execute(request)


def test_a_change_that_the_store_refuses_is_not_repeated(db: Session, partita_store: EmbeddedStore) -> None:
    db.create_tables([table()])
    with pytest.raises(ValidationFailed, match="No streams"):
        Session(Refusing(partita_store)).create_tables([table(stream="KEYS_ONLY")])
