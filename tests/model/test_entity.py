"""Entities and their stored form: derived keys, values of every type, expiry, and reading items."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import IntEnum
from pathlib import Path
from typing import Any, ClassVar
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, ValidationError
from tests.model.sample import Address, Comment, Status, Task, User, steady, user_by_id

from partita import (
    EmbeddedStore,
    Entity,
    Key,
    Registry,
    Session,
    Table,
    f,
    get,
    insert,
    query,
    update,
)
from partita.errors import InvalidItem, InvalidKey, ModelError, OperationError
from partita.model._entity import EntityMeta, schema_of
from partita.store import PutItem


def item_of(entity: Entity) -> dict[str, Any]:
    return schema_of(type(entity)).item(entity)


# --- derived keys ---


@pytest.mark.req("A04")
def test_every_key_is_derived_from_the_fields() -> None:
    task = Task(user_id="u", task_id="t", due=date(2026, 1, 2), points=-7)
    assert item_of(task) == {
        "PK": "USER#u",
        "SK": "TASK#t",
        "GSI1PK": "USER#u",
        "GSI1SK": "STATUS#open#t",
        "GSI2PK": "USER#u",
        "GSI2SK": "DUE#2026-01-02#t",
        "LSI1SK": "POINTS#n9992",
        "user_id": "u",
        "task_id": "t",
        "title": "",
        "status": "open",
        "due": "2026-01-02",
        "points": -7,
        "notes": [],
        "version": 0,
    }


def test_an_index_key_with_a_missing_field_is_left_out() -> None:
    item = item_of(Task(user_id="u", task_id="t"))
    assert sorted(name for name in item if name.startswith(("GSI", "LSI"))) == ["GSI1PK", "GSI1SK"]


def test_an_empty_key_field_is_refused() -> None:
    with pytest.raises(InvalidKey, match="empty"):
        item_of(Task(user_id="", task_id="t"))


@pytest.mark.parametrize(("user_id", "task_id"), [("u" * 2044, "t"), ("u", "t" * 1020)])
def test_a_key_that_is_too_long_is_refused_before_it_is_sent(user_id: str, task_id: str) -> None:
    with pytest.raises(InvalidKey, match="bytes; at most"):
        item_of(Comment(user_id=user_id, comment_id=task_id * 2))


def test_keys_as_long_as_allowed_are_accepted(db: Session) -> None:
    user = User(user_id="u" * 2043, name="x")
    assert db.run(insert(user)) == user


# --- values ---


class Level(IntEnum):
    LOW = 1


class Everything(Entity, table=Table("everything", registry=Registry())):
    primary: ClassVar = Key("E#{name}", "E")
    name: str
    whole: int
    exact: Decimal
    rough: float
    flag: bool
    raw: bytes
    day: date
    instant: datetime
    clock: time
    length: timedelta
    identity: UUID
    level: Level
    status: Status
    address: Address
    maybe: str | None
    numbers: list[int]
    by_name: dict[str, Decimal]
    pairs: tuple[int, str]
    colors: set[str] = Field(default_factory=set)
    counts: frozenset[int] = frozenset()


@get(Everything)
def everything_named(name: str) -> None: ...


small = st.text(st.characters(codec="utf-8"), max_size=5)
decimals = st.decimals(-(10**9), 10**9, places=3)
everything = st.builds(
    Everything,
    name=small.filter(bool),
    whole=st.integers(-(10**30), 10**30),
    exact=decimals,
    rough=st.floats(-1e100, 1e100, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-100),
    raw=st.binary(max_size=4),
    day=st.dates(),
    instant=st.datetimes(timezones=st.just(UTC)),
    clock=st.times(),
    length=st.timedeltas(timedelta(days=-9999), timedelta(days=9999)),
    identity=st.uuids(),
    level=st.just(Level.LOW),
    address=st.builds(Address, city=small, street=st.none() | small),
    maybe=st.none() | small,
    numbers=st.lists(st.integers(-9, 9), max_size=3),
    by_name=st.dictionaries(small.filter(bool), decimals, max_size=2),
    pairs=st.tuples(st.integers(0, 9), small),
    colors=st.sets(small, max_size=2),
    counts=st.frozensets(st.integers(-9, 9), max_size=2),
)


@steady
@given(everything)
def test_every_value_comes_back_as_it_was_stored(entity: Everything) -> None:
    with EmbeddedStore(":memory:") as store:
        db = Session(store)
        db.create_tables([schema_of(Everything).table])
        db.run(insert(entity))
        assert db.run(everything_named(entity.name)) == entity


@pytest.mark.parametrize("rough", [float("nan"), float("inf")])
def test_a_number_that_dynamodb_cannot_hold_is_refused(rough: float) -> None:
    with pytest.raises(OperationError, match="not a number that DynamoDB can store"):
        f(Everything.rough).set(rough)


def test_an_instant_without_a_time_zone_is_refused() -> None:
    with pytest.raises(OperationError, match="has no time zone"):
        f(Everything.instant).set(datetime(2026, 1, 1))  # noqa: DTZ001


def test_a_ttl_without_a_time_zone_is_refused() -> None:
    with pytest.raises(OperationError, match="has no time zone"):
        item_of(Task(user_id="u", task_id="t", expires_at=datetime(2026, 1, 1)))  # noqa: DTZ001


def test_none_is_stored_as_null_only_where_the_default_is_another() -> None:
    class Mixed(Entity, table=Table("mixed", registry=Registry())):
        primary: ClassVar = Key("M#{name}", "M")
        name: str
        left_out: str | None = None
        written: str | None = "something"
        required: str | None

    item = item_of(Mixed(name="m", written=None, required=None))
    assert item == {"PK": "M#m", "SK": "M", "name": "m", "written": None, "required": None}


def test_a_ttl_is_stored_in_seconds_of_the_epoch() -> None:
    at = datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert item_of(Task(user_id="u", task_id="t", expires_at=at))["expires_at"] == 1_767_268_800


@pytest.mark.parametrize("kind", [int, float, Decimal, datetime])
def test_an_item_expires_whatever_the_type_of_its_ttl(partita_db: Session, kind: Any) -> None:
    table = Table("expiring", ttl="until", registry=Registry())

    annotations = {"primary": ClassVar, "name": str, "until": kind}
    body = {"__module__": __name__, "__annotations__": annotations, "primary": Key("B#{name}", "B")}
    made: Any = EntityMeta("Brief", (Entity,), body, table=table)

    @query(made, made.primary)
    def briefs(name: str) -> None: ...

    partita_db.create_tables([table])
    now = partita_db.context.clock()
    for name, at in (("gone", now - 0.5), ("there", now + 100.5)):
        until = datetime.fromtimestamp(at, UTC) if kind is datetime else kind(at)
        partita_db.run(insert(made(name=name, until=until)))
    assert [len(partita_db.run(briefs(name))) for name in ("gone", "there")] == [0, 1]


# --- entities as values ---


def test_an_entity_is_frozen() -> None:
    task = Task(user_id="u", task_id="t")
    with pytest.raises(ValidationError, match="frozen"):
        task.title = "x"  # type: ignore[misc]  # the test checks that this is refused


def test_with_changes_gives_a_changed_and_validated_copy() -> None:
    task = Task(user_id="u", task_id="t", points=1)
    changed = task.with_changes(f(Task.status).set(Status.DONE), f(Task.tags).add_members({"red"}))
    assert (changed.status, changed.tags, changed.points) == (Status.DONE, frozenset({"red"}), 1)
    assert (task.status, task.tags) == (Status.OPEN, frozenset())


def test_a_misspelt_field_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError):
        getattr(Task, "statuss")  # noqa: B009 - type checkers would reject a plain attribute access


def test_a_value_is_not_a_field() -> None:
    with pytest.raises(OperationError, match="'open' is not a field"):
        f("open")


# --- Pydantic's own settings ---


def test_only_public_names_of_pydantic_are_imported() -> None:
    root = Path(__file__).parents[2]
    sources = [*(root / "src").rglob("*.py"), *(root / "services" / "src").rglob("*.py")]
    assert [path.name for path in sources if "pydantic._internal" in path.read_text(encoding="utf-8")] == []


def test_an_entity_is_a_pydantic_model() -> None:
    assert list(Comment.model_json_schema()["properties"]) == ["user_id", "comment_id", "mood", "score", "text"]
    assert Comment.model_validate_json('{"user_id": "u", "comment_id": "c"}') == Comment(user_id="u", comment_id="c")
    with pytest.raises(ValidationError):
        Comment.model_validate({"user_id": "u"})


def test_a_strict_entity_reads_what_it_stored(partita_db: Session) -> None:
    table = Table("strict", registry=Registry())

    class Strict(Entity, table=table, strict=True):
        primary: ClassVar = Key("S#{name}", "S")
        name: str
        day: date
        status: Status
        tags: frozenset[str] = frozenset()

    @get(Strict)
    def strict_by_name(name: str) -> None: ...

    partita_db.create_tables([table])
    saved = partita_db.run(insert(Strict(name="a", day=date(2026, 1, 1), status=Status.DONE, tags=frozenset("x"))))
    assert partita_db.run(strict_by_name("a")) == saved
    with pytest.raises(ValidationError):
        Strict(name="a", day="2026-01-01", status=Status.DONE)  # type: ignore[arg-type]  # refused in strict mode


def test_an_entity_that_forbids_its_key_attributes_is_refused() -> None:
    with pytest.raises(ModelError, match="extra"):

        class Picky(Entity, table=Table("picky", registry=Registry()), extra="forbid"):
            primary: ClassVar = Key("P#{name}", "P")
            name: str


def test_a_field_that_would_never_be_stored_is_refused() -> None:
    with pytest.raises(ModelError, match="exclude"):

        class Hiding(Entity, table=Table("hiding", registry=Registry())):
            primary: ClassVar = Key("H#{name}", "H")
            name: str
            secret: str = Field(exclude=True)


def test_entities_may_share_fields_and_keys_by_inheritance(partita_db: Session) -> None:
    class Named(Entity):
        primary: ClassVar = Key("N#{name}", "N")
        name: str
        title: str = ""

    tables = [Table(name, registry=Registry()) for name in ("firsts", "seconds")]

    class First(Named, table=tables[0]):
        pass

    class Second(Named, table=tables[1]):
        number: int = 2

    @get(Second)
    def second_by_name(name: str) -> None: ...

    partita_db.create_tables(tables)
    partita_db.run(insert(First(name="a")))
    partita_db.run(insert(Second(name="a")))
    changed = partita_db.run(update(second_by_name("a"), f(Named.title).set("x"), f(Second.number).add(1)))
    assert changed == Second(name="a", title="x", number=3)


# --- items from other writers ---


def write(db: Session, **attributes: Any) -> None:
    db.store.execute(PutItem("sample", {"PK": "USER#u", "SK": "PROFILE", **attributes}))


def test_a_stored_item_that_does_not_fit_says_what_is_wrong(db: Session) -> None:
    write(db, user_id="u", name=7)
    with pytest.raises(
        InvalidItem, match=r"The item at PK '.*', SK '.*' is not a valid User: name: Input should be a valid string"
    ) as caught:
        db.run(user_by_id("u"))
    assert caught.value.item["name"] == 7


def test_attributes_that_the_entity_does_not_know_are_ignored(db: Session) -> None:
    write(db, user_id="u", name="Ada", color="red")
    assert db.run(user_by_id("u")) == User(user_id="u", name="Ada")
