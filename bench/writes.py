"""Durable writes: what group commit makes of many threads."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any, Final

from msgspec.structs import replace

from bench._compare import Bar, Comparison, Side, compare, duration
from bench._model import TABLE, Task, task
from partita import EmbeddedStore, Session, put
from partita.model._entity import schema_of
from partita.store._requests import PutItem

BAR: Final = Bar("at least", 3)
THREADS: Final = 16
REPETITIONS: Final = 15
PUTS: Final = 2_000
"""Of one thread in one turn; many make three times as many, so that a turn lasts about as long."""
SLOWER: Final = 0.001
"""Seconds that a slower disk takes more for a sync: common where the disk is behind a network."""
SLOW_PUTS: Final = 400

Write = Callable[[Any], object]
Deal = Callable[[list[Any], int], list[list[Any]]]


def comparisons(folder: Path) -> Iterator[Comparison]:
    """All measurements of this module."""
    with EmbeddedStore(folder / "writes.db") as store:
        db = Session(store)
        db.create_tables([TABLE])
        numbers = itertools.count()

        def typed(number: int) -> None:
            db.run(put(task(number)))

        name = f"durable puts by {THREADS} threads, to by one"
        one, many = _sides(numbers, typed, _far_apart)
        syncs: list[float] = []

        def one_beside_a_bare_sync() -> float:
            syncs.append(_sync(folder / "sync"))
            return one()

        result = compare(name, BAR, many, one_beside_a_bare_sync, repetitions=REPETITIONS)
        yield replace(result, note=f"{name}: {_what_can_be_shared(median(syncs), result.theirs)}")

        one, many = _sides(_requests(numbers), store.execute, _far_apart)
        yield compare("the same without a session", BAR, many, one, repetitions=REPETITIONS)

        one, many = _sides(_requests(numbers), store.execute, _in_order)
        yield compare("the same without, of keys in order", BAR, many, one, repetitions=REPETITIONS)

        _slow_down(store)
        one, many = _sides(numbers, typed, _far_apart, puts=SLOW_PUTS)
        yield compare("the same with, on a disk 1 ms slower", BAR, many, one, repetitions=REPETITIONS)


def _what_can_be_shared(sync: float, put_by_one: float) -> str:
    """Threads share the wait for the disk; the rest is Python's, which runs one thread at a time."""
    most = f"{put_by_one / (put_by_one - sync):.1f}" if sync < put_by_one else "any number"
    return f"a sync took {duration(sync)}; threads that share it all and pay for nothing else could make {most}"


def _slow_down(store: EmbeddedStore) -> None:
    """Let every commit of the store take longer, as on a slower disk."""
    connection = store._writer.connection  # noqa: SLF001 - nothing in the library waits on purpose

    def wait(*_: object) -> int:
        time.sleep(SLOWER)
        return 0

    connection.set_wal_hook(wait)


def _requests(numbers: Iterator[int]) -> Iterator[PutItem]:
    item = schema_of(Task).item
    return (PutItem(TABLE.name, item(task(number))) for number in numbers)


def _in_order(work: list[Any], threads: int) -> list[list[Any]]:
    """Dealt out one by one: many threads write the same keys in the same order as one."""
    return [work[thread::threads] for thread in range(threads)]


def _far_apart(work: list[Any], threads: int) -> list[list[Any]]:
    """Each thread has keys of its own, which lie together; a commit touches more pages."""
    share = len(work) // threads
    return [work[start : start + share] for start in range(0, len(work), share)]


def _sides(work: Iterator[Any], write: Write, deal: Deal, *, puts: int = PUTS) -> tuple[Side, Side]:
    one = _writing(work, write, deal, threads=1, writes=puts)
    return one, _writing(work, write, deal, threads=THREADS, writes=3 * puts)


def _writing(work: Iterator[Any], write: Write, deal: Deal, *, threads: int, writes: int) -> Side:
    def write_all(share: list[Any]) -> None:
        for each in share:
            write(each)

    def measure() -> float:
        shares = deal(list(itertools.islice(work, writes)), threads)
        with ThreadPoolExecutor(threads) as pool:
            start = time.perf_counter()
            list(pool.map(write_all, shares))
            return (time.perf_counter() - start) / writes

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
