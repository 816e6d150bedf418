"""The cost of overwriting deleted data: replacing and deleting items with SQLite's three settings of `secure_delete`.

    python -m bench.secure_delete

`fast` overwrites deleted rows only if their page is written anyway; pages that become entirely free keep their content.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from partita import EmbeddedStore, _sqlite
from partita.store import CreateTable, DeleteItem, KeyAttribute, PutItem, TableSchema

ITEMS: Final = 300
ROUNDS: Final = 7
TEXT: Final = "x" * 1_000
LARGE: Final = "x" * 20_000
SETTINGS: Final = ("on", "fast", "off")


def main() -> None:
    """Print the processor time of each workload, relative to that without overwriting."""
    for name, workload in (("replace and delete 1 KB", _small), ("replace and delete 20 KB", _large)):
        seconds: dict[str, list[float]] = {setting: [] for setting in SETTINGS}
        for _ in range(ROUNDS):
            for setting in SETTINGS:
                seconds[setting].append(_measure(setting, workload))
        base = statistics.median(seconds["off"])
        ratios = ", ".join(f"{setting} {statistics.median(seconds[setting]) / base:.2f}x" for setting in SETTINGS)
        sys.stdout.write(f"{name}: {ratios}\n")


def _measure(setting: str, workload: Callable[[EmbeddedStore], None]) -> float:
    with tempfile.TemporaryDirectory() as folder, EmbeddedStore(Path(folder) / "b.db", durable=False) as store:
        store.execute(CreateTable(TableSchema("items", KeyAttribute("id", "S"))))
        store._writer.connection.pragma("secure_delete", setting)  # noqa: SLF001 - the store has no option for it
        start = time.process_time()
        workload(store)
        _sqlite.erase_log(store._writer.connection)  # noqa: SLF001 - as above
        return time.process_time() - start


def _small(store: EmbeddedStore) -> None:
    _work(store, TEXT)


def _large(store: EmbeddedStore) -> None:
    _work(store, LARGE)


def _work(store: EmbeddedStore, text: str) -> None:
    for number in range(ITEMS):
        store.execute(PutItem("items", {"id": str(number), "text": text}))
    for number in range(ITEMS):
        store.execute(PutItem("items", {"id": str(number), "text": text[1:]}))
    for number in range(ITEMS):
        store.execute(DeleteItem("items", {"id": str(number)}))


if __name__ == "__main__":
    main()
