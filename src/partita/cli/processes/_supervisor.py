"""The supervisor: starts the processes that serve, replaces those that die, and stops them.

    start the first ── it is ready ── say so, start the others ── … ── a signal ── Stop to all ── all have ended
                    └─ it ends ────── an error                    └─ one ends: another takes its place

It holds the listening socket and accepts nothing itself. So a connection that waits is never lost with a process: it
waits for the next one that accepts.
"""

from __future__ import annotations

import heapq
import logging
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import count
from multiprocessing import connection
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import MappingProxyType
from typing import Any, Final

import click
from msgspec import Struct

from partita.cli._listen import DRAIN_SECONDS
from partita.cli._signals import on_stop_signal
from partita.cli.processes._board import ConnectionBoard
from partita.cli.processes._channel import (
    Answer,
    Asked,
    Count,
    Counted,
    Cut,
    Ready,
    Stop,
    receive_from_process,
    send,
)
from partita.cli.processes._forking import fork_context
from partita.cli.processes._process import run_process
from partita.reports import ServerFigures

logger: Final = logging.getLogger("partita.serve")

RESTART_SECONDS: Final = 1.0
"""A process that dies is replaced at once, but not more often than this."""
COUNT_SECONDS: Final = 2.0
"""How long the others may take to say what they have counted; who takes longer has what it said last."""
KILL_SECONDS: Final = DRAIN_SECONDS + 5.0
"""After so long a process that was told to stop is killed."""


class Work(Struct, frozen=True):
    """What the processes do."""

    kind: str
    """What people call them: `server`."""
    run: Callable[..., None]
    """Called in each of them with its `ProcessChannel`, its number, the board, and `arguments`."""
    arguments: tuple[Any, ...] = ()


class _Running(Struct):
    """A process that runs."""

    number: int
    process: BaseProcess
    pipe: Connection
    started_at: float
    is_ready: bool = False
    counted: ServerFigures = ServerFigures()
    """What it said last."""


class _Asking(Struct):
    """A process that waits for an answer, and those that have not said yet what they counted."""

    asker: _Running
    number: int
    """Of its question."""
    missing: set[int]


