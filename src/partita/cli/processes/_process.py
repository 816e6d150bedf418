"""The setup and end of each process around its work: signals, logs, and the pipe to the supervisor."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import click

from partita.cli._signals import stop_signals
from partita.cli.processes._board import ConnectionBoard
from partita.cli.processes._channel import ProcessChannel
from partita.errors import PartitaError
from partita.reports import ProcessFigures


def run_process(
    run: Callable[..., None],
    name: str,
    number: int,
    pipe: Connection,
    board: ConnectionBoard,
    *arguments: Any,
    is_first: bool,
    before: ProcessFigures,
) -> None:
    """Do the work of one process, until it has to stop or the supervisor is gone."""
    channel = ProcessChannel(pipe, is_first=is_first, before=before)
    _take_signals(channel)
    _name_logs(name)
    channel.start()
    try:
        run(channel, number, board, *arguments)
    except (PartitaError, click.ClickException, OSError) as error:
        if is_first:
            channel.failed(str(error))
        else:
            click.echo(f"Error: {name} ({os.getpid()}): {error}", err=True)
        sys.exit(1)
    finally:
        channel.ended()


def _take_signals(channel: ProcessChannel) -> None:
    """Finish on SIGTERM. Signals of a terminal also reach the supervisor, which decides when to stop."""
    signals = set(stop_signals())
    for each in signals:
        signal.signal(each, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: channel.stop())
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)


def _name_logs(name: str) -> None:
    """Add the name and id of the process to every line of the log."""
    logging.basicConfig(format=f"{name} (%(process)d): %(message)s", force=True)
