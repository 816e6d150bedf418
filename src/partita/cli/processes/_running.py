"""One process that the supervisor has forked: its work, its pipe, and what it said last."""

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
    """What some of the processes do."""

    kind: str
    """What people call them: `server`."""
    run: Callable[..., None]
    """Called in each of them with its `ProcessChannel`, its number, the board, and `arguments`."""
    arguments: tuple[Any, ...] = ()
    count: int = 1
    """How many processes do it."""


class Running(Struct):
    """A process that runs."""

    work: Work
    number: int
    process: BaseProcess
    pipe: Connection
    started_at: float
    is_ready: bool = False
    is_asked_to_stop: bool = False
    """Whether `Stop` was sent to it."""
    is_silent: bool = False
    """Whether it did not say in time what it has counted, and nothing since."""
    failure: str = ""
    """Why it could not begin."""
    counted: ServerFigures = ServerFigures()
    """What it said last."""
    troubles: dict[str, str] = {}

    @property
    def key(self) -> tuple[str, int]:
        """No other that runs has the same."""
        return self.work.kind, self.number

    def hear_last(self) -> None:
        """Read what a process said before it ended."""
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
    let_go: Callable[[], None],
) -> Running:
    """Start a process. `let_go` is called there first: it closes what belongs to this one."""
    context = fork_context()
    ours, theirs = context.Pipe()

    def run() -> None:
        ours.close()
        let_go()
        run_process(work.run, name, number, theirs, board, *work.arguments, is_first=is_first, before=before)

    name = work.kind if work.count == 1 and number == 0 else f"{work.kind} {number + 1}"
    process = context.Process(target=run, name=name)
    with holding_stop_signals():
        process.start()
    theirs.close()
    return Running(work, number, process, ours, time.monotonic())
