"""Derived parts: stored only in keys, updated by every write, and queried like fields."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.model.declare import entity, refused, table

from partita import (
    Derived,
    Entity,
    Index,
    Key,
    KeyOnly,
    Registry,
    Session,
    Shards,
    Span,
    Table,
    batch_write,
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
from partita.errors import OperationError
from partita.model._entity import schema_of
from partita.model.keys._parts import Width, parse_style
from partita.patterns import key_matches, layout
from partita.store import GetItem

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


def day_of(at: datetime) -> date:
    return at.astimezone(UTC).date()


def band_of(celsius: int | None) -> str | None:
    return None if celsius is None else "hot" if celsius > 30 else "mild"


def is_alarm(celsius: int | None, muted: bool) -> bool:  # noqa: FBT001 - its parameters are fields
    return not muted and celsius is not None and celsius > 50


SENSORS = Table("sensors", registry=Registry(), indexes=[Index("GSI1"), Index("GSI2"), Index("GSI3", range="SK")])


class Reading(Entity, table=SENSORS):
    primary: ClassVar = Key("SENSOR#{sensor}#{day}", "READING#{at}")
    by_band: ClassVar = Key("BAND#{band}", "{celsius:-+04}#{at}", index="GSI1")
    alarms: ClassVar = Key("ALARMS", "{at}", index="GSI2", when=is_alarm)
    alarms_of: ClassVar = Key("ALARMS#{sensor}", "READING#{at}", index="GSI3", when=is_alarm)

    day: ClassVar = Derived(day_of)
    band: ClassVar = Derived(band_of)

    sensor: str
    at: datetime
    celsius: int | None = None
    muted: bool = False
    note: str = ""


@get(Reading)
def reading(sensor: str, at: datetime) -> None: ...
@query(Reading, Reading.primary)
def on_day(sensor: str, day: date) -> None: ...
@query(Reading, Reading.primary)
def within_day(sensor: str, day: date, at: Span[datetime]) -> None: ...
@query(Reading, Reading.by_band)
def in_band(band: str) -> None: ...
@query(Reading, Reading.by_band)
def warm(band: str, celsius: Span[int]) -> None: ...
@query(Reading, Reading.alarms)
def alarms() -> None: ...
@query(Reading, Reading.alarms_of)
def alarms_of(sensor: str) -> None: ...


@pytest.fixture
def sensors(partita_db: Session) -> Session:
    partita_db.create_tables([SENSORS])
    return partita_db


def made(minute: int = 0, **fields: Any) -> Reading:
    return Reading(sensor="s", at=NOON.replace(minute=minute), **fields)


def is_whole(db: Session, expected: Reading) -> bool:
    """Whether the stored item has exactly the keys that its fields produce."""
    schema = schema_of(Reading)
    stored = db.store.execute(GetItem("sensors", schema.key(expected))).item
    assert stored is not None
    return stored == schema.item(expected) == schema.item(schema.entity(stored))


def test_an_entity_computes_its_derived_parts() -> None:
    assert (made().day, made(celsius=31).band, made().band) == (date(2026, 1, 2), "hot", None)
    assert repr(Reading.day) == "Derived(day_of)"


def test_a_derived_part_is_in_the_key_alone() -> None:
    assert schema_of(Reading).item(made(celsius=31)) == {
        "sensor": "s",
        "at": "2026-01-02T12:00:00.000000Z",
        "celsius": 31,
        "muted": False,
        "note": "",
        "PK": "SENSOR#s#2026-01-02",
        "SK": "READING#2026-01-02T12:00:00.000000Z",
        "GSI1PK": "BAND#hot",
        "GSI1SK": "n9968#2026-01-02T12:00:00.000000Z",
    }


def test_a_get_names_the_fields_behind_a_derived_part(sensors: Session) -> None:
    saved = sensors.run(insert(made()))
    assert sensors.run(reading("s", NOON)) == saved
    assert sensors.run(delete(reading("s", NOON))) == saved


def test_a_query_names_the_derived_part_or_the_fields_behind_it(sensors: Session) -> None:
    saved = [sensors.run(insert(made(n))) for n in range(3)]
    assert list(sensors.run(on_day("s", NOON.date()))) == saved
    assert list(sensors.run(within_day("s", NOON.date(), Span.since(saved[1].at)))) == saved[1:]

    @query(Reading, Reading.primary)
    def exactly(sensor: str, at: datetime) -> None: ...

    try:
        assert list(sensors.run(exactly("s", NOON))) == saved[:1]
    finally:
        del SENSORS.patterns["exactly"]


def test_numbers_may_descend(sensors: Session) -> None:
    saved = [sensors.run(insert(made(n, celsius=celsius))) for n, celsius in enumerate((-5, 0, 12, 30))]
    assert list(sensors.run(in_band("mild"))) == saved[::-1]
    assert list(sensors.run(warm("mild", Span.since(0)))) == saved[:0:-1]
    assert list(sensors.run(warm("mild", Span.until(0)))) == saved[1::-1]
    assert list(sensors.run(warm("mild", Span.between(0, 12)))) == saved[2:0:-1]
    assert list(sensors.run(warm("mild", Span.after(12)))) == saved[3:]
    assert list(sensors.run(warm("mild", Span.before(0)))) == saved[:1]


@pytest.mark.parametrize("spec", ["-06", "-+06", "-06.2", "-+06.2"])
@given(st.lists(st.integers(0, 999_999), min_size=2, max_size=6))
def test_descending_numbers_sort_backwards_and_read_back(spec: str, numbers: list[int]) -> None:
    style = parse_style(spec, "…")
    assert isinstance(style, Width)
    values = [Decimal(n) / 100 if "." in spec else n for n in numbers]
    values += [-value for value in values] if "+" in spec else []
    assert sorted(values, key=style.text) == sorted(values, reverse=True)
    assert [style.value(style.text(value)) for value in values] == values


# --- every write path ---


def test_every_write_keeps_a_conditional_entry_right(sensors: Session) -> None:
    assert sensors.run(alarms()).items == ()
    saved = sensors.run(insert(made(celsius=60)))
    assert sensors.run(alarms()).items == sensors.run(alarms_of("s")).items == (saved,)

    muted = sensors.run(update(saved, f(Reading.muted).set(True)))
    assert sensors.run(alarms()).items == sensors.run(alarms_of("s")).items == ()
    assert is_whole(sensors, muted)

    sensors.run(transact(update(muted, f(Reading.muted).set(False))))
    assert [each.muted for each in sensors.run(alarms())] == [False]
    sensors.run(batch_write([put(muted)]))
    assert sensors.run(alarms()).items == ()
    loud = sensors.run(put(muted.with_changes(f(Reading.muted).set(False))))
    assert sensors.run(alarms()).items == (loud,)
    assert is_whole(sensors, loud)


def test_an_update_by_key_reads_first_where_a_condition_needs_more_fields(sensors: Session) -> None:
    sensors.run(insert(made(celsius=60)))
    with sensors.meter.watch() as seen:
        changed = sensors.run(update(reading("s", NOON), f(Reading.muted).set(True)))
    assert seen[0].requests == ("GetItem", "UpdateItem")
    assert is_whole(sensors, changed)
    with pytest.raises(OperationError, match="an index key depends on fields that this update does not know"):
        sensors.run(transact(update(reading("s", NOON), f(Reading.muted).set(False))))


def test_an_update_by_key_knows_what_it_changes_itself(sensors: Session) -> None:
    sensors.run(insert(made(celsius=60)))
    with sensors.meter.watch() as seen:
        changed = sensors.run(update(reading("s", NOON), f(Reading.muted).set(False), f(Reading.celsius).set(20)))
    assert seen[0].requests == ("UpdateItem",)
    assert is_whole(sensors, changed)
    assert list(sensors.run(in_band("mild"))) == [changed]


@pytest.mark.parametrize("by_key", [True, False])
def test_an_update_of_something_else_touches_no_key(sensors: Session, by_key: bool) -> None:  # noqa: FBT001
    saved = sensors.run(insert(made(celsius=60)))
    operation = update(reading("s", NOON) if by_key else saved, f(Reading.note).set("x"))
    plan = operation.plan()
    assert plan is not None
    assert [change.path.parts[0] for change in plan.update.sets] == ["note"]


def test_an_upsert_keeps_a_conditional_entry_right(sensors: Session) -> None:
    made_now = sensors.run(upsert(made(celsius=60), f(Reading.note).set("new")))
    assert sensors.run(alarms()).items == (made_now,)
    assert is_whole(sensors, made_now)
    muted = sensors.run(update(made_now, f(Reading.muted).set(True)))
    again = sensors.run(upsert(made(celsius=60), f(Reading.note).set("again")))
    assert again == muted.model_copy(update={"note": "again"})
    assert sensors.run(alarms()).items == ()
    assert is_whole(sensors, again)
    assert is_whole(sensors, sensors.run(upsert(reading("s", NOON.replace(minute=1)), f(Reading.note).set("by key"))))


def test_an_upsert_guards_a_condition_of_one_field(partita_db: Session) -> None:
    open_ones = Table("open-ones", indexes=[Index("GSI1")], registry=Registry())

    class Door(Entity, table=open_ones):
        primary: ClassVar = Key("DOOR#{door}", "DOOR")
        ajar: ClassVar = Key("AJAR", "{door}", index="GSI1", when=is_ajar)
        door: str
        ajar_now: bool = False
        uses: int = 0

    partita_db.create_tables([open_ones])
    for _ in range(2):
        door = partita_db.run(upsert(Door(door="a"), f(Door.uses).add(1)))
    assert (door.uses, schema_of(Door).item(door).get("GSI1PK")) == (2, None)


def is_ajar(ajar_now: bool) -> bool:  # noqa: FBT001 - its parameter is a field
    return ajar_now


def test_what_the_key_is_derived_from_cannot_be_updated() -> None:
    with pytest.raises(OperationError, match=r"Reading\.at is the key and cannot be updated"):
        update(reading("s", NOON), f(Reading.at).set(NOON))


def test_conditions_and_derived_parts_are_described() -> None:
    shown = {key.key: key for key in layout(SENSORS)}
    assert shown["alarms"].when == "is_alarm(celsius, muted)"
    assert shown["primary"].hash == "SENSOR#{sensor}#{day}"
    assert [match.relation for match in key_matches(SENSORS.patterns["reading"])] == ["is", "is"]


# --- refused declarations ---


def unannotated(user_id: str):  # type: ignore[no-untyped-def]  # noqa: ANN201
    return user_id


def of_unknown(color: str) -> str:
    return color


def of_another_type(user_id: int) -> str:
    return str(user_id)


def nothing() -> str:
    return ""


def perhaps(user_id: str) -> str | None:
    return user_id or None


def several(*user_id: str) -> str:
    return "".join(user_id)


@pytest.mark.parametrize(
    ("function", "complaint"),
    [
        (unannotated, "unannotated has no return type annotation"),
        (of_unknown, "'color' is not a field"),
        (of_another_type, "'user_id' is declared as <class 'int'>"),
        (nothing, "nothing must have fields of an entity as parameters"),
        (several, "several must have fields of an entity as parameters"),
        (perhaps, "'part' may be None, but the table's key is never absent"),
    ],
)
def test_a_function_that_does_not_fit_is_refused(function: Any, complaint: str) -> None:
    with refused(complaint):
        entity(Key("A#{part}", "B#{task_id}"), part=Derived(function))


def test_a_condition_belongs_to_an_index_with_an_attribute_of_its_own() -> None:
    with refused("every item has the table's key"):
        entity(Key("A#{user_id}", "B#{task_id}", when=bool_of))
    with refused("`when` needs an attribute that only this key writes"):
        inverted = table(indexes=[Index("GSI1", hash="SK", range="PK")])
        entity(on=inverted, back=Key("TASK#{task_id}", "USER#{user_id}", index="GSI1", when=bool_of))
    with refused("one_color: 'color' is not a field"):
        entity(one=Key("A#{user_id}", "B#{task_id}", index="GSI1", when=one_color))


def bool_of(user_id: str) -> bool:
    return bool(user_id)


def one_color(color: str) -> bool:
    return bool(color)


def test_a_field_that_a_part_is_derived_from_must_be_stored_or_in_the_key() -> None:
    with refused("is KeyOnly, but the primary key"):
        entity(Key("A#{day}", "B#{task_id}"), annotations={"at": KeyOnly[datetime]}, day=Derived(day_of))


@pytest.mark.parametrize(
    ("function", "complaint"),
    [
        (lambda: get(Reading)(by_day), "does not cover the primary key of Reading: at"),
        (lambda: get(Reading)(by_both), "day is computed from the other parameters"),
        (lambda: query(Reading, Reading.primary)(by_both), "'day' is computed from the parameters at"),
        (lambda: query(Reading, Reading.primary)(by_span), "'day' is missing"),
        (lambda: query(Reading, Reading.primary)(by_wrong_day), "'day' is declared as <class 'str'>"),
    ],
)
def test_a_pattern_that_does_not_fit_is_refused(function: Any, complaint: str) -> None:
    with refused(complaint):
        function()


def by_day(sensor: str, day: date) -> None: ...
def by_both(sensor: str, day: date, at: datetime) -> None: ...
def by_span(sensor: str, at: Span[datetime]) -> None: ...
def by_wrong_day(sensor: str, day: str) -> None: ...


# --- shards ---


def test_a_shard_is_a_stable_hash_of_fields() -> None:
    shards = Shards(8, "a", "b")
    assert [shards.of({"a": "x", "b": n}) for n in range(6)] == [2, 4, 3, 2, 3, 2]
    assert shards.of({"a": "xy", "b": "z"}) != Shards(8, "a", "b").of({"a": "x", "b": "yz"})
    assert {Shards(8, "n").of({"n": n}) for n in range(100)} == set(range(8))


@pytest.mark.parametrize(
    ("count", "fields", "complaint"),
    [
        (1, ("user_id",), "the number of shards must be 2 to 200"),
        (True, ("user_id",), "the number of shards must be 2 to 200"),
        (201, ("user_id",), "the number of shards must be 2 to 200"),
        (8, (), "Shards need the names of the fields"),
        (8, ("color",), "'color' is not a field"),
    ],
)
def test_shards_that_do_not_fit_are_refused(count: int, fields: tuple[str, ...], complaint: str) -> None:
    with refused(complaint):
        entity(Key("A#{shard}", "B#{user_id}#{task_id}"), shard=Shards(count, *fields))


def test_shards_stand_in_the_partition_key_alone() -> None:
    with refused("shards are allowed once, in the partition key: shard"):
        entity(Key("A#{user_id}", "B#{shard:02}#{task_id}"), shard=Shards(8, "task_id"))
