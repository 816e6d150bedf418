"""Durable writes: what group commit makes of many threads."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from msgspec.structs import replace

from bench._compare import Bar, Comparison, Side, compare, duration
from bench._model import TABLE, task
from partita import EmbeddedStore, Session, put

PUTS = 2_000


def comparisons(folder: Path) -> Iterator[Comparison]:
    """All measurements of this module."""
    with EmbeddedStore(folder / "writes.db") as store:
        db = Session(store)
        db.create_tables([TABLE])
        numbers = itertools.count()
        one, many = _puts(db, numbers, threads=1), _puts(db, numbers, threads=16)
        syncs: list[float] = []

        def one_beside_a_bare_sync() -> float:
            syncs.append(_sync(folder / "sync"))
            return one()

        name = "durable puts by 16 threads, to by one"
        result = compare(name, Bar("at least", 3), many, one_beside_a_bare_sync, repetitions=15)
    # Threads share nothing but the wait for the disk: the ratio grows with it.
    yield replace(result, note=f"{name}: meanwhile the disk took {duration(median(syncs))} to synchronise a page")


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


def _sync(path: Path) -> float:
    """How long the disk takes to make a page safe, without us."""
    with path.open("wb", buffering=0) as file:

        def write_and_sync() -> float:
            start = time.perf_counter()
            file.write(bytes(4096))
            os.fdatasync(file.fileno())
            return time.perf_counter() - start

        return median(write_and_sync() for _ in range(21))
