"""Work that is done once, before the processes of a server are forked, in a separate process that then ends.

Memory that a process has allocated is kept as long as it runs, and that of the supervisor is inherited by all processes
that are forked from it. So the work that is needed only once is done in a process whose memory is freed when it ends.
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
    """Do work in a separate process while the block runs, and wait for its end.

    The process is forked from this one, which must have only one thread, and no open database. A stop signal ends both
    at once, so the work must be repeatable.

    Raises:
        ClickException: the work failed; the message says why.
    """
    ours, theirs = fork_context().Pipe(duplex=False)
    process = fork_context().Process(target=_run, args=(work, theirs))
    with ours:
        try:
            with holding_stop_signals():  # a signal that arrives in this block ends it
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
            raise click.ClickException(_failure(ours) or f"The preparing process ended with {process.exitcode}.")


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
