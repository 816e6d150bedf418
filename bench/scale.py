"""Reads from a large file and from a small one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

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
        yield compare(
            "a query for 20 of 1,000,000 items, to of 1,000",
            Bar("at most", 1.5),
            _queries(Session(many), LARGE),
            _queries(Session(few), SMALL),
            repetitions=51,
        )


def _gets(db: Session, items: int) -> Side:
    keys = [(user_id(n), task_id(n)) for n in _anywhere(items, 1_000)]
    return per_call(lambda key: db.run(task_by_id(*key)), keys)


def _queries(db: Session, items: int) -> Side:
    users = [user_id(n) for n in _anywhere(items, 100)]
    return per_call(lambda user: db.run(tasks_of(user).page(20)), users)


def _anywhere(items: int, count: int) -> list[int]:
    return random.Random(1).choices(range(items), k=count)
