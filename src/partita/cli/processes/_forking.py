"""Forking the processes from the supervisor, which has loaded everything, has opened nothing, and has one thread.

A fork of a process with an open database would share its file locks; a fork of a process with threads would have the
locks of these threads, but not the threads. So the supervisor has neither, and work that must be done once is done in a
separate process. Spawned processes would load everything again, and share no memory.
"""

from __future__ import annotations

import gc
import multiprocessing
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from multiprocessing.context import ForkContext

import click

from partita._sqlite import file_system


def fork_context() -> ForkContext:
    """The context that starts processes by forking this one."""
    return multiprocessing.get_context("fork")


@contextmanager
def loading_for_forks(modules: Iterable[str] = ()) -> Iterator[None]:
    """Load modules. The block creates other objects that the processes will share.

    CPython's garbage collector writes to the objects that it examines, and a written memory page is no longer shared.
    So the collector is off in the block, and never examines the objects that were created here.

    Raises:
        ClickException: a thread was started, whose locks a fork would hold forever.
    """
    gc.disable()
    try:
        for name in modules:
            with suppress(ImportError):  # some are optional; the code that needs one reports that it is missing
                import_module(name)
        file_system()  # loads SQLite's extension into the memory that all share
        yield
    finally:
        gc.freeze()
        gc.enable()
    if threading.active_count() > 1:
        message = "A service starts threads while it is loaded, so processes cannot be forked. Use --processes 1."
        raise click.ClickException(message)
