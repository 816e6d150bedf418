"""Measuring every kind of pattern with arguments from the sample data."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Annotated, Any, ClassVar

from fastapi import APIRouter

from partita import (
    Delete,
    Derived,
    Dimensions,
    Entity,
    Index,
    Key,
    Operation,
    Rcu,
    Registry,
    SearchedKb,
    Shards,
    Span,
    Table,
    Update,
    Vector,
    VectorIndex,
    Wcu,
    collect,
    delete,
    f,
    insert,
    pattern,
    query,
    search,
    update,
)
from partita.cost import measure
from partita.service import Service

TABLE = Table("measured", indexes=[Index("GSI1")], registry=Registry())


def day_of(at: datetime) -> date:
    """The day of an instant."""
    return at.date()


class Sensor(Entity, table=TABLE):
    primary: ClassVar = Key("SENSOR#{name}", "SENSOR")

    name: str


class Reading(Entity, table=TABLE):
    primary: ClassVar = Key("SENSOR#{sensor}", "READING#{at}")
    by_day: ClassVar = Key("DAY#{day}#{shard}", "{at}", index="GSI1")

    day: ClassVar = Derived(day_of)
    shard: ClassVar = Shards(2, "at")

    sensor: str
    at: datetime


@dataclass(frozen=True)
class SensorPage:
    sensor: Sensor
    readings: tuple[Reading, ...]


@query(Reading, Reading.by_day, budget=Rcu(1))
def on_day(day: date) -> None:
    """Readings of a day, of all shards."""


@collect(SensorPage, "SENSOR#{name}", budget=Rcu(1))
def between(name: str, at: Span[datetime]) -> None:
    """A sensor with its readings in a span of time."""


def seed(now: float) -> list[Operation[Any]]:
    del now
    noon = datetime(2026, 5, 1, 12, tzinfo=UTC)
    return [insert(Sensor(name="s")), *(insert(Reading(sensor="s", at=noon.replace(hour=n))) for n in range(3))]


NOTES = Table("vector-notes", indexes=[VectorIndex("by-meaning", "embedding", 384)], registry=Registry())


class VectorNote(Entity, table=NOTES):
    """A note with the vector of its text."""

    primary: ClassVar = Key("NOTE#{user_id}", "{number:06}")
    by_meaning: ClassVar = Key("NOTE#{user_id}", index="by-meaning")

    user_id: str
    number: int
    embedding: Annotated[Vector, Dimensions(384)]


@search(VectorNote, VectorNote.by_meaning, budget=SearchedKb(64))
def similar_notes(user_id: str, vector: Vector, top: int) -> None:
    """Notes whose text is similar to a vector."""


def test_a_search_is_measured_with_the_vector_of_a_sample_and_its_cost_is_a_range() -> None:
    def seed(_now: float) -> list[Operation[Any]]:
        return [insert(VectorNote(user_id="ann", number=n, embedding=[n + 1.0] * 384)) for n in range(50)]

    service = Service(name="noted", title="N", summary="N.", tables=(NOTES,), router=APIRouter, seed=seed)
    (measured,) = measure(service)
    assert (measured.index, measured.requests, measured.verdict) == ("by-meaning", ("SearchVectors",), "over")
    consumed = measured.measured
    assert consumed is not None
    assert consumed.searched_least is not None
    assert 10 * 384 * 4 < consumed.searched_least < 64 * 1024 < 50 * 384 * 4 < consumed.searched


def test_derived_parts_and_fields_of_other_entities_have_samples() -> None:
    service = Service(name="measured", title="M", summary="M.", tables=(TABLE,), router=APIRouter, seed=seed)
    found = {each.pattern: each for each in measure(service)}
    assert [(name, each.verdict, each.measured) for name, each in found.items()] == [
        ("on_day", "within", Rcu(1)),
        ("between", "within", Rcu(1)),
    ]


LETTERS = Table("measured-letters", registry=Registry())


class Letter(Entity, table=LETTERS):
    """A letter of more than one read unit."""

    primary: ClassVar = Key("USER#{user_id}", "{number:06}")

    user_id: str
    number: int
    text: str = "x" * 5_000


@pattern()
def remove_letter(letter: Letter) -> Delete[Letter]:
    """Delete a letter."""
    return delete(letter)


@query(Letter, Letter.primary)
def letters_of(user_id: str) -> None:
    """The letters of a user."""


@query(Letter, Letter.primary)
def letters_again(user_id: str) -> None:
    """The letters of a user, as a second pattern."""


def test_a_pattern_does_not_see_what_another_has_written() -> None:
    def seed(_now: float) -> list[Operation[Any]]:
        return [insert(Letter(user_id="ann", number=n)) for n in range(4)]

    service = Service(name="letters", title="L", summary="L.", tables=(LETTERS,), router=APIRouter, seed=seed)
    found = {each.pattern: each.measured for each in measure(service)}
    assert list(found) == ["remove_letter", "letters_of", "letters_again"]
    assert found["letters_of"] == found["letters_again"] == Rcu(2.5)


PARCELS = Table("measured-parcels", indexes=[Index("GSI1"), Index("GSI2")], registry=Registry())


class Parcel(Entity, table=PARCELS):
    primary: ClassVar = Key("PARCEL#{number}", "PARCEL")
    by_state: ClassVar = Key("STATE#{state}", "{number}", index="GSI1")
    by_weight: ClassVar = Key("WEIGHT#{weight:03}", "{number}", index="GSI2")

    number: str
    state: str
    weight: int | None = None


@pattern(budget=Wcu(2))
def move_parcel(parcel: Parcel, state: str) -> Update[Parcel]:
    """Give a parcel another state."""
    return update(parcel, f(Parcel.state).set(state))


@pattern(budget=Wcu(3))
def weigh_parcel(parcel: Parcel, weight: int) -> Update[Parcel]:
    """Record the weight of a parcel."""
    return update(parcel, f(Parcel.weight).set(weight))


@query(Parcel, Parcel.by_weight, budget=Rcu(1))
def parcels_of_weight(weight: int) -> None:
    """The parcels of one weight."""


def parcels(_now: float) -> list[Operation[Any]]:
    return [insert(Parcel(number=number, state=state)) for number, state in (("a", "sent"), ("b", "lost"))]


def measured_parcels() -> dict[str, tuple[Any, str]]:
    service = Service(name="parcels", title="P", summary="P.", tables=(PARCELS,), router=APIRouter, seed=parcels)
    return {each.pattern: (each.measured, each.verdict) for each in measure(service)}


def test_a_field_next_to_its_entity_is_a_new_value_so_its_index_entry_moves() -> None:
    assert measured_parcels()["move_parcel"] == (Wcu(3), "over")


def test_a_pattern_whose_parameter_has_no_sample_is_not_measured() -> None:
    found = measured_parcels()
    assert found["weigh_parcel"] == found["parcels_of_weight"] == (None, "not measured")
