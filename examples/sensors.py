"""Sensor readings: a partition for each sensor and day, readings that expire, and alarms spread over shards.

    pip install partita
    python sensors.py

| access pattern | what it reads or writes | budget |
| --- | --- | --- |
| `record(reading)` | write a reading | 4 WCU |
| `reading_at(sensor, at)` | one reading; the day is computed from the instant | 0.5 RCU |
| `readings_on(sensor, day)` | a sensor's readings of one day, in the order of time | 13 RCU |
| `readings_within(sensor, day, at)` | a sensor's readings within a range of times on one day | 13 RCU |
| `latest_alarms()` | the alarms of all sensors from all shards, newest first | 21 RCU |
| `mute(reading)` | remove an alarm from the list | 4 WCU |

The day is not stored as an attribute: it is computed from the instant, and is only part of the key. If all alarms were
in one partition, every sensor would write to it. So the alarms are spread over four partitions, by sensor, and a read
merges them in the order of time.

It prints:

    readings of s1 on 2026-05-01: 21, 22, 58
    from noon: 22, 58
    alarms, newest first: s3 71, s1 58, s2 64
    after muting s1: s3 71, s2 64
    and page by page: s3, s2
    latest_alarms: Query on GSI1, 4 at once
      predicted: 20 RCU (with items of 1,024 bytes)
      budget:    21 RCU
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import ClassVar

from partita import (
    Derived,
    EmbeddedStore,
    Entity,
    Index,
    Key,
    Put,
    Rcu,
    Session,
    Shards,
    Span,
    Table,
    Update,
    Wcu,
    explain,
    f,
    get,
    pattern,
    put,
    query,
    update,
)

TABLE = Table("sensors", indexes=[Index("GSI1")], ttl="expires_at")
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
KEPT = timedelta(days=36_500)
TOO_HOT = 50


def day_of(at: datetime) -> date:
    """The day of an instant, in UTC."""
    return at.astimezone(UTC).date()


def is_alarm(celsius: int, muted: bool) -> bool:  # noqa: FBT001 - a function of fields
    """Whether a reading is an alarm that was not muted."""
    return celsius > TOO_HOT and not muted


class Reading(Entity, table=TABLE):
    """A reading of a sensor."""

    primary: ClassVar = Key("SENSOR#{sensor}#{day}", "READING#{at}")
    alarms: ClassVar = Key("ALARMS#{shard}", "{at}#{sensor}", index="GSI1", when=is_alarm)

    day: ClassVar = Derived(day_of)
    shard: ClassVar = Shards(4, "sensor")

    sensor: str
    at: datetime
    celsius: int
    muted: bool = False
    expires_at: datetime


@pattern(budget=Wcu(4))
def record(reading: Reading) -> Put[Reading]:
    """Write a reading; writing it twice does no harm."""
    return put(reading)


@get(Reading, budget=Rcu(0.5))
def reading_at(sensor: str, at: datetime) -> None:
    """One reading."""


@query(Reading, Reading.primary, budget=Rcu(13))
def readings_on(sensor: str, day: date) -> None:
    """A sensor's readings of one day, in the order of time."""


@query(Reading, Reading.primary, budget=Rcu(13))
def readings_within(sensor: str, day: date, at: Span[datetime]) -> None:
    """A sensor's readings within a range of times on one day."""


@query(Reading, Reading.alarms, newest_first=True, budget=Rcu(21))
def latest_alarms() -> None:
    """The alarms of all sensors, newest first."""


@pattern(budget=Wcu(4))
def mute(reading: Reading) -> Update[Reading]:
    """Remove an alarm from the list."""
    return update(reading, f(Reading.muted).set(True))


EXPLAINED = latest_alarms()


def tell(db: Session) -> None:
    """Record a hot day, and print what the patterns return."""
    measured = [("s1", -3, 21), ("s1", 0, 22), ("s2", 1, 64), ("s1", 2, 58), ("s3", 3, 71)]
    for sensor, hours, celsius in measured:
        at = NOON + timedelta(hours=hours)
        db.run(record(Reading(sensor=sensor, at=at, celsius=celsius, expires_at=at + KEPT)))

    found = db.run(readings_on("s1", NOON.date()))
    print(f"readings of s1 on {NOON.date()}:", ", ".join(str(each.celsius) for each in found))
    late = db.run(readings_within("s1", NOON.date(), Span.since(NOON)))
    print("from noon:", ", ".join(str(each.celsius) for each in late))

    print("alarms, newest first:", ", ".join(f"{each.sensor} {each.celsius}" for each in db.run(latest_alarms())))
    reading = db.run(reading_at("s1", NOON + timedelta(hours=2)))
    assert reading is not None
    db.run(mute(reading))
    print("after muting s1:", ", ".join(f"{each.sensor} {each.celsius}" for each in db.run(latest_alarms())))

    first = db.run(latest_alarms().page(1))
    second = db.run(latest_alarms().page(1, after=first.next_cursor))
    print("and page by page:", ", ".join(each.sensor for page in (first, second) for each in page))
    print(str(explain(EXPLAINED)).partition("\n{")[0])


def main() -> None:
    """Run it on a store in memory."""
    with EmbeddedStore(":memory:") as store:
        db = Session(store, strict_budgets=True)
        db.create_tables([TABLE])
        tell(db)


if __name__ == "__main__":
    main()
