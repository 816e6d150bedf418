"""The attributes in which an entity is stored: bare keys, aliases, and a table for each entity."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, ClassVar

import pytest
from pydantic import AliasChoices, BaseModel, Field

from partita import (
    Entity,
    Index,
    Key,
    Registry,
    Session,
    Span,
    Table,
    Version,
    f,
    get,
    insert,
    put,
    query,
    update,
)
from partita.errors import InvalidKey, ModelError
from partita.model._entity import schema_of
from partita.operations import scan_items


def stored(db: Session, table: Table) -> list[dict[str, Any]]:
    return list(db.maintenance("look at what is stored").run(scan_items(table)))


def item_of(entity: Entity) -> dict[str, Any]:
    return schema_of(type(entity)).item(entity)


# --- bare keys ---

COUNTRIES = Table(
    "numbered-countries", hash=("code", "N"), range=None, indexes=[Index("names", "name", False)], registry=Registry()
)
BLOBS = Table("blobs", hash=("digest", "B"), range=("at", "N"), registry=Registry())


class Country(Entity, table=COUNTRIES):
    primary: ClassVar = Key("{code}")
    by_name: ClassVar = Key("{name}", index="names")
    code: int
    name: str | None = None


class Blob(Entity, table=BLOBS):
    primary: ClassVar = Key("{digest}", "{at}")
    digest: bytes
    at: Decimal


@get(Country)
def country_by_code(code: int) -> None: ...


@query(Country, Country.by_name)
def countries_named(name: str) -> None: ...


@query(Blob, Blob.primary)
def blobs_between(digest: bytes, at: Span[Decimal]) -> None: ...


def test_a_bare_key_is_the_field_itself() -> None:
    assert item_of(Country(code=756, name="Schweiz")) == {"code": 756, "name": "Schweiz"}
    assert item_of(Blob(digest=b"\x00#", at=Decimal("1.5"))) == {"digest": b"\x00#", "at": Decimal("1.5")}


def test_bare_keys_of_every_type_are_read_back(partita_db: Session) -> None:
    partita_db.create_tables([COUNTRIES, BLOBS])
    swiss = partita_db.run(insert(Country(code=756, name="Schweiz")))
    assert partita_db.run(country_by_code(756)) == swiss
    assert partita_db.run(countries_named("Schweiz")).items == (swiss,)
    blobs = [partita_db.run(put(Blob(digest=b"\xff", at=Decimal(at)))) for at in ("-1", "0.5", "2", "10")]
    found = partita_db.run(blobs_between(b"\xff", Span.between(Decimal(0), Decimal(2))))
    assert found.items == tuple(blobs[1:3])


def test_a_sparse_bare_index_key_leaves_the_index_when_it_becomes_none(partita_db: Session) -> None:
    partita_db.create_tables([COUNTRIES])
    partita_db.run(insert(Country(code=1, name="Atlantis")))
    partita_db.run(update(country_by_code(1), f(Country.name).set(None)))
    assert partita_db.run(countries_named("Atlantis")).items == ()
    assert partita_db.run(country_by_code(1)) == Country(code=1)


@pytest.mark.parametrize("span", [Span.since(Decimal(2)), Span.after(Decimal("0.5")), Span(Decimal(1), Decimal(99))])
def test_spans_of_bare_numbers_compare_numerically(partita_db: Session, span: Span[Decimal]) -> None:
    partita_db.create_tables([BLOBS])
    blobs = [partita_db.run(put(Blob(digest=b"\xff", at=Decimal(at)))) for at in ("-1", "0.5", "2", "10")]
    assert partita_db.run(blobs_between(b"\xff", span)).items == tuple(blobs[2:])


@pytest.mark.parametrize(
    ("span", "complaint"),
    [
        (Span(Decimal(1), Decimal(2), include_low=False), "must include both"),
        (Span(Decimal(2), Decimal(1)), "ends before it begins"),
        (Span(), "has no end"),
    ],
)
def test_spans_that_a_bare_key_cannot_serve_are_refused(span: Span[Decimal], complaint: str) -> None:
    with pytest.raises(InvalidKey, match=complaint):
        blobs_between(b"\xff", span)


# --- aliases ---

ALIASED = Table("aliased", indexes=[Index("GSI1")], registry=Registry())


class Inner(BaseModel):
    street_name: str = Field(alias="s")


class Aliased(Entity, table=ALIASED):
    primary: ClassVar = Key("A#{owner}", "A")
    by_color: ClassVar = Key("COLOR#{color}", "A", index="GSI1")
    owner: str = Field(alias="o")
    color: str | None = Field(default=None, alias="c")
    inner: Inner | None = Field(default=None, alias="i")
    version: Version = Field(default=0, alias="v")


@get(Aliased)
def aliased_by_owner(owner: str) -> None: ...


@query(Aliased, Aliased.by_color)
def aliased_with_color(color: str) -> None: ...


def test_fields_are_stored_under_their_aliases(partita_db: Session) -> None:
    partita_db.create_tables([ALIASED])
    saved = partita_db.run(insert(Aliased(o="me", c="red", i=Inner(s="High"))))
    expected = {
        "PK": "A#me",
        "SK": "A",
        "GSI1PK": "COLOR#red",
        "GSI1SK": "A",
        "o": "me",
        "c": "red",
        "i": {"s": "High"},
    }
    assert stored(partita_db, ALIASED) == [{**expected, "v": 1}]
    assert partita_db.run(aliased_by_owner("me")) == saved


def test_updates_conditions_and_versions_use_aliases(partita_db: Session) -> None:
    partita_db.create_tables([ALIASED])
    saved = partita_db.run(insert(Aliased(o="me", c="red", i=Inner(s="High"))))
    change = update(saved, f(Aliased.color).set("blue"), f(Aliased.inner).set(Inner(s="Low")))
    changed = partita_db.run(change.when(f(Aliased.color).eq("red")))
    assert (changed.color, changed.inner, changed.version) == ("blue", Inner(s="Low"), 2)
    assert partita_db.run(aliased_with_color("red")).items == ()
    assert partita_db.run(aliased_with_color("blue")).items == (changed,)


@pytest.mark.parametrize(
    "field",
    [
        Field(serialization_alias="x"),
        Field(validation_alias="x"),
        Field(validation_alias=AliasChoices("x", "y")),
        Field(alias="x", serialization_alias="y"),
    ],
)
def test_an_alias_that_is_not_the_same_both_ways_is_refused(field: Any) -> None:
    with pytest.raises(ModelError, match="alias"):

        class OneWay(Entity, table=Table("one-way", registry=Registry())):
            primary: ClassVar = Key("A#{owner}", "A")
            owner: str
            color: str = field


# --- a table for each entity ---


def test_entities_of_different_tables_may_have_the_same_keys(partita_db: Session) -> None:
    tables = [Table(name, hash="id", range=None, registry=Registry()) for name in ("cats", "dogs")]

    class Cat(Entity, table=tables[0]):
        primary: ClassVar = Key("{id}")
        id: str

    class Dog(Entity, table=tables[1]):
        primary: ClassVar = Key("{id}")
        id: str

    partita_db.create_tables(tables)
    partita_db.run(insert(Cat(id="1")))
    partita_db.run(insert(Dog(id="1")))
    assert [stored(partita_db, table) for table in tables] == [[{"id": "1"}], [{"id": "1"}]]
