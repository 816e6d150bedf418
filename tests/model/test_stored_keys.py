"""An item is written back under the key that it was read from."""

from __future__ import annotations

import pickle
from copy import copy, deepcopy
from datetime import UTC, datetime
from typing import Any, ClassVar

import pytest

from partita import (
    EmbeddedStore,
    Entity,
    Key,
    Registry,
    Session,
    Table,
    Version,
    delete,
    f,
    get,
    insert,
    put,
    query,
    update,
)
from partita.errors import AlreadyExists
from partita.model import schema_of
from partita.store import GetItem, PutItem, ScanTable

TABLE = Table("people", hash="pk", range="sk", registry=Registry())


class Person(Entity, table=TABLE):
    primary: ClassVar = Key("USER#{email}", "JOINED#{joined}")
    email: str
    joined: datetime
    age: int = 0
    version: Version = 0


@query(Person, Person.primary)
def person(email: str) -> None:
    """A person by their address."""


@get(Person)
def person_since(email: str, joined: datetime) -> None:
    """A person by their address and the instant when they joined."""


ODD = {"pk": "USER#ada@x.de", "sk": "JOINED#2020-01-01T00:00:00Z"}


@pytest.fixture
def db() -> Session:
    session = Session(EmbeddedStore(":memory:"))
    session.create_tables([TABLE])
    stored = {**ODD, "email": "Ada@x.de", "joined": "2020-01-01T00:00:00Z", "age": 1, "version": 1}
    session.store.execute(PutItem("people", stored))
    return session


def stored(db: Session) -> list[dict[str, Any]]:
    return list(db.store.execute(ScanTable("people", limit=10)).items)


def ada(db: Session) -> Person:
    found = db.run(person("ada@x.de").first())
    assert found is not None
    return found


def test_an_update_reaches_the_item_that_was_read(db: Session) -> None:
    assert db.run(update(ada(db), f(Person.age).set(2))).age == 2
    assert [(item["pk"], item["sk"], item["age"]) for item in stored(db)] == [(*ODD.values(), 2)]


def test_a_delete_reaches_the_item_that_was_read(db: Session) -> None:
    assert db.run(delete(ada(db))) is not None
    assert stored(db) == []


@pytest.mark.parametrize("copied", [lambda p: p, copy, deepcopy, lambda p: pickle.loads(pickle.dumps(p))])  # noqa: S301
def test_a_put_replaces_the_item_that_was_read(db: Session, copied: Any) -> None:
    db.run(put(copied(ada(db)).with_changes(f(Person.age).set(3))))
    db.run(put(ada(db).model_copy(update={"age": 4})))
    assert [(item["pk"], item["sk"], item["age"]) for item in stored(db)] == [(*ODD.values(), 4)]


def test_an_insert_meets_the_item_that_was_read(db: Session) -> None:
    with pytest.raises(AlreadyExists):
        db.run(insert(ada(db).model_copy(update={"version": 0})))


def test_a_changed_key_is_a_new_key(db: Session) -> None:
    db.run(put(ada(db).model_copy(update={"email": "bob@x.de", "version": 0})))
    assert {item["pk"] for item in stored(db)} == {"USER#ada@x.de", "USER#bob@x.de"}


@pytest.mark.parametrize("read", [True, False])
def test_a_copy_with_a_changed_key_is_another_item(db: Session, *, read: bool) -> None:
    joined = datetime(2021, 1, 1, tzinfo=UTC)
    eve = db.run(insert(Person(email="eve@x.de", joined=joined)))
    if read:
        eve = db.run(person_since("eve@x.de", joined)) or eve
    for original in (eve, Person(email="eve@x.de", joined=joined), ada(db)):
        bob = original.with_changes(f(Person.email).set("bob@x.de"), f(Person.version).set(0))
        assert Person.__entity__.key(bob)["pk"] == "USER#bob@x.de"
        assert Person.__entity__.key(bob.with_changes(f(Person.age).set(7)))["pk"] == "USER#bob@x.de"
        back = bob.with_changes(f(Person.email).set(original.email))
        assert Person.__entity__.key(back) == Person.__entity__.key(original)


