"""A model with everything that a stream can contain: typed fields, an entity that is not in the lake, and expiry."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date
from enum import StrEnum
from typing import Any, ClassVar

from partita import EmbeddedStore, Entity, Key, Registry, Session, Table
from partita.store import DeleteItem, PutItem, ReadStream, ScanTable, StreamRecord
from partita.store._requests import DescribeStream

TABLE = Table("things", ttl="ttl", stream="NEW_AND_OLD_IMAGES", registry=Registry())


class Status(StrEnum):
    OPEN = "open"
    DONE = "done"


class Task(Entity, table=TABLE):
    primary: ClassVar = Key("TASK#{user_id}", "TASK#{task_id}")
    user_id: str
    task_id: str
    title: str = ""
    status: Status = Status.OPEN
    estimate: int = 0
    due: date | None = None
    tags: frozenset[str] = frozenset()
    ttl: int | None = None


class User(Entity, table=TABLE):
    primary: ClassVar = Key("USER#{user_id}", "META")
    user_id: str
    title: str = ""
    estimate: str = ""


class Secret(Entity, table=TABLE):
    primary: ClassVar = Key("SECRET#{key}", "META")
    in_lake: ClassVar = False
    key: str


SHARD = f"shardId-{1:020}"


def item_of(entity: Entity) -> dict[str, Any]:
    """Return the item that stores an entity."""
    return type(entity).__entity__.item(entity)


def session(store: EmbeddedStore) -> Session:
    """Create the table, and return a session on the store."""
    db = Session(store)
    db.create_tables([TABLE])
    return db


def stored(store: EmbeddedStore) -> list[dict[str, Any]]:
    """Return all items in the table."""
    page = store.execute(ScanTable(TABLE.name))
    items = page.items
    while page.last_key is not None:
        page = store.execute(ScanTable(TABLE.name, start=page.last_key))
        items += page.items
    return items


def records(store: EmbeddedStore) -> list[StreamRecord]:
    """Return all records of the stream."""
    (shard,) = store.execute(DescribeStream(TABLE.name)).shards
    found: list[StreamRecord] = []
    while page := store.execute(ReadStream(TABLE.name, shard.id, found[-1].sequence if found else 0)).records:
        found += page
    return found


def operations(rng: random.Random) -> Iterator[PutItem | DeleteItem]:
    """Yield random writes without end, of few keys, so that items are changed, removed and created again."""
    kinds = [*[_task_item] * 6, _user_item, _secret_item, _foreign_item, _broken_item]
    while True:
        item = rng.choice(kinds)(rng.randrange(40), rng)
        gone = rng.random() < 0.3
        yield DeleteItem(TABLE.name, {"PK": item["PK"], "SK": item["SK"]}) if gone else PutItem(TABLE.name, item)


def _task_item(number: int, rng: random.Random) -> dict[str, Any]:
    return item_of(_task(number, rng))


def _user_item(number: int, rng: random.Random) -> dict[str, Any]:
    return item_of(User(user_id=f"u{number % 5}", title=f"User {rng.random()}", estimate=rng.choice("abc")))


def _secret_item(number: int, _: random.Random) -> dict[str, Any]:
    return item_of(Secret(key=f"s{number % 3}"))


def _foreign_item(number: int, rng: random.Random) -> dict[str, Any]:
    return {"PK": f"foreign-{number % 4}", "SK": "x", "n": rng.randrange(9)}


def _broken_item(number: int, rng: random.Random) -> dict[str, Any]:
    return {**_task_item(number, rng), "estimate": "no number"}


def _task(number: int, rng: random.Random) -> Task:
    return Task(
        user_id=f"u{number % 3}",
        task_id=f"t{number}",
        title=f"Task {rng.randrange(5)}",
        status=rng.choice(list(Status)),
        estimate=rng.randrange(100),
        due=rng.choice([None, date(2026, 1, 1 + number % 28)]),
        tags=frozenset(rng.sample(["red", "green", "blue"], rng.randrange(4))),
        ttl=rng.choice([None, 1]),
    )


def play(store: EmbeddedStore, rng: random.Random, count: int) -> None:
    """Run random operations, and let the store remove expired items now and then."""
    script = operations(rng)
    for number in range(count):
        store.execute(next(script))
        if number % 40 == 39:
            store.sweep()
