"""Reads from a large file, compared with reads from a small one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from bench._bare import bare_keys, bare_reads
from bench._compare import Bar, Comparison, Side, compare, per_call
from bench._model import fill, task_by_id, task_id, tasks_of, user_id
from partita import EmbeddedStore, Session

SMALL = 1_000
LARGE = 1_000_000


def comparisons(folder: Path) -> Iterator[Comparison]:
    """All measurements of this module."""
    large, small = folder / "large.db", folder / "small.db"
    for path, items in ((large, LARGE), (small, SMALL)):
        with EmbeddedStore(path, durable=False) as store:
            fill(Session(store), items)
    with EmbeddedStore(large) as many, EmbeddedStore(small) as few:
        yield compare(
            "a get from 1,000,000 items, to from 1,000",
            Bar("at most", 1.5),
            _gets(Session(many), LARGE),
            _gets(Session(few), SMALL),
            repetitions=51,
        )
        yield _gets_of_others(Session(many), large)
        yield compare(
            "a query for 20 of 1,000,000 items, to of 1,000",
            Bar("at most", 1.5),
            _queries(Session(many), LARGE),
            _queries(Session(few), SMALL),
            repetitions=51,
        )


def _gets(db: Session, items: int, chosen: random.Random | None = None) -> Side:
    keys = [(user_id(n), task_id(n)) for n in _anywhere(items, 1_000, chosen)]
    return per_call(lambda key: db.run(task_by_id(*key)), keys)


def _gets_of_others(db: Session, path: Path) -> Comparison:
    """Gets of other items each time, whose pages are rarely in SQLite's cache, compared with SQLite alone."""
    chosen = random.Random(2)
    with bare_reads(str(path)) as bare:

        def typed() -> float:
            side = _gets(db, LARGE, chosen)
            return side()

        def theirs() -> float:
            side = per_call(bare.read, bare_keys(_anywhere(LARGE, 1_000, chosen)))
            return side()

        name = "a get of other items each time, to a bare read"
        return compare(name, Bar("at most", 4), typed, theirs, repetitions=51)


def _queries(db: Session, items: int) -> Side:
    users = [user_id(n) for n in _anywhere(items, 100)]
    return per_call(lambda user: db.run(tasks_of(user).page(20)), users)


def _anywhere(items: int, count: int, chosen: random.Random | None = None) -> list[int]:
    """Random numbers of items; always the same ones, unless a random source is given."""
    return (chosen or random.Random(1)).choices(range(items), k=count)
