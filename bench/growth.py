"""What the access patterns of each service, and operations on the whole file, cost at 10^3, 10^5 and more items.

    python -m bench.growth                           # 10^3 and 10^5 items of each service, in a minute or two
    python -m bench.growth --to 10000000             # and 10^7: up to 20 GB for a service, twice that for its backup
    python -m bench.growth --service todo --to 10000000 --patterns    # without operations on the whole file

A file begins with the sample data of its service. It grows by copies of all of it, with other partition keys in the
table and in every index. So a pattern returns the same result at every size, and any extra cost is due to the size.
Costs are processor time, the median of many runs. A get or query may cost 1.3 times as much as in the smallest file.

Each operation on a whole file runs in its own process, whose memory is reported: if memory is bounded, it is about the
same for every size. The same holds for the size that the log reaches.
"""

from __future__ import annotations

import argparse
import multiprocessing
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any, Final, TypeAlias

from bench._grown import GrownFile
from bench._memory import peak_megabytes
from partita import EmbeddedStore, Operation, Session
from partita.cost._measure import _NoSample, _Samples
from partita.service import Service, discover
from partita.store import CreateIndex, DeleteIndex, IndexSchema, TableSchema

SIZES: Final = (1_000, 100_000)
ALLOWED: Final = 1.3
NEAR: Final = 1.15
RUNS: Final = 60
NOW: Final = 1_800_000_000.0

Costs: TypeAlias = dict[int, dict[str, tuple[float, float]]]
"""For each size of the file: the cost of each pattern in the smallest file and in the file of this size."""


def main() -> int:
    """Grow files and print tables; return 1 if a read costs more than allowed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=int, default=SIZES[-1], help="number of items in the largest file")
    parser.add_argument("--service", action="append", help="a service to measure; may be repeated")
    parser.add_argument("--patterns", action="store_true", help="measure only the access patterns")
    parser.add_argument("--folder", type=Path, help="folder of the files; by default a temporary folder")
    given = parser.parse_args()
    chosen = [service for service in discover() if service.name in (given.service or [service.name])]
    sizes = [*(size for size in SIZES if size < given.to), given.to]
    dearer = []
    for service in chosen:
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            path = Path(folder) / f"{service.name}.db"
            dearer += grow(service, sizes, path, whole=not given.patterns)
    print(f"\nMore than {ALLOWED} times: {', '.join(dearer) or 'none'}.")
    return bool(dearer)


def grow(service: Service, sizes: Sequence[int], path: Path, *, whole: bool) -> list[str]:
    """Print the costs of one service at each size, and return the reads that cost too much at the last one."""
    small, lengths = path.with_suffix(".small"), []
    costs: Costs = {}
    reads = dict(seeded(service, path))
    grown = GrownFile(path)
    print(f"\n{service.name}", flush=True)
    for size in sizes:
        seconds = time.process_time()
        grown.grow(size)
        seconds = time.process_time() - seconds
        print(f"  grown to {grown.items:,} items, by {seconds:.1f} s of processor time", flush=True)
        if not small.exists():
            shutil.copy(path, small)
        costs[size] = _costs(reads, small, path)
        lengths.append(path.stat().st_size / grown.items)
        if whole:
            whole_file(path, grown.largest[0])
    _print_costs(list(sizes), costs)
    print(f"  {'bytes of the file for an item':<46}" + "".join(f"{length:18,.0f}" for length in lengths), flush=True)
    return [f"{service.name} {name}" for name, (few, many) in costs[sizes[-1]].items() if many > ALLOWED * few]


def _print_costs(sizes: list[int], costs: Costs) -> None:
    title = "microseconds of processor time, ratio"
    print(f"  {title:<46}" + "".join(f"{size:>18,}" for size in sizes))
    for name in costs[sizes[0]]:
        cells = [costs[size][name] for size in sizes]
        print(f"  {name:<46}" + "".join(f"{many * 1e6:10.0f}{many / few:7.2f}x" for few, many in cells))


def _costs(reads: Mapping[str, Operation[Any]], small: Path, large: Path) -> dict[str, tuple[float, float]]:
    """The cost of each read in the smallest file and in this one, measured alternately, so that noise affects both."""
    with EmbeddedStore(small, durable=False) as few, EmbeddedStore(large, durable=False) as many:
        sessions = Session(few), Session(many)
        return {name: cost([lambda db=db, read=read: db.run(read) for db in sessions]) for name, read in reads.items()}  # type: ignore[misc]


def seeded(service: Service, path: Path) -> Iterator[tuple[str, Operation[Any]]]:
    """Create a file with the sample data of a service, and return the reads to measure in it."""
    with EmbeddedStore(path, durable=False) as store:
        db = Session(store)
        db.create_tables(service.tables)
        samples = [db.run(operation) for operation in (service.seed(NOW) if service.seed else ())]
    return _reads(service, _Samples(samples))


def cost(calls: Sequence[Callable[[], object]]) -> tuple[float, float]:
    """The median processor time of two calls, run alternately; with ten times as many runs if it is near the bar."""
    few, many = _medians(calls, RUNS)
    return (few, many) if many < NEAR * few else _medians(calls, 10 * RUNS)


def _medians(calls: Sequence[Callable[[], object]], runs: int) -> tuple[float, float]:
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(runs):
        for call, times in zip(calls, taken, strict=True):
            start = time.thread_time()
            call()
            times.append(time.thread_time() - start)
    few, many = (median(times[runs // 6 :]) for times in taken)  # the first runs warm up
    return few, many


def _reads(service: Service, samples: _Samples) -> Iterator[tuple[str, Operation[Any]]]:
    """Yield an operation of each pattern that reads, with arguments from the sample data, as in `partita cost`."""
    examples = {example.pattern: example for example in (service.examples(NOW) if service.examples else ())}
    for pattern in service.patterns:
        if pattern.kind == "write":
            continue
        try:
            yield pattern.name, examples.get(pattern) or samples.operation(pattern, samples.changed)
        except _NoSample:
            print(f"  {pattern.name}: not measured, because the sample data has no arguments for it")


def whole_file(path: Path, schema: TableSchema) -> None:
    """Open, back up and verify a file, add an index to the backup and delete it; print the cost of each."""
    copy = path.with_suffix(".copy")
    _elsewhere("open", path, _open, path)
    _elsewhere("back up", path, _back_up, path, copy)
    _elsewhere("verify", path, _verify, path)
    _elsewhere("add an index to the largest table", copy, _add_index, copy, schema)
    _elsewhere("delete that index", copy, _delete_index, copy, schema)
    for part in path.parent.glob(f"{copy.name}*"):
        part.unlink()


def _elsewhere(what: str, written: Path, work: Callable[..., None], *given: Any) -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        waiting, log = pool.submit(_measured, work, *given), 0
        while not waiting.done():
            log = max(log, _length(Path(f"{written}-wal")))
            time.sleep(0.05)
        seconds, megabytes = waiting.result()
    memory = f"{megabytes} MB of memory, log of at most {log // 1_000_000} MB"
    print(f"  {what:<48}{seconds:10.2f} s of processor time, {memory}", flush=True)


def _length(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _measured(work: Callable[..., None], *given: Any) -> tuple[float, int]:
    start = time.process_time()
    work(*given)
    return time.process_time() - start, peak_megabytes()


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


def _delete_index(path: Path, schema: TableSchema) -> None:
    with EmbeddedStore(path) as store:
        store.execute(DeleteIndex(schema.name, "growth"))


if __name__ == "__main__":
    sys.exit(main())
