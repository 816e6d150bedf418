"""The lake: how many changes it applies in the time of one durable write."""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench._compare import Bar, Comparison, Side, compare
from bench._model import Task, task
from partita import EmbeddedStore, Index, Registry, Session, Table, batch_write, put
from partita.change import Consumer
from partita.change.lake import Lake

CHANGES: Final = 10_000
WRITES: Final = 300

TABLE: Final = Table("bench-streamed", indexes=[Index("GSI1")], stream="NEW_AND_OLD_IMAGES", registry=Registry())


class StreamedTask(Task, table=TABLE):
    """The same task in a table with a stream."""


def comparisons(folder: Path) -> Iterator[Comparison]:
    """All measurements of this module."""
    logging.getLogger("partita").setLevel(logging.ERROR)  # the first load is logged as maintenance
    with EmbeddedStore(folder / "cdc.db") as store:
        db = Session(store)
        db.create_tables([TABLE])
        lake = Lake(folder / "lake", TABLE)
        consumer = Consumer(store, TABLE, lake, batch=CHANGES)
        consumer.step()
        numbers = itertools.count()
        yield compare(
            "changes into the lake, to single durable writes",
            Bar("at least", 5),
            _taken(db, consumer, numbers),
            _written(db, consumer, numbers),
            repetitions=5,
        )
        lake.close()


def _taken(db: Session, consumer: Consumer, numbers: Iterator[int]) -> Side:
    """The lake applies many changes at once to the log and the current table."""

    def measure() -> float:
        db.run(batch_write([put(_task(next(numbers))) for _ in range(CHANGES)]))
        start = time.perf_counter()
        assert consumer.catch_up() == CHANGES
        return (time.perf_counter() - start) / CHANGES

    return measure


def _written(db: Session, consumer: Consumer, numbers: Iterator[int]) -> Side:
    """One thread writes; each write is on disk before the next one."""

    def measure() -> float:
        tasks = [_task(next(numbers)) for _ in range(WRITES)]
        start = time.perf_counter()
        for one in tasks:
            db.run(put(one))
        seconds = time.perf_counter() - start
        consumer.catch_up()
        return seconds / WRITES

    return measure


def _task(number: int) -> StreamedTask:
    return StreamedTask.model_validate(task(number).model_dump())
