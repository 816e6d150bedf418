"""Where the processes are forked from: the supervisor, which has loaded everything, opened nothing, and has one thread.

A fork of a process that has opened a database would share its file locks; a fork of one with threads would have their
locks and not the threads. So the supervisor does neither: what is done once is done by a process of its own. A process
that is started again would load everything once more, and share no memory.
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
    """Starts processes by forking this one."""
    return multiprocessing.get_context("fork")


@contextmanager
def loading_for_forks(modules: Iterable[str] = ()) -> Iterator[None]:
    """Load modules, and make in here what the processes are to share besides.

    CPython writes to the objects that it looks through for garbage, and what is written to is no longer shared. So
    nothing is looked for while it is made, and nobody looks at what was made.

    Raises:
        ClickException: a thread was started, whose locks a fork would keep for ever.
    """
    gc.disable()
    try:
        for name in modules:
            with suppress(ImportError):  # some are not installed everywhere; who needs one says that it is missing
                import_module(name)
        file_system()  # SQLite's extension is loaded into the memory that all share
        yield
    finally:
        gc.freeze()
        gc.enable()
    if threading.active_count() > 1:
        message = "A service starts threads while it is loaded, so that no process can be forked: say --processes 1."
        raise click.ClickException(message)
