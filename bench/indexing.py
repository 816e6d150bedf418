"""How long writers wait while an index is added to a large table, and while it is deleted.

    python -m bench.indexing                         # 100,000 and 1,000,000 items of Accounts
    python -m bench.indexing --items 10000000        # 10^7: about 6 GB of disk

A thread of the process that adds the index, and another process, continuously put items into the same table; each put
is durable before the next one. The figure is the longest wait of one put, which must not grow with the table. Because
it depends on other load of the machine, the longest wait while no index is added is measured as well, for as many
seconds (at most 60).
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Final

from bench._grown import GrownFile
from bench.growth import seeded
from partita import EmbeddedStore
from partita.service import discover
from partita.store import CreateIndex, DeleteIndex, IndexSchema, PutItem, TableSchema

SIZES: Final = (100_000, 1_000_000)
MAX_IDLE_SECONDS: Final = 60.0
SERVICE: Final = "accounts"
INDEX: Final = "growth"


class Waits:
    """Puts one item after the other, and keeps the longest wait since the last call of `asked`."""

    def __init__(self, store: EmbeddedStore, schema: TableSchema, name: str) -> None:
        self._store = store
        self._schema = schema
        self._name = name
        self.longest = 0.0
        self.puts = 0
        self._asked_at = 0.0
        self._begun_at: float | None = None

    def put(self) -> None:
        """Put one item: every second put replaces the item of the put before."""
        key = {self._schema.hash.name: self._name}
        if self._schema.range is not None:
            key[self._schema.range.name] = f"{self.puts // 2:09}"
        self._begun_at = time.perf_counter()
        self._store.execute(PutItem(self._schema.name, {**key, "count": self.puts}))
        self._note()
        self._begun_at = None
        self.puts += 1

    def _note(self) -> None:
        """Record how long the put in progress has waited since the last call of `asked`."""
        if self._begun_at is not None:
            self.longest = max(self.longest, time.perf_counter() - max(self._begun_at, self._asked_at))

    def asked(self) -> tuple[float, int]:
        """Return the longest wait since the last call, and the number of puts, and start again."""
        self._note()
        self._asked_at = time.perf_counter()
        found = self.longest, self.puts
        self.longest, self.puts = 0.0, 0
        return found


def main() -> int:
    """Print the longest waits at each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, action="append", help="number of items in the file; may be repeated")
    parser.add_argument("--folder", type=Path, help="folder of the file; by default a temporary folder")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path = Path(folder) / "indexing.db"
        service = next(service for service in discover() if service.name == SERVICE)
        dict(seeded(service, path))
        grown = GrownFile(path)
        for size in given.items or SIZES:
            grown.grow(size)
            schema, items = grown.largest
            print(f"\n{items:,} items in {schema.name}, of {grown.items:,} in a file of {_megabytes(path):,} MB")
            measure(path, schema)
    return 0


def _megabytes(path: Path) -> int:
    return path.stat().st_size // 1_000_000


def measure(path: Path, schema: TableSchema) -> None:
    """Print the longest waits while an index is added, while nothing else runs, and while the index is deleted."""
    with EmbeddedStore(path) as store, _elsewhere(path, schema) as ask, _thread(store, schema) as waits:

        def during(what: str, work: Callable[[], object]) -> float:
            waits.asked()
            ask()
            seconds, used = time.perf_counter(), time.process_time()
            work()
            seconds, used = time.perf_counter() - seconds, time.process_time() - used
            found = "; ".join(
                f"{name} waited {1_000 * longest:7.0f} ms at most, of {puts:,} puts"
                for name, (longest, puts) in (("thread", waits.asked()), ("process", ask()))
            )
            print(f"  {what:<18}{seconds:7.1f} s, {used:6.1f} s of processor time; {found}", flush=True)
            return seconds

        turned = (schema.hash,) if schema.range else ()
        index = IndexSchema(INDEX, (schema.range or schema.hash,), turned)
        seconds = during("add an index", lambda: store.execute(CreateIndex(schema.name, index)))
        during("nothing", lambda: time.sleep(min(seconds, MAX_IDLE_SECONDS)))
        during("delete the index", lambda: store.execute(DeleteIndex(schema.name, INDEX)))


@contextmanager
def _thread(store: EmbeddedStore, schema: TableSchema) -> Iterator[Waits]:
    waits, ended = Waits(store, schema, "thread"), threading.Event()

    def work() -> None:
        while not ended.is_set():
            waits.put()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield waits
    finally:
        ended.set()
        thread.join()


@contextmanager
def _elsewhere(path: Path, schema: TableSchema) -> Iterator[Callable[[], tuple[float, int]]]:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    ended = context.Event()
    process = context.Process(target=_put_all, args=(path, schema, there, ended))
    process.start()

    def ask() -> tuple[float, int]:
        here.send(None)
        return here.recv()  # type: ignore[no-any-return]

    try:
        ask()
        yield ask
    finally:
        ended.set()
        process.join()


def _put_all(path: Path, schema: TableSchema, asked: Connection, ended: Event) -> None:
    with EmbeddedStore(path) as store:
        waits = Waits(store, schema, "process")
        while not ended.is_set():
            waits.put()
            if asked.poll():
                asked.recv()
                asked.send(waits.asked())


if __name__ == "__main__":
    sys.exit(main())
