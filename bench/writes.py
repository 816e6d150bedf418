"""Durable writes: what group commit makes of many threads."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from bench._compare import Bar, Comparison, Side, compare
from bench._model import TABLE, task
from partita import EmbeddedStore, Session, put

PUTS = 2_000


def comparisons(folder: Path) -> Iterator[Comparison]:
    """All measurements of this module."""
    with EmbeddedStore(folder / "writes.db") as store:
        db = Session(store)
        db.create_tables([TABLE])
        numbers = itertools.count()
        yield compare(
            "durable puts by 16 threads, to by one",
            Bar("at least", 3),
            _puts(db, numbers, threads=16),
            _puts(db, numbers, threads=1),
            repetitions=15,
        )


def _puts(db: Session, numbers: Iterator[int], *, threads: int) -> Side:
    def put_some(tasks: list[int]) -> None:
        for number in tasks:
            db.run(put(task(number)))

    def measure() -> float:
        shares = [[next(numbers) for _ in range(PUTS // threads)] for _ in range(threads)]
        with ThreadPoolExecutor(threads) as pool:
            start = time.perf_counter()
            list(pool.map(put_some, shares))
            return (time.perf_counter() - start) / PUTS

    return measure


def sync_seconds(folder: Path) -> float:
    """How long this disk takes to make a page safe: what the threads of one commit share."""
    with (folder / "sync").open("wb", buffering=0) as file:

        def write_and_sync() -> float:
            start = time.perf_counter()
            file.write(bytes(4096))
            os.fdatasync(file.fileno())
            return time.perf_counter() - start

        return median(write_and_sync() for _ in range(200))
