"""Every kind of pattern is measured with arguments from the sample data."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, ClassVar

from fastapi import APIRouter

from partita import (
    Derived,
    Entity,
    Index,
    Key,
    Operation,
    Rcu,
    Registry,
    Shards,
    Span,
    Table,
    collect,
    insert,
    query,
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
    """A sensor with readings of some time."""


def seed(now: float) -> list[Operation[Any]]:
    del now
    noon = datetime(2026, 5, 1, 12, tzinfo=UTC)
    return [insert(Sensor(name="s")), *(insert(Reading(sensor="s", at=noon.replace(hour=n))) for n in range(3))]


def test_derived_parts_and_fields_of_other_entities_have_samples() -> None:
    service = Service(name="measured", title="M", summary="M.", tables=(TABLE,), router=APIRouter, seed=seed)
    found = {each.pattern: each for each in measure(service)}
    assert [(name, each.verdict, each.measured) for name, each in found.items()] == [
        ("on_day", "within", Rcu(1)),
        ("between", "within", Rcu(1)),
    ]