class Supervisor:
    """Runs the same work in several processes. All of it is done by the main thread."""

    def __init__(
        self,
        work: Work,
        processes: int,
        *,
        own: ServerFigures = ServerFigures(),  # noqa: B008 - frozen
        troubles: Mapping[str, str] = MappingProxyType({}),
        on_ready: Callable[[str], None] = click.echo,
    ) -> None:
        """Set up a supervisor; nothing is started yet.

        Args:
            work: what they do.
            processes: how many.
            own: what was counted before they were started.
            troubles: what goes wrong in the supervisor's own process, for those that ask.
            on_ready: called with the banner of the first process, once it accepts connections.
        """
        self._work = work
        self._troubles = troubles
        self._on_ready = on_ready
        self._context = fork_context()
        self._board = ConnectionBoard(processes)
        self._processes = processes
        self._running: dict[int, _Running] = {}
        self._ended = own
        self._asking: list[_Asking] = []
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()
        self._signals = 0
        self._is_stopping = False
        self._was_ready = False
        self._failure: int | None = None
        self._wake, self._waker = os.pipe()
        os.set_blocking(self._waker, False)

    def run(self) -> None:
        """Serve until a signal asks to stop, and all processes have ended.

        Raises:
            ClickException: the first process could not start.
        """
        on_stop_signal(self._signalled)
        self._start(0)
        try:
            while self._running or not self._is_stopping:
                self._wait()
        except BaseException:
            for each in self._running.values():
                each.process.kill()
            raise
        if self._failure is not None:
            message = f"The first {self._work.kind} process ended with {self._failure} before it was ready."
            raise click.ClickException(message)

    # What is heard

    def _wait(self) -> None:
        pipes = {each.pipe: each for each in self._running.values()}
        ends: dict[int, _Running] = {each.process.sentinel: each for each in self._running.values()}
        seconds = None if not self._timers else max(0.0, self._timers[0][0] - time.monotonic())
        found = connection.wait([self._wake, *pipes, *ends], seconds)
        for each in found:
            if isinstance(each, Connection):
                self._hear(pipes[each])
        for each in found:
            if isinstance(each, int) and each in ends:
                self._bury(ends[each])
        if self._wake in found:
            os.read(self._wake, 64)
            self._obey()
        while self._timers and self._timers[0][0] <= time.monotonic():
            heapq.heappop(self._timers)[2]()

    def _hear(self, each: _Running) -> None:
        try:
            message = receive_from_process(each.pipe)
        except (EOFError, OSError):  # it has ended, or is about to
            return
        match message:
            case Ready():
                each.is_ready = True
                if not self._was_ready:
                    self._begin(message.banner)
            case Counted():
                each.counted = message.figures
                self._has_counted(each)
            case Asked():
                self._ask_others(each, message.number)

    def _begin(self, banner: str) -> None:
        """The first is ready: the others can be, too."""
        self._was_ready = True
        if self._is_stopping:
            return
        self._on_ready(banner)
        for number in range(1, self._processes):
            self._start(number)

    # Starting and ending

    def _start(self, number: int) -> None:
        if self._is_stopping:
            return
        ours, theirs = self._context.Pipe()
        name = f"{self._work.kind} {number + 1}"
        process = self._context.Process(
            target=run_process,
            args=(self._work.run, name, number, theirs, self._board, *self._work.arguments),
            kwargs={"is_first": not self._was_ready},
            name=name,
        )
        process.start()
        theirs.close()
        self._running[number] = _Running(number, process, ours, time.monotonic())

    def _bury(self, each: _Running) -> None:
        """A process has ended: keep what it counted, and start another in its place."""
        each.process.join()
        code = each.process.exitcode
        self._hear_last(each)
        each.pipe.close()
        del self._running[each.number]
        self._board.close(each.number)
        self._ended = self._ended.plus(each.counted)
        self._has_counted(each)
        if not self._was_ready:
            self._failure, self._is_stopping = code, True
        elif not self._is_stopping:
            name, pid = each.process.name, each.process.pid
            logger.warning("The process %s (%s) ended with %s, and is replaced.", name, pid, code)
            wait = max(0.0, RESTART_SECONDS - (time.monotonic() - each.started_at))
            self._after(wait, lambda: self._start(each.number))

    def _hear_last(self, each: _Running) -> None:
        with suppress(EOFError, OSError):
            while each.pipe.poll():
                message = receive_from_process(each.pipe)
                if isinstance(message, Counted):
                    each.counted = message.figures

    # Stopping

    def _signalled(self) -> None:
        self._signals += 1
        with suppress(BlockingIOError):  # what is in the pipe already will be read
            os.write(self._waker, b"!")

    def _obey(self) -> None:
        """The first signal: finish. The second: do not."""
        if not self._is_stopping:
            self._is_stopping = True
            self._tell_all(Stop())
            self._after(KILL_SECONDS, self._kill_all)
        if self._signals > 1:
            self._tell_all(Cut())

    def _tell_all(self, message: Stop | Cut) -> None:
        for each in self._running.values():
            send(each.pipe, message)

    def _kill_all(self) -> None:
        for each in self._running.values():
            logger.error("The process %s (%s) did not stop, and is killed.", each.process.name, each.process.pid)
            each.process.kill()

    # Adding up

    def _ask_others(self, asker: _Running, number: int) -> None:
        others = [each for each in self._running.values() if each is not asker and each.is_ready]
        asking = _Asking(asker, number, {each.number for each in others})
        self._asking.append(asking)
        for each in others:
            send(each.pipe, Count())
        if others:
            self._after(COUNT_SECONDS, lambda: self._answer(asking))
        else:
            self._answer(asking)

    def _has_counted(self, each: _Running) -> None:
        for asking in list(self._asking):
            asking.missing.discard(each.number)
            if not asking.missing:
                self._answer(asking)

    def _answer(self, asking: _Asking) -> None:
        if asking not in self._asking:  # answered already
            return
        self._asking.remove(asking)
        figures = self._ended
        for each in self._running.values():
            if each is not asking.asker:
                figures = figures.plus(each.counted)
        send(asking.asker.pipe, Answer(asking.number, figures, dict(self._troubles)))

    def _after(self, seconds: float, then: Callable[[], None]) -> None:
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._order), then))
