"""Entities that are distinguished by a type attribute, and attributes that no entity declares."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from partita import (
    EmbeddedStore,
    Entity,
    Index,
    Key,
    Registry,
    Session,
    Table,
    delete,
    f,
    get,
    insert,
    put,
    query,
    update,
)
from partita.errors import AlreadyExists, ConditionFailed, ItemMissing, ModelError
from partita.store import GetItem, PutItem

TABLE = Table("app", indexes=(Index("GSI1"),), type_attribute="entityType", registry=Registry())


class Person(Entity, table=TABLE, type_name="user"):
    primary: ClassVar = Key("ACCOUNT#{name}", "ACCOUNT")
    name: str
    age: int = 0


class Team(Entity, table=TABLE):
    primary: ClassVar = Key("ACCOUNT#{name}", "ACCOUNT")
    name: str
    size: int = 0


@get(Person)
def person_by_name(name: str) -> None:
    """A person."""


@get(Team)
def team_by_name(name: str) -> None:
    """A team."""


@query(Person, Person.primary)
def people_in(name: str) -> None:
    """People of an account."""


@pytest.fixture
def db() -> Session:
    session = Session(EmbeddedStore(":memory:"))
    session.create_tables([TABLE])
    return session


def raw(db: Session, name: str) -> dict[str, Any] | None:
    return db.store.execute(GetItem("app", {"PK": f"ACCOUNT#{name}", "SK": "ACCOUNT"})).item


def test_every_item_has_its_type(db: Session) -> None:
    db.run(insert(Person(name="ada")))
    db.run(insert(Team(name="north")))
    assert [(raw(db, name) or {})["entityType"] for name in ("ada", "north")] == ["user", "Team"]


def test_an_item_of_another_type_is_not_there(db: Session) -> None:
    db.run(insert(Team(name="north")))
    assert db.run(person_by_name("north")) is None
    assert list(db.run(people_in("north"))) == []
    assert db.run(team_by_name("north")) == Team(name="north")


def test_no_write_reaches_an_item_of_another_type(db: Session) -> None:
    db.run(insert(Team(name="north", size=3)))
    before = raw(db, "north")
    with pytest.raises(ItemMissing):
        db.run(update(person_by_name("north"), f(Person.age).set(1)))
    with pytest.raises(ConditionFailed):
        db.run(put(Person(name="north")))
    with pytest.raises(ConditionFailed):
        db.run(delete(person_by_name("north")))
    with pytest.raises(ConditionFailed):
        db.run(insert(Person(name="north")))
    assert raw(db, "north") == before


def test_an_item_of_the_own_type_is_written(db: Session) -> None:
    db.run(put(Person(name="ada")))
    db.run(put(Person(name="ada", age=1)))
    assert db.run(update(person_by_name("ada"), f(Person.age).add(1))).age == 2
    with pytest.raises(AlreadyExists):
        db.run(insert(Person(name="ada")))
    assert db.run(delete(person_by_name("ada"))) == Person(name="ada", age=2)


def test_without_a_type_attribute_two_entities_of_one_key_are_refused() -> None:
    table = Table("app", registry=Registry())

    class One(Entity, table=table):
        primary: ClassVar = Key("A#{name}", "A")
        name: str

    with pytest.raises(ModelError, match="type_attribute"):

        class Two(Entity, table=table):
            primary: ClassVar = Key("A#{name}", "A")
            name: str


def test_two_entities_of_one_type_or_name_are_refused() -> None:
    table = Table("app", type_attribute="kind", registry=Registry())

    class One(Entity, table=table, type_name="thing"):
        primary: ClassVar = Key("A#{name}", "A")
        name: str

    with pytest.raises(ModelError, match="both have the type 'thing'"):

        class Two(Entity, table=table, type_name="thing"):
            primary: ClassVar = Key("B#{name}", "B")
            name: str

    def again() -> None:
        class One(Entity, table=table, type_name="other"):
            primary: ClassVar = Key("C#{name}", "C")
            name: str

    with pytest.raises(ModelError, match="two entities named 'One'"):
        again()


def test_a_type_name_needs_a_type_attribute() -> None:
    with pytest.raises(ModelError, match="has no type attribute"):

        class One(Entity, table=Table("app", registry=Registry()), type_name="one"):
            primary: ClassVar = Key("A#{name}", "A")
            name: str


def test_a_type_attribute_is_neither_a_key_nor_a_field() -> None:
    with pytest.raises(ModelError, match="is a key attribute"):
        Table("app", type_attribute="PK", registry=Registry())
    with pytest.raises(ModelError, match="is the type attribute"):

        class One(Entity, table=Table("app", type_attribute="kind", registry=Registry())):
            primary: ClassVar = Key("A#{kind}", "A")
            kind: str


def test_unknown_attributes_go_along_where_they_are_allowed() -> None:
    table = Table("app", indexes=(Index("GSI1"),), type_attribute="kind", registry=Registry())

    class Loose(Entity, table=table, extra="allow"):
        primary: ClassVar = Key("A#{name}", "A")
        by_owner: ClassVar = Key("O#{owner}", "A", index="GSI1")
        name: str
        owner: str | None = None

    @get(Loose)
    def loose_by_name(name: str) -> None:
        """An entity that allows undeclared attributes, by its name."""

    db = Session(EmbeddedStore(":memory:"))
    db.create_tables([table])
    item = {
        "PK": "A#a",
        "SK": "A",
        "kind": "Loose",
        "GSI1PK": "O#ada",
        "GSI1SK": "A",
        "name": "a",
        "owner": "ada",
        "color": "red",
        "sizes": {1, 2},
        "more": {"deep": [b"x", None, True]},
    }
    db.store.execute(PutItem("app", item))
    found = db.run(loose_by_name("a"))
    assert found is not None
    db.run(put(found))
    assert db.store.execute(GetItem("app", {"PK": "A#a", "SK": "A"})).item == item
    db.run(put(found.model_copy(update={"owner": None})))
    left = db.store.execute(GetItem("app", {"PK": "A#a", "SK": "A"})).item
    assert left == {name: value for name, value in item.items() if name not in ("owner", "GSI1PK", "GSI1SK")}
