"""Durable writes: how much group commit gains with many threads."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any, Final

import apsw
from msgspec.structs import replace

from bench._compare import Bar, Comparison, Side, compare, duration
from bench._model import TABLE, Task, task
from partita import EmbeddedStore, Session, put
from partita._sqlite._database_file import CHECKPOINT_PAGES
from partita.model._entity import schema_of
from partita.store._requests import PutItem
from partita.values import encode_item

THREADS: Final = 16
REQUIRED: Final = 0.75
"""The required share of the ratio that is possible if all threads share every sync."""
REPETITIONS: Final = 15
PUTS: Final = 2_000
"""The puts of one thread in a round; many threads make three times as many, so that both sides take about as long."""
BARE_PUTS: Final = 200
BARE_REPETITIONS: Final = 61
SLOWER: Final = 0.001
"""The extra seconds that a slower disk needs for a sync, as is common for network disks."""
SLOW_PUTS: Final = 400

Write = Callable[[Any], object]
Deal = Callable[[list[Any], int], list[list[Any]]]


def comparisons(folder: Path) -> Iterator[Comparison]:
    """All measurements of this module."""
    with (
        EmbeddedStore(folder / "writes.db") as store,
        EmbeddedStore(folder / "unsynced.db", durable=False) as unsynced,
    ):
        for each in (store, unsynced):
            Session(each).create_tables([TABLE])
        numbers = itertools.count()
        typed = _typed(store), _typed(unsynced)
        untyped = store.execute, unsynced.execute

        yield _put_against_sqlite(folder, numbers, typed[0])
        yield _compare(f"durable puts by {THREADS} threads, to by one", numbers, typed, _far_apart)
        yield _compare("the same without a session", _requests(numbers), untyped, _far_apart)
        yield _compare("the same without, of keys in order", _requests(numbers), untyped, _in_order)
        _slow_down(store)
        yield _compare("the same with, on a disk 1 ms slower", numbers, typed, _far_apart, puts=SLOW_PUTS)


def _put_against_sqlite(folder: Path, numbers: Iterator[int], write: Write) -> Comparison:
    """Durable puts of one thread, compared with as many SQLite commits of the same bytes under the same keys."""
    connection = apsw.Connection(str(folder / "bare.db"))
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "full")
    connection.execute("CREATE TABLE items (hk, rk, item BLOB); CREATE UNIQUE INDEX key ON items (hk, rk)")

    def commit(request: PutItem) -> None:
        row = request.item["PK"], request.item["SK"], encode_item(request.item)
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO items VALUES (?, ?, ?)", row)
        connection.execute("COMMIT")

    ours = _writing(numbers, write, _far_apart, threads=1, writes=BARE_PUTS)
    theirs = _writing(_requests(numbers), commit, _far_apart, threads=1, writes=BARE_PUTS)
    bar = Bar("at most", 1.5)
    comparison = compare("a durable put, to a bare SQLite commit", bar, ours, theirs, repetitions=BARE_REPETITIONS)
    connection.close()
    return comparison


def _compare(
    name: str, work: Iterator[Any], writes: tuple[Write, Write], deal: Deal, *, puts: int = PUTS
) -> Comparison:
    """How many times faster many threads are than one. The same puts without a sync determine the required ratio."""
    write, write_unsynced = writes
    one = _writing(work, write, deal, threads=1, writes=puts)
    many = _writing(work, write, deal, threads=THREADS, writes=3 * puts)
    one_unsynced = _writing(work, write_unsynced, deal, threads=1, writes=puts)
    without_sync: list[float] = []

    def one_beside_unsynced() -> float:
        without_sync.append(one_unsynced())
        return one()

    result = compare(name, Bar("at least", 1), many, one_beside_unsynced, repetitions=REPETITIONS)
    sync = max(result.theirs - median(without_sync), 0)
    possible = _ratio_if_shared(result.theirs, sync)
    return replace(
        result,
        bar=Bar("at least", round(REQUIRED * possible, 2)),
        note=f"{name}: {result.ratio:.2f}x; sharing every sync of {duration(sync)} could give {possible:.2f}x",
    )


def _ratio_if_shared(put: float, sync: float) -> float:
    """The ratio if all threads shared each sync, and the rest of a put took as long as with one thread.

    The rest is Python code, which runs in one thread at a time.
    """
    return put / (put - sync + sync / THREADS)


def _typed(store: EmbeddedStore) -> Write:
    db = Session(store)
    return lambda number: db.run(put(task(number)))


def _slow_down(store: EmbeddedStore) -> None:
    """Make every commit of the store take longer, as on a slower disk.

    This replaces the hook in which SQLite checkpoints a long log, so it runs the checkpoint, too.
    """
    connection = store._writer.connection  # noqa: SLF001 - the library has no option to wait

    def wait(_: apsw.Connection, name: str, pages: int) -> int:
        time.sleep(SLOWER)
        if pages >= CHECKPOINT_PAGES:
            connection.wal_checkpoint(name)
        return 0

    connection.set_wal_hook(wait)


def _requests(numbers: Iterator[int]) -> Iterator[PutItem]:
    item = schema_of(Task).item
    return (PutItem(TABLE.name, item(task(number))) for number in numbers)


def _in_order(work: list[Any], threads: int) -> list[list[Any]]:
    """Deal the work out one by one: many threads write the same keys in the same order as one."""
    return [work[thread::threads] for thread in range(threads)]


def _far_apart(work: list[Any], threads: int) -> list[list[Any]]:
    """Give each thread adjacent keys of its own, so that a shared commit touches more pages."""
    share = len(work) // threads
    return [work[start : start + share] for start in range(0, len(work), share)]


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
