"""What each access pattern of each service costs when its file has 10^3, 10^5 and 10^7 items, and what the file does.

    python -m bench.growth                           # up to 10^5 items of each service, in some minutes
    python -m bench.growth --to 10000000             # and to 10^7: hours, and about 10 GB for each service
    python -m bench.growth --service todo --to 1000000

A file begins with the sample data of its service. It grows by copies of all of it, with other partition keys in the
table and in every index. So a pattern gives the same at every size, and what it costs more is what the size costs.
Costs are of processor time, the median of many runs. A get or query may cost 1.3 times as much as in the smallest file.

What is done with a whole file is done by a process of its own, whose memory is the figure: with bounded memory it is
about the same for every size.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any, Final

from msgspec import Struct

from partita import EmbeddedStore, Operation, Session
from partita.cost._measure import _NoSample, _Samples
from partita.service import Service, discover
from partita.store import BatchWriteItem, CreateIndex, IndexSchema, PutItem, ScanTable, TableSchema
from partita.values import Item

SIZES: Final = (1_000, 100_000, 1_000_000, 10_000_000)
ALLOWED: Final = 1.3
RUNS: Final = 60
BATCH: Final = 25
NOW: Final = 1_800_000_000.0


class FileFigures(Struct, frozen=True):
    """What was done with a file as a whole: seconds of processor time and megabytes of memory."""

    what: str
    seconds: float
    megabytes: int


def main() -> int:
    """Grow files and print tables; 1 if a read costs more than it may."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=int, default=100_000, help="how many items at most")
    parser.add_argument("--service", action="append", help="one of the services; may be repeated")
    parser.add_argument(
        "--folder", type=Path, help="where the files are made; a temporary folder unless said otherwise"
    )
    given = parser.parse_args()
    chosen = [service for service in discover() if service.name in (given.service or [service.name])]
    sizes = [size for size in SIZES if size <= given.to]
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        dearer = [name for service in chosen for name in grow(service, sizes, Path(folder) / f"{service.name}.db")]
    print(f"\nMore than {ALLOWED} times: {', '.join(dearer) or 'none'}.")
    return bool(dearer)


def grow(service: Service, sizes: Sequence[int], path: Path) -> list[str]:
    """Print what one service costs at each size; gives the reads that cost too much more at the last."""
    costs: dict[str, list[float]] = {}
    print(f"\n{service.name}, microseconds of processor time" + "".join(f"{size:>14,}" for size in sizes))
    files: list[tuple[FileFigures, ...]] = []
    lengths: list[float] = []
    with EmbeddedStore(path, durable=False) as store:
        growing = Growing(service, store)
        for size in sizes:
            growing.grow(size)
            for name, read in growing.reads.items():
                costs.setdefault(name, []).append(cost(lambda read=read: growing.db.run(read)))  # type: ignore[misc]
            of_file, length = whole_file(path, growing)
            files.append(of_file)
            lengths.append(length / growing.items)
    for name, figures in costs.items():
        ratio = f"{figures[-1] / figures[0]:8.2f}x"
        print(f"  {name:<48}" + "".join(f"{figure * 1e6:14.0f}" for figure in figures) + ratio)
    print(f"  {'bytes of the file for an item':<48}" + "".join(f"{size:14,.0f}" for size in lengths))
    for same in zip(*files, strict=True):
        cells = "".join(f"{each.seconds:7.2f} s{each.megabytes:4d} MB" for each in same)
        print(f"  {same[0].what:<48}{cells}")
    return [f"{service.name} {name}" for name, figures in costs.items() if figures[-1] > ALLOWED * figures[0]]


