"""Entities read back as they were stored: TTLs, aliases, serializers and nested models."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, ClassVar

import pytest
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Json, PlainSerializer, RootModel, computed_field
from pydantic import field_serializer as serializer

from partita import (
    EmbeddedStore,
    Entity,
    Index,
    Key,
    Registry,
    Session,
    Table,
    absent,
    f,
    get,
    insert,
    put,
    query,
    update,
)
from partita.errors import AlreadyExists, OperationError
from partita.model._entity import schema_of

TABLE = Table("things", ttl="expires_at", registry=Registry())


def lock(text: str) -> str:
    return f"locked:{text[::-1]}"


def unlock(text: str) -> str:
    return text.removeprefix("locked:")[::-1] if text.startswith("locked:") else text


class Tags(RootModel[list[str]]):
    pass


class Box(BaseModel):
    model_config = ConfigDict(extra="forbid")

    width: int
    labels: frozenset[str] = frozenset()

    @computed_field  # type: ignore[prop-decorator]
    @property
    def area(self) -> int:
        return self.width**2


class Thing(Entity, table=TABLE):
    primary: ClassVar = Key("THING#{thing_id}", "X")

    thing_id: str
    secret: Annotated[str, BeforeValidator(unlock), PlainSerializer(lock)] = ""
    shouted: str = ""
    tags: Tags = Tags([])
    box: Box | None = None
    numbers: Json[list[int]] | None = None
    stock: int = Field(default=0, ge=0)
    owner: str | None = Field(default=None, alias="ownerName")
    owner_id: str = Field(default="", alias="owner")
    expires_at: datetime | None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def doubled(self) -> int:
        return self.stock * 2

    @serializer("shouted")
    def _shout(self, value: str) -> str:
        return value.upper()


class ThingView(BaseModel):
    thing_id: str
    expires_at: datetime | None


@get(Thing)
def thing_by_id(thing_id: str) -> None:
    """One thing."""


@query(Thing, Thing.primary)
def things(thing_id: str) -> None:
    """All things with an identifier."""


@query(Thing, Thing.primary, view=ThingView)
def briefly(thing_id: str) -> None:
    """All things with an identifier, read into a view with their expiry only."""


def thing(**fields: Any) -> Thing:
    return Thing(thing_id="1", **{"expires_at": None, **fields})


def item_of(value: Thing) -> dict[str, Any]:
    return schema_of(Thing).item(value)


@pytest.fixture
def db(partita_db: Session) -> Session:
    partita_db.create_tables([TABLE])
    return partita_db


# --- writing and reading ---


@pytest.mark.parametrize(
    "fields",
    [
        {"box": Box(width=2)},
        {"box": Box(width=2, labels=frozenset("a"))},
        {"numbers": "[1, 2]"},
        {"tags": Tags(["a"])},
        {"secret": "swordfish"},
        {"ownerName": None, "owner": "u7"},
        {"ownerName": "Ada", "owner": "u7"},
        {"expires_at": datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)},
        {"expires_at": datetime(2700, 1, 1, tzinfo=UTC)},
    ],
)
def test_what_is_stored_reads_back_the_same(fields: dict[str, Any], db: Session) -> None:
    saved = db.run(insert(thing(**fields)))
    assert db.run(thing_by_id("1")) == saved
    assert db.run(put(saved)) == saved
    assert db.run(thing_by_id("1")) == saved


def test_what_is_computed_is_not_stored() -> None:
    item = item_of(thing(stock=2, box=Box(width=2)))
    assert "doubled" not in item
    assert item["box"] == {"width": 2}


def test_the_last_instant_of_all_is_stored_in_whole_seconds() -> None:
    assert item_of(thing(expires_at=datetime.max.replace(tzinfo=UTC)))["expires_at"] == 253_402_300_799


def test_an_expiry_beyond_all_years_reads_as_the_last_instant(db: Session) -> None:
    item = item_of(thing()) | {"expires_at": 10**12}
    found = schema_of(Thing).entity(item)
    assert found.expires_at == datetime.max.replace(tzinfo=UTC)


def test_a_view_reads_a_far_expiry_too(db: Session) -> None:
    far = datetime(2700, 1, 1, tzinfo=UTC)
    db.run(insert(thing(expires_at=far)))
    assert [found.expires_at for found in db.run(briefly("1")).items] == [far]


def test_an_instant_before_the_first_year_in_utc_is_refused() -> None:
    early = datetime.min.replace(tzinfo=UTC).astimezone(UTC).replace(tzinfo=_east())
    with pytest.raises(OperationError, match="outside the years"):
        item_of(thing(expires_at=early))


def _east() -> Any:
    from datetime import timezone

    return timezone(timedelta(hours=12))


# --- conditions and changes in the form of the field ---


def test_a_change_is_stored_as_a_put_stores_it(db: Session) -> None:
    saved = db.run(insert(thing(secret="a")))
    changes = [f(Thing.secret).set("swordfish"), f(Thing.shouted).set("hey"), f(Thing.tags).set(Tags(["x"]))]
    changed = db.run(update(saved, *changes))
    assert changed.secret == "swordfish"
    assert item_of(changed)["secret"] == "locked:hsifdrows"
    assert (changed.shouted, changed.tags) == ("HEY", Tags(["x"]))


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        (lambda: f(Thing.secret).eq("swordfish"), 1),
        (lambda: f(Thing.secret).eq("other"), 0),
        (lambda: f(Thing.shouted).is_in(["hey"]), 1),
        (lambda: f(Thing.tags).eq(Tags(["x"])), 1),
        (lambda: f(Thing.box).eq(Box(width=3)), 1),
    ],
)
def test_a_condition_compares_with_what_is_stored(condition: Callable[[], Any], found: int, db: Session) -> None:
    db.run(insert(thing(secret="swordfish", shouted="hey", tags=Tags(["x"]), box=Box(width=3))))
    assert len(db.run(things("1").where(condition())).items) == found


@pytest.mark.parametrize("change", [lambda: f(Thing.stock).set(-1), lambda: f(Thing.owner_id).set(None)])  # type: ignore[arg-type]
def test_a_value_that_could_not_be_read_is_refused_before_it_is_written(change: Callable[[], Any], db: Session) -> None:
    saved = db.run(insert(thing()))
    for at in (saved, thing_by_id("1")):
        with pytest.raises(OperationError, match=r"Thing\.\w+ cannot be set to this"):
            update(at, change())
    assert db.run(thing_by_id("1")) == saved


# --- a TTL that may be None ---


def test_an_item_that_never_expires_is_there_for_every_operation(db: Session) -> None:
    saved = db.run(insert(thing(owner="first")))
    with pytest.raises(AlreadyExists):
        db.run(insert(thing(owner="second")))
    assert db.run(things("1").count()) == 1
    assert db.run(update(thing_by_id("1"), f(Thing.owner).set("third"))).owner == "third"
    with pytest.raises(Exception, match="ConditionalCheckFailed"):
        db.transact(absent(thing_by_id("1")))
    assert db.run(update(saved, f(Thing.expires_at).set(None))).expires_at is None


# --- an index key that may be None ---


def test_an_index_key_that_is_none_stays_off_its_index(partita_store: EmbeddedStore) -> None:
    place = Table("coded", indexes=[Index("GSI1", hash="code", range=False)], registry=Registry())

    class Coded(Entity, table=place):
        primary: ClassVar = Key("CODED#{coded_id}", "X")
        by_code: ClassVar = Key("{code}", index="GSI1")

        coded_id: str
        code: str | None = None

    db = Session(partita_store)
    db.create_tables([place])
    assert db.run(insert(Coded(coded_id="1", code=None))).code is None
