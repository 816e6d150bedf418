"""Durable writes: what group commit makes of many threads."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from io import RawIOBase
from pathlib import Path
from statistics import median
from typing import Any, Final

from msgspec.structs import replace

from bench._compare import Bar, Comparison, Side, compare, duration
from bench._model import TABLE, Task, task
from partita import EmbeddedStore, Session, put
from partita.model._entity import schema_of
from partita.store._requests import PutItem

THREADS: Final = 16
REQUIRED_SHARE: Final = 0.75
"""Of the ratio that threads could reach by sharing each sync among all of them."""
REPETITIONS: Final = 15
PUTS: Final = 2_000
"""Of one thread in one repetition; many make three times as many, so that both sides take about as long."""
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

        sync = _syncing(folder / "sync")
        sides = _sides(numbers, typed, _far_apart)
        yield _compare(f"durable puts by {THREADS} threads, to by one", sides, sync)

        sides = _sides(_requests(numbers), store.execute, _far_apart)
        yield _compare("the same without a session", sides, sync)

        sides = _sides(_requests(numbers), store.execute, _in_order)
        yield _compare("the same without, of keys in order", sides, sync)

        _slow_down(store)
        sides = _sides(numbers, typed, _far_apart, puts=SLOW_PUTS)
        yield _compare("the same with, on a disk 1 ms slower", sides, _syncing(folder / "sync", SLOWER))


def _compare(name: str, sides: tuple[Side, Side], sync: Side) -> Comparison:
    """How many times faster many threads are than one. A bare sync, measured beside them, tells what is required."""
    one, many = sides
    syncs: list[float] = []

    def one_beside_a_bare_sync() -> float:
        syncs.append(sync())
        return one()

    result = compare(name, Bar("at least", 1), many, one_beside_a_bare_sync, repetitions=REPETITIONS)
    possible = _ratio_if_shared(median(syncs), result.theirs)
    required = Bar("at least", round(REQUIRED_SHARE * possible, 2))
    note = f"{name}: {result.ratio:.2f}x; sharing all of a sync of {duration(median(syncs))} could give {possible:.2f}x"
    return replace(result, bar=required, note=note)


def _ratio_if_shared(sync: float, put_by_one: float) -> float:
    """What threads could reach that share each sync among all, and pay as much as one for the rest.

    The rest is Python's, which runs one thread at a time.
    """
    rest = max(put_by_one - sync, 0)
    return put_by_one / (rest + min(sync, put_by_one) / THREADS)


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


def _syncing(path: Path, slower: float = 0) -> Side:
    """How long the disk takes to make a page safe, without us."""

    def write_and_sync(file: RawIOBase) -> float:
        start = time.perf_counter()
        file.write(bytes(4096))
        os.fdatasync(file.fileno())
        time.sleep(slower)
        return time.perf_counter() - start

    def measure() -> float:
        with path.open("wb", buffering=0) as file:
            return median(write_and_sync(file) for _ in range(21))

    return measure