def cost(call: Callable[[], object]) -> float:
    """The processor time of a call: the median of many, after some to warm up."""
    taken = []
    for _ in range(RUNS):
        start = time.thread_time()
        call()
        taken.append(time.thread_time() - start)
    return median(taken[RUNS // 6 :])


class Growing:
    """A service's file, the sample items that it grows by, and the reads that are measured in it."""

    def __init__(self, service: Service, store: EmbeddedStore) -> None:
        self.db = Session(store)
        self.items = 0
        self._store = store
        self._copies = 0
        self.db.create_tables(service.tables)
        samples = [self.db.run(operation) for operation in (service.seed(NOW) if service.seed else ())]
        self.schemas = [table.schema for table in service.tables]
        self._samples = {schema.name: list(_scanned(store, schema.name)) for schema in self.schemas}
        self.items = sum(map(len, self._samples.values()))
        self.reads = dict(_reads(service, _Samples(samples)))

    def grow(self, size: int) -> None:
        """Add copies of the samples until there are so many items."""
        while self.items < size:
            self._copies += 1
            for schema in self.schemas:
                hashes = _hash_attributes(schema)
                copies = [_copied(item, hashes, self._copies) for item in self._samples[schema.name]]
                for start in range(0, len(copies), BATCH):
                    puts = tuple(PutItem(schema.name, item) for item in copies[start : start + BATCH])
                    self._store.execute(BatchWriteItem(puts))
                self.items += len(copies)


def _scanned(store: EmbeddedStore, table: str) -> Iterator[Item]:
    after = None
    while True:
        page = store.execute(ScanTable(table, start=after))
        yield from page.items
        if (after := page.last_key) is None:
            return


def _hash_attributes(schema: TableSchema) -> set[str]:
    indexes = [attribute.name for index in schema.indexes if not index.local for attribute in index.hash]
    return {schema.hash.name, *indexes}


def _copied(item: Item, hashes: set[str], number: int) -> Item:
    """The item in another partition of the table and of each index."""
    return {name: f"{value}~{number}" if name in hashes else value for name, value in item.items()}


def _reads(service: Service, samples: _Samples) -> Iterator[tuple[str, Operation[Any]]]:
    """An operation of each pattern that reads, with arguments of the sample data, as `partita cost` has them."""
    examples = {example.pattern: example for example in (service.examples(NOW) if service.examples else ())}
    for pattern in service.patterns:
        if pattern.kind == "write":
            continue
        try:
            yield pattern.name, examples.get(pattern) or samples.operation(pattern, samples.changed)
        except _NoSample:
            print(f"  {pattern.name}: the sample data has nothing for it")


def whole_file(path: Path, growing: Growing) -> tuple[tuple[FileFigures, ...], int]:
    """Open, back up and verify a file, and add an index, each in a new process; and the bytes of the backup."""
    figures = [FileFigures("open", *_elsewhere(_open, path))]
    copy = path.with_suffix(".copy")
    figures.append(FileFigures("backup", *_elsewhere(_back_up, path, copy)))
    length = copy.stat().st_size
    figures.append(FileFigures("verify", *_elsewhere(_verify, path)))
    figures.append(FileFigures("add an index to the first table", *_elsewhere(_add_index, copy, growing.schemas[0])))
    for part in path.parent.glob(f"{copy.name}*"):
        part.unlink()
    return tuple(figures), length


def _elsewhere(work: Callable[..., None], *given: Any) -> tuple[float, int]:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_measured, work, *given).result()


def _measured(work: Callable[..., None], *given: Any) -> tuple[float, int]:
    start = time.process_time()
    work(*given)
    return time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1_024


def _open(path: Path) -> None:
    EmbeddedStore(path).close()


def _back_up(path: Path, target: Path) -> None:
    with EmbeddedStore(path) as store:
        store.backup(target)


def _verify(path: Path) -> None:
    with EmbeddedStore(path) as store:
        store.verify()


def _add_index(path: Path, schema: TableSchema) -> None:
    with EmbeddedStore(path) as store:
        turned = (schema.hash,) if schema.range else ()
        store.execute(CreateIndex(schema.name, IndexSchema("growth", (schema.range or schema.hash,), turned)))


if __name__ == "__main__":
    sys.exit(main())
