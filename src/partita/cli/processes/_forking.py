"""Where the processes are forked from: a process that has imported everything, opened nothing, and has one thread.

A fork of the supervisor would share its open database and the locks of its threads. A process that is started anew
imports everything once more, and shares no memory. So Python's fork server imports once, and every process,
also one that takes the place of another, is a fork of it and shares its memory.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
from typing import Final

PRELOAD: Final = "_PARTITA_PRELOAD"
"""The environment variable that tells the fork server which services it is to import."""


def fork_context() -> ForkServerContext:
    """Starts processes by forking them from the fork server."""
    return multiprocessing.get_context("forkserver")


def prepare_forks(services: Sequence[str] | None = None) -> None:
    """Start the fork server, which imports meanwhile what it takes to serve services, or DynamoDB's protocol."""
    imported = "partita.wire" if services is None else "partita.cli.serving._preload"
    fork_context().set_forkserver_preload(["partita.cli.processes._quiet", imported])
    with _environment(PRELOAD, " ".join(services or ())):
        forkserver.ensure_running()


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]
