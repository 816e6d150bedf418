"""Work that is done once, before the processes of a server are forked: in a process that ends, and its memory with it.

What a process has loaded and allocated stays in it as long as it runs, and what the supervisor has is in all that are
forked from it. So neither of them does what is needed once.
"""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection

import click

from partita.cli._signals import holding_stop_signals, on_stop_signal, stop_signals
from partita.cli.processes._forking import fork_context
from partita.errors import PartitaError


@contextmanager
def working_beside(work: Callable[[], None]) -> Iterator[None]:
    """Do work in a process of its own while the block runs, and wait for its end.

    This process must have one thread, and must have opened no database: the other one is forked from it. A signal that
    asks to stop ends both at once, so it must be work that can be done again.

    Raises:
        ClickException: the work could not be done, and why.
    """
    ours, theirs = fork_context().Pipe(duplex=False)
    process = fork_context().Process(target=_run, args=(work, theirs))
    with ours:
        try:
            with holding_stop_signals():  # one that comes meanwhile ends this block
                on_stop_signal(lambda: sys.exit(0))
                process.start()
            theirs.close()
            yield
            process.join()
        except SystemExit:
            click.echo("Stopped.")
            raise
        finally:
            if process.pid is not None:
                process.kill()
        if process.exitcode != 0:
            raise click.ClickException(_failure(ours) or f"The process that prepares ended with {process.exitcode}.")


def _run(work: Callable[[], None], pipe: Connection) -> None:
    signals = set(stop_signals())
    for each in signals:
        signal.signal(each, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
    logging.basicConfig(format="preparing (%(process)d): %(message)s", force=True)
    try:
        work()
    except (PartitaError, click.ClickException, OSError) as error:
        pipe.send_bytes(str(error).encode())
        sys.exit(1)


def _failure(pipe: Connection) -> str:
    with suppress(EOFError):
        return pipe.recv_bytes().decode()
    return ""
