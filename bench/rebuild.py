"""How fast a projection and a lake are built from all items of a table, and how much memory that takes.

    python -m bench.rebuild                                    # 20,000 items of To-Do, in a minute or two
    python -m bench.rebuild --items 1000000                    # in many minutes
    python -m bench.rebuild --items 1000000 --service events --only projection

A file of a service with this many items is created as in `bench.growth`. A tenth of the items is built first: if the
rates and the memory are about the same, neither the time per item nor the memory grows with the table. The size of the
result is reported as well. Each build runs in its own process, whose peak memory is the figure.
"""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final

from bench._grown import GrownFile
from bench._memory import peak_megabytes
from partita import EmbeddedStore, Session
from partita.change import Consumer, Sink
from partita.change.lake import Lake
from partita.service import Service, discover

NOW: Final = 1_800_000_000.0
KINDS: Final = ("projection", "lake")


def main() -> int:
    """Build from a tenth of the items and from all of them, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--service", default="todo")
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--folder", type=Path, help="folder of the files; by default a temporary folder")
    given = parser.parse_args()
    print(
        f"{'':<24}{'items':>12}{'items/s':>10}{'processor s':>13}{'wall s':>9}{'memory':>10}{'written':>12}{'log':>10}"
    )
    for items in (given.items // 10, given.items):
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            path = Path(folder) / "items.db"
            _made(given.service, path, items)
            for kind in (given.only,) if given.only else KINDS:
                _elsewhere(given.service, kind, path, Path(folder) / kind)
    return 0


def _service(name: str) -> Service:
    return next(service for service in discover() if service.name == name)


def _made(name: str, path: Path, items: int) -> None:
    service = _service(name)
    with EmbeddedStore(path, durable=False) as store:
        db = Session(store)
        db.create_tables(service.tables)
        for operation in service.seed(NOW) if service.seed else ():
            db.run(operation)
    GrownFile(path).grow(items)


def _elsewhere(name: str, kind: str, path: Path, place: Path) -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        waiting, log = pool.submit(_built, name, kind, path, place), 0
        while not waiting.done():
            log = max(log, sum(each.stat().st_size for each in _existing(place.parent.glob(f"{kind}*-wal"))))
            time.sleep(0.05)
        items, processor, wall, memory = waiting.result()
    written = sum(each.stat().st_size for each in _existing([place, *place.rglob("*")]) if each.is_file())
    figures = f"{items:12,}{items / processor:12,.0f}{processor:12.1f}{wall:12.1f}{memory:9} MB"
    print(f"{name + ', ' + kind:<24}{figures}{written // 1_000_000:9} MB{log // 1_000_000:9} MB", flush=True)


def _existing(paths: Any) -> Iterator[Path]:
    return (path for path in paths if path.exists())


def _built(name: str, kind: str, path: Path, place: Path) -> tuple[int, float, float, int]:
    """Build one, and return the items, the processor seconds, the elapsed seconds and the peak memory."""
    logging.getLogger("partita").setLevel(logging.ERROR)  # a load is logged as maintenance
    service = _service(name)
    assert service.projection is not None
    table = service.projection.table
    opening: dict[str, Callable[[], Any]] = {
        "projection": lambda: service.projection.open(place),  # type: ignore[union-attr]
        "lake": lambda: Lake(place, table),
    }
    with EmbeddedStore(path) as store:
        sink: Sink = opening[kind]()
        processor, wall = time.process_time(), time.perf_counter()
        items = Consumer(store, table, sink).rebuild()
        figures = time.process_time() - processor, time.perf_counter() - wall
        sink.close()  # type: ignore[attr-defined]
    return items, *figures, peak_megabytes()


if __name__ == "__main__":
    sys.exit(main())
