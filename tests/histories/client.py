"""A client in its own process: `python -m tests.histories.client ADDRESS FILE NUMBER COUNT`.

It appends each transaction to the file when it begins, so that the file has it even if the process is killed.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

from tests.histories._history import Recorder, Transaction, line_of
from tests.histories._workload import REFUSALS, ListClient

from partita import Session
from partita.store import open_store

NUMBERS_EACH = 1_000_000


def appending(file: Path) -> Callable[[Transaction], None]:
    """Return a function that appends a transaction to a file, as one line."""
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    return lambda transaction: _write_line(descriptor, transaction)


def _write_line(descriptor: int, transaction: Transaction) -> None:
    os.write(descriptor, line_of(transaction))


def main(address: str, file: str, number: str, count: str) -> None:
    """Execute `count` operations. Their times are those of the machine's monotonic clock, which all processes share."""
    recorder = Recorder(time.monotonic_ns, appending(Path(file)))
    numbers = iter(range(int(number) * NUMBERS_EACH, (int(number) + 1) * NUMBERS_EACH))
    store = open_store(address)
    client = ListClient(Session(store), recorder, f"process-{number}", Random(int(number)), lambda: next(numbers))
    for _ in range(int(count)):
        with suppress(*REFUSALS):
            client.act()
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
