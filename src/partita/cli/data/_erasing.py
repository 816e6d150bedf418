"""Erasing the data of a user everywhere in an installation, and reporting what remains where, and until when."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from partita import Session
from partita.change import Consumer
from partita.cli._data_folder import EMBEDDED, DataFolder
from partita.errors import QueueNotFound, RebuildRequired
from partita.queue import Discard, GetStats, Queue, ReadDead, queue_file
from partita.recipes.personal import PersonalData
from partita.service import Service
from partita.store import DescribeRecovery, ListTables, Store

_DEAD_AT_ONCE: Final = 10_000


class ErasedPlace(Struct, frozen=True):
    """One place that had data of a user."""

    place: str
    erased: str
    """What was erased there."""
    remains: str = ""
    """What still has the data, and until when; empty if nothing has."""


def erase_items(kept: PersonalData, user_id: str, db: Session) -> Iterator[ErasedPlace]:
    """Erase the user's items in the store."""
    erased: dict[str, int] = {}
    more = True
    while more:
        erasure = db.run(kept.erase(user_id))
        more = erasure.more
        for name, count in erasure.erased.items():
            erased[name] = erased.get(name, 0) + count
    for name, count in erased.items():
        yield ErasedPlace(name, f"{count:,} erased")
    for name, reason in kept.stays.items():
        yield ErasedPlace(name, "kept", reason)


def erase_queues(service: Service, data: DataFolder, user_id: str) -> Iterator[ErasedPlace]:
    """Discard dead letters about the user. Waiting messages are delivered soon, to handlers that find no such user."""
    for name, policy in service.queues.items():
        if data.queue == EMBEDDED and not queue_file(data.path, data.queue_name(name)).exists():
            continue
        with closing(data.open_queue(name, policy)) as queue:
            try:
                yield _erase_queue(queue, name, user_id)
            except QueueNotFound:
                continue


def _erase_queue(queue: Queue, name: str, user_id: str) -> ErasedPlace:
    dead = queue.execute(ReadDead(_DEAD_AT_ONCE))
    about = tuple(letter.id for letter in dead if letter.group == user_id or names_user(letter.body, user_id))
    discarded = queue.execute(Discard(about)) if about else 0
    stats = queue.execute(GetStats())
    waiting = stats.waiting + stats.in_flight
    remains = f"{waiting:,} waiting messages: overwritten when they are delivered" if waiting else ""
    return ErasedPlace(f"queue {name}", f"{discarded:,} dead letters discarded", remains)


def names_user(body: str, user_id: str) -> bool:
    """Whether a message mentions a user. A body that is not JSON is searched as text."""
    try:
        return _has(msgspec.json.decode(body), user_id)
    except msgspec.DecodeError:
        return user_id in body


def _has(value: Any, user_id: str) -> bool:
    if isinstance(value, dict):
        return any(_has(each, user_id) for each in (*value.keys(), *value.values()))
    if isinstance(value, list):
        return any(_has(each, user_id) for each in value)
    return bool(value == user_id)


def erase_projection(service: Service, store: Store, data: DataFolder) -> Iterator[ErasedPlace]:
    """Bring the projection of this folder up to date, so that it has no data of the user left."""
    if service.projection is None:
        return
    path = data.path / f"{data.prefix}{service.name}-projection.db"
    if data.store != EMBEDDED or not path.exists():
        yield ErasedPlace("projection", "none in this folder", "servers elsewhere follow within seconds")
        return
    with closing(service.projection.open(path)) as sink:
        consumer = Consumer(store, service.projection.table, sink)
        try:
            consumer.catch_up()
        except RebuildRequired:
            consumer.rebuild()
    yield ErasedPlace("projection", "up to date; pages and log overwritten")


def overwrite_log(service: Service, data: DataFolder) -> Iterator[ErasedPlace]:
    """Truncate the log of the database, which contains earlier versions of pages."""
    if data.store == EMBEDDED:
        with data.open_existing() as store:
            store.sweep()
            own = {f"{data.prefix}{table.schema.name}" for table in service.tables}.intersection(
                store.execute(ListTables())
            )
            logs = {table: store.execute(DescribeRecovery(table)) for table in sorted(own)}
        yield ErasedPlace("database file", "deleted items overwritten, log cut")
        for table, log in logs.items():
            if log.enabled:
                until = f"up to {log.days} days; `partita points disable {table}` discards them"
                yield ErasedPlace(f"continuous backups of {table}", "", until)
    else:
        until = "point-in-time recovery of DynamoDB: up to 35 days"
        yield ErasedPlace("DynamoDB", "items deleted", until)


def what_remains(kept: PersonalData, lake: Path | None, now: float) -> Iterator[ErasedPlace]:
    """The places that no command can reach: old images, lakes elsewhere, and backups."""
    if lake is not None:
        yield ErasedPlace(f"lake {lake}", "erased in every version of its tables")
    done = {"queues", "continuous backups"} | ({"lakes"} if lake is not None else set())
    for place, until in kept.remains(now).items():
        if place not in done:
            yield ErasedPlace(place, "", until)
