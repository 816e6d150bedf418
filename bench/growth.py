"""What each access pattern of each service costs when its file has 10^3, 10^5 and more items, and what the file does.

    python -m bench.growth                           # 10^3 and 10^5 items of each service, in a minute or two
    python -m bench.growth --to 10000000             # and 10^7: up to 20 GB for a service, twice that for its backup
    python -m bench.growth --service todo --to 10000000 --patterns    # without what is done with the whole file

A file begins with the sample data of its service. It grows by copies of all of it, with other partition keys in the
table and in every index. So a pattern gives the same at every size, and what it costs more is what the size costs.
Costs are of processor time, the median of many runs. A get or query may cost 1.3 times as much as in the smallest file.

What is done with a whole file is done by a process of its own, whose memory is the figure: with bounded memory it is
about the same for every size. So is what its log has grown to.
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
"""By the size of the file, what each pattern costs in the smallest file and in this one."""


def main() -> int:
    """Grow files and print tables; 1 if a read costs more than it may."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=int, default=SIZES[-1], help="how many items the largest file has")
    parser.add_argument("--service", action="append", help="one of the services; may be repeated")
    parser.add_argument("--patterns", action="store_true", help="the access patterns alone")
    parser.add_argument(
        "--folder", type=Path, help="where the files are made; a temporary folder unless said otherwise"
    )
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
    """Print what one service costs at each size; gives the reads that cost too much more at the last."""
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
    """What each read costs in the smallest file and in this one, by turns, so that noise hits both."""
    with EmbeddedStore(small, durable=False) as few, EmbeddedStore(large, durable=False) as many:
        sessions = Session(few), Session(many)
        return {name: cost([lambda db=db, read=read: db.run(read) for db in sessions]) for name, read in reads.items()}  # type: ignore[misc]


def seeded(service: Service, path: Path) -> Iterator[tuple[str, Operation[Any]]]:
    """Make a file with the sample data of a service; gives the reads that are measured in it."""
    with EmbeddedStore(path, durable=False) as store:
        db = Session(store)
        db.create_tables(service.tables)
        samples = [db.run(operation) for operation in (service.seed(NOW) if service.seed else ())]
    return _reads(service, _Samples(samples))


def cost(calls: Sequence[Callable[[], object]]) -> tuple[float, float]:
    """The processor time of two calls: the median of many by turns; of ten times as many where it is near the bar."""
    few, many = _medians(calls, RUNS)
    return (few, many) if many < NEAR * few else _medians(calls, 10 * RUNS)


def _medians(calls: Sequence[Callable[[], object]], runs: int) -> tuple[float, float]:
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(runs):
        for call, times in zip(calls, taken, strict=True):
            start = time.thread_time()
            call()
            times.append(time.thread_time() - start)
    few, many = (median(times[runs // 6 :]) for times in taken)  # the first warm up
    return few, many


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


def whole_file(path: Path, schema: TableSchema) -> None:
    """Open, back up and verify a file, add an index to the backup and delete it; print what each takes by itself."""
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
