"""Migrations of items with encrypted fields: what they receive and return, and errors that do not show the values."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

import pytest

from partita import EmbeddedStore, Encrypted, Entity, Get, Key, Registry, Session, Table, get, insert
from partita.encryption import LocalKeys
from partita.errors import FieldSealed, InvalidItem
from partita.model import schema_of
from partita.recipes.versioned import Migrations, VersionedTable
from partita.store import GetItem
from partita.values import Item, Plaintext

SECRET = "s3cret"
KEY = {"PK": "PERSON#1", "SK": "PERSON"}


class First(Entity, table=Table("people", registry=Registry())):
    """Version 1."""

    primary: ClassVar = Key("PERSON#{number}", "PERSON")
    number: str
    pin: Encrypted[str]
    plain: str = "x"


@get(First)
def first(number: str) -> None:
    """Someone in version 1."""


FIRST = VersionedTable(first, data_version=1, example=First(number="1", pin="1"))


def second(migration: Any) -> Any:
    """The table in version 2, with an encrypted and a plain field."""

    class Second(Entity, table=Table("people", registry=Registry())):
        primary: ClassVar = Key("PERSON#{number}", "PERSON")
        number: str
        code: Encrypted[str] = ""
        plain: int = 0

    @get(Second)
    def by_number(number: str) -> None:
        """Someone in version 2."""

    example = Second(number="1")
    return VersionedTable(by_number, data_version=2, example=example, migrations=Migrations({1: migration}))


def moves(item: Item) -> Item:
    return {"number": item["number"], "code": item["pin"]}


def changes(item: Item) -> Item:
    return {"number": item["number"], "code": Plaintext(item["pin"].value.upper())}


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Session]:
    with closing(EmbeddedStore(":memory:")) as store:
        session = Session(store, keys=LocalKeys.create(tmp_path / "keys.json"))
        session.create_tables([FIRST.form.schema.table])
        session.run(FIRST.insert(First(number="1", pin=SECRET)))
        yield session


@pytest.mark.parametrize(("migration", "code"), [(moves, SECRET), (changes, SECRET.upper())])
def test_a_migration_can_move_or_change_an_encrypted_value(db: Session, migration: Any, code: str) -> None:
    table = second(migration)
    read = db.run(table.read("1"))
    assert read.data.code == code
    db.run(table.update(read))
    assert code.encode() not in (db.store.execute(GetItem("people", KEY)).item or {})["code"]
    assert db.run(table.read("1")).data.code == code


@pytest.mark.parametrize(
    ("migration", "words"),
    [
        (lambda item: {"number": "1", "plain": int(item["pin"].value)}, "from data version 1 to 2 raised ValueError"),
        (lambda item: item["pin"].value, "returned a str, not an item"),
        (lambda item: {"number": "1", "plain": item["pin"].value}, "plain: Input should be a valid integer"),
        (lambda item: {"number": "1", "plain": item["pin"]}, "plain: Input should be a valid integer"),
        (lambda item: {"number": "1", "code": item["pin"].value}, "Return it as Plaintext"),
        (lambda item: {"number": "1", "code": Plaintext([item["pin"].value])}, "code: Input should be a valid string"),
    ],
)
def test_an_error_names_the_item_and_shows_no_encrypted_value(db: Session, migration: Any, words: str) -> None:
    with pytest.raises(InvalidItem) as raised:
        db.run(second(migration).read("1"))
    assert "The Second at PK 'PERSON#1', SK 'PERSON'" in str(raised.value)
    assert words in str(raised.value)
    assert SECRET not in "".join(traceback.format_exception(raised.value))


def test_an_error_shows_where_the_migration_failed(db: Session) -> None:
    def fails(item: Item) -> Item:
        raise ValueError(item["pin"].value)

    with pytest.raises(InvalidItem) as raised:
        db.run(second(fails).read("1"))
    shown = "".join(traceback.format_exception(raised.value))
    assert "in fails" in shown
    assert "ValueError, without its message" in shown


def test_without_keys_the_value_is_named_as_sealed(db: Session) -> None:
    with pytest.raises(FieldSealed):
        Session(db.store).run(second(moves).read("1"))


class AsText(Entity, table=Table("numbers", registry=Registry())):
    """An item with an encrypted text."""

    primary: ClassVar = Key("N#{number}", "N")
    number: str
    pin: Encrypted[str]


class AsNumber(Entity, table=Table("numbers", registry=Registry())):
    """The same item, read as an encrypted number."""

    primary: ClassVar = Key("N#{number}", "N")
    number: str
    pin: Encrypted[int]


@get(AsNumber)
def as_number(number: str) -> None:
    """One number."""


def test_an_encrypted_value_that_does_not_fit_is_not_shown(tmp_path: Path) -> None:
    with closing(EmbeddedStore(":memory:")) as store:
        db = Session(store, keys=LocalKeys.create(tmp_path / "keys.json"))
        db.create_tables([schema_of(AsNumber).table])
        db.run(insert(AsText(number="1", pin=SECRET)))
        read: Get[AsNumber] = as_number("1")
        with pytest.raises(InvalidItem, match="pin: Input should be a valid integer") as raised:
            db.run(read)
    assert SECRET not in "".join(traceback.format_exception(raised.value))
