"""Typed reads from a file, compared with boto3 and a local server, and with SQLite alone."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from bench._bare import bare_keys, bare_reads
from bench._compare import Bar, Comparison, Side, compare, per_call
from bench._model import fill, task_by_id, task_id, tasks_of, user_id
from bench._peer import boto3_client
from partita import EmbeddedStore, Session
from partita.store._dynamodb_json import api_call

ITEMS = 1_000
LARGE = 80_000
"""Enough items to fill the cache four times."""


def comparisons(folder: Path) -> Iterator[Comparison]:
    """All measurements of this module."""
    numbers = random.Random(1).sample(range(ITEMS), ITEMS)
    with EmbeddedStore(folder / "reads.db") as store:
        db = Session(store)
        fill(db, ITEMS)
        yield _get_against_sqlite(db, store.path, numbers)
        yield from _gets_with_checksums(folder)
        with boto3_client(folder, ITEMS) as client:
            yield _get_against_boto3(db, client, numbers)
            yield _query_against_boto3(db, client, numbers)


def _get_against_sqlite(db: Session, path: str, numbers: list[int]) -> Comparison:
    with bare_reads(path) as bare:
        return compare(
            "a typed get, to a bare SQLite read",
            Bar("at most", 4),
            _typed_gets(db, numbers[:200]),
            per_call(bare.read, bare_keys(numbers)),
            repetitions=101,
        )


def _gets_with_checksums(folder: Path) -> Iterator[Comparison]:
    """Gets from a file that is larger than SQLite's cache: of the same cached pages, and of other pages each time.

    Measured in processor time, because both sides differ only in the checksums and wait for the same disk.
    """
    path = folder / "large.db"
    with EmbeddedStore(path, durable=False) as store:
        fill(Session(store), LARGE)
    numbers = random.Random(1).sample(range(LARGE), LARGE)
    for name, bar, asked in (
        ("a typed get, to one without checksums", 1.03, numbers[:500]),
        ("a typed get of pages that are not in the cache, to one without checksums", 1.03, numbers),
    ):
        with EmbeddedStore(path) as store, EmbeddedStore(path) as other:
            ours, theirs = (_next_gets(Session(each), asked) for each in (store, other))
            other._new_reader().connection.pragma("checksum_verification", 0)  # noqa: SLF001 - there is no other way
            yield compare(name, Bar("at most", bar), ours, theirs, repetitions=101)


def _get_against_boto3(db: Session, client: Any, numbers: list[int]) -> Comparison:
    calls = [api_call(task_by_id(user_id(n), task_id(n)).request())[1] for n in numbers[:10]]
    theirs = per_call(lambda call: client.get_item(**call)["Item"], calls)
    return compare("a typed get, to boto3's", Bar("at least", 20), _typed_gets(db, numbers), theirs, repetitions=101)


def _query_against_boto3(db: Session, client: Any, numbers: list[int]) -> Comparison:
    users = [user_id(n) for n in numbers[:20]]
    calls = [api_call(tasks_of(user).page(100).request())[1] for user in users[:2]]
    ours = per_call(lambda user: _expect(100, db.run(tasks_of(user).page(100)).items), users)
    theirs = per_call(lambda call: _expect(100, client.query(**call)["Items"]), calls)
    return compare("a query for 100 typed items, to boto3's", Bar("at least", 10), ours, theirs, repetitions=51)


def _typed_gets(db: Session, numbers: list[int]) -> Side:
    keys = [(user_id(n), task_id(n)) for n in numbers]
    return per_call(lambda key: db.run(task_by_id(*key)), keys)


def _next_gets(db: Session, numbers: list[int], count: int = 500) -> Side:
    """A side that gets `count` items, continuing where its last call ended."""
    keys = cycle([(user_id(n), task_id(n)) for n in numbers])

    def measure() -> float:
        chosen = list(islice(keys, count))
        start = time.thread_time()
        for key in chosen:
            db.run(task_by_id(*key))
        return (time.thread_time() - start) / count

    return measure


def _expect(count: int, items: tuple[object, ...] | list[object]) -> None:
    assert len(items) == count
