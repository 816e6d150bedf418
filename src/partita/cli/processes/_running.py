"""One process that the supervisor has forked: its work, its pipe, and its last report."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from msgspec import Struct

from partita.cli._signals import holding_stop_signals
from partita.cli.processes._board import ConnectionBoard
from partita.cli.processes._channel import Counted, Failed, receive_from_process
from partita.cli.processes._forking import fork_context
from partita.cli.processes._process import run_process
from partita.reports import ProcessFigures, ServerFigures


class Work(Struct, frozen=True):
    """The work of one kind of process."""

    kind: str
    """The name of this kind, such as `server`."""
    run: Callable[..., None]
    """Called in each process with its `ProcessChannel`, its number, the board, and `arguments`."""
    arguments: tuple[Any, ...] = ()
    count: int = 1
    """How many processes do this work."""


class Running(Struct):
    """A running process."""

    work: Work
    number: int
    process: BaseProcess
    pipe: Connection
    started_at: float
    is_ready: bool = False
    is_asked_to_stop: bool = False
    """Whether `Stop` was sent to it."""
    is_silent: bool = False
    """Whether it did not report its figures in time, and has not reported since."""
    failure: str = ""
    """Why it could not start."""
    counted: ServerFigures = ServerFigures()
    """The figures that it reported last."""
    troubles: dict[str, str] = {}

    @property
    def key(self) -> tuple[str, int]:
        """Identifies the process among the running ones."""
        return self.work.kind, self.number

    def read_last_messages(self) -> None:
        """Read the messages that the process sent before it ended."""
        with suppress(EOFError, OSError):
            while self.pipe.poll():
                match receive_from_process(self.pipe):
                    case Counted(figures):
                        self.counted = figures
                    case Failed(message):
                        self.failure = message


def fork_process(
    work: Work,
    number: int,
    board: ConnectionBoard,
    *,
    is_first: bool,
    before: ProcessFigures,
    close_inherited: Callable[[], None],
) -> Running:
    """Start a process. `close_inherited` is called first in the new process: it closes what only this one uses."""
    context = fork_context()
    ours, theirs = context.Pipe()

    def run() -> None:
        ours.close()
        close_inherited()
        run_process(work.run, name, number, theirs, board, *work.arguments, is_first=is_first, before=before)

    name = work.kind if work.count == 1 and number == 0 else f"{work.kind} {number + 1}"
    process = context.Process(target=run, name=name)
    with holding_stop_signals():
        process.start()
    theirs.close()
    return Running(work, number, process, ours, time.monotonic())