def test_an_entity_that_was_read_equals_one_that_was_made(db: Session) -> None:
    made = Person(email="Ada@x.de", joined=datetime(2020, 1, 1, tzinfo=UTC), age=1, version=1)
    found = ada(db)
    assert found == made
    assert found.model_dump() == made.model_dump()
    assert "stored_key" not in repr(found)
    assert hash(found) == hash(made)


def test_an_item_under_the_key_of_its_fields_remembers_nothing(db: Session) -> None:
    joined = datetime(2021, 1, 1, tzinfo=UTC)
    db.run(insert(Person(email="a b@x.de", joined=joined)))
    found = db.run(person_since("a b@x.de", joined))
    assert found is not None
    assert set(vars(found)) == {"email", "joined", "age", "version"}


STEPS = Table("steps", registry=Registry())


class Step(Entity, table=STEPS):
    primary: ClassVar = Key("A#{name}", "N#{n:06}")
    name: str
    n: int
    done: bool = False


@query(Step, Step.primary)
def steps(name: str) -> None:
    """Steps."""


@pytest.fixture
def session() -> Session:
    session = Session(EmbeddedStore(":memory:"))
    session.create_tables([STEPS])
    return session


def test_numbers_of_another_width_are_each_written_back_where_they_stand(session: Session) -> None:
    keys = ("N#0000017", "N#000017", "N#17")
    for key in keys:
        session.store.execute(PutItem("steps", {"PK": "A#a", "SK": key, "name": "a", "n": 17}))
    for step in session.run(steps("a")):
        session.run(update(step, f(Step.done).set(True)))
    items = session.store.execute(ScanTable("steps", limit=10)).items
    assert sorted((item["SK"], item["done"]) for item in items) == [(key, True) for key in keys]
    assert session.store.execute(GetItem("steps", {"PK": "A#a", "SK": "N#17"})).item is not None


@pytest.mark.parametrize("range_", ["N#{n}", "N#{n}#{part:02}"])
@pytest.mark.parametrize("name", ["a b", "50%", "a!", "plain"])
def test_a_key_that_was_not_escaped_is_written_back_where_it_stands(name: str, range_: str) -> None:
    table = Table("steps", registry=Registry())

    class Step(Entity, table=table):
        primary: ClassVar = Key("A#{name}", range_)
        name: str
        n: str
        part: int = 1
        done: bool = False

    session = Session(EmbeddedStore(":memory:"))
    session.create_tables([table])
    key = {"PK": f"A#{name}", "SK": "N#x" if range_ == "N#{n}" else "N#x#01"}
    session.store.execute(PutItem("steps", {**key, "name": name, "n": "x"}))
    (stored,) = session.store.execute(ScanTable("steps", limit=10)).items
    session.run(put(schema_of(Step).entity(stored).model_copy(update={"done": True})))
    (item,) = session.store.execute(ScanTable("steps", limit=10)).items
    assert {**key, "done": True}.items() <= item.items()


def test_a_key_that_is_odd_in_all_its_parts_is_written_back_where_it_stands(session: Session) -> None:
    session.store.execute(PutItem("steps", {"PK": "A#Ada", "SK": "N#17", "name": "ada", "n": 17}))
    (step,) = session.run(steps("Ada"))
    session.run(update(step, f(Step.done).set(True)))
    (item,) = session.store.execute(ScanTable("steps", limit=10)).items
    assert (item["PK"], item["SK"], item["done"]) == ("A#Ada", "N#17", True)


def test_a_field_that_stands_in_an_odd_key_alone_is_written_back_where_it_stands(session: Session) -> None:
    session.store.execute(PutItem("steps", {"PK": "A#ada", "SK": "N#17", "name": "ada"}))
    (step,) = session.run(steps("ada"))
    session.run(update(step, f(Step.done).set(True)))
    (item,) = session.store.execute(ScanTable("steps", limit=10)).items
    assert (step.n, item["SK"], item["done"]) == (17, "N#17", True)
