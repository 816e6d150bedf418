"""The supervisor: starts the processes, replaces those that die, and stops them.

    background ── it has prepared all ── workers, the first server ── it is ready ── say so, the other servers ── …
               └─ it ends: an error                                └─ it ends: an error     └─ one ends: another follows
    … ── a signal ── Stop to servers ── they have ended ── Stop to workers ── they have ended ── Stop to background

It is what all of them are forked from, so it opens no database, starts no thread, and does no work. It holds the
listening socket and accepts nothing itself: a connection that waits is never lost with a process, it waits for the next
one that accepts.
"""

from __future__ import annotations

import heapq
import logging
import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from multiprocessing import connection
from multiprocessing.connection import Connection
from typing import Final

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
    Failed,
    Ready,
    Stop,
    receive_from_process,
    send,
)
from partita.cli.processes._running import Running, Work, fork_process
from partita.reports import ProcessFigures, ServerFigures

logger: Final = logging.getLogger("partita.serve")

RESTART_SECONDS: Final = 1.0
"""A process that dies is replaced at once, but not more often than this."""
COUNT_SECONDS: Final = 2.0
"""How long the others may take to say what they have counted; who takes longer has what it said last."""
KILL_SECONDS: Final = DRAIN_SECONDS + 5.0
"""After so long a process that was told to stop is killed."""


class _Asking(Struct):
    """A process that waits for an answer, and those that have not said yet what they counted."""

    asker: Running
    number: int
    """Of its question."""
    missing: set[tuple[str, int]]


class Supervisor:
    """Runs the work of a server in several processes. All of it is done by the main thread."""

    def __init__(
        self,
        listener: socket.socket,
        servers: Work,
        background: Work,
        workers: Work | None = None,
        *,
        on_ready: Callable[[str], None] = click.echo,
    ) -> None:
        """Set up a supervisor; nothing is started yet.

        Args:
            listener: what the servers accept from; the others do not keep it.
            servers: what those do that serve.
            background: what is done once, by one process. It prepares what the servers need, and says that it has.
            workers: what those do that work for the services.
            on_ready: called with the banner of the first server, once it accepts connections.
        """
        self._listener = listener
        self._servers = servers
        self._background = background
        self._workers = workers
        self._on_ready = on_ready
        self._board = ConnectionBoard(servers.count)
        self._running: dict[tuple[str, int], Running] = {}
        self._begun: set[str] = set()
        """The kinds of which one was ready."""
        self._before = ProcessFigures()
        self._ended = ServerFigures()
        self._asking: list[_Asking] = []
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()
        self._signals = 0
        self._is_stopping = False
        self._failure: str | None = None
        self._wake, self._waker = os.pipe()
        os.set_blocking(self._waker, False)

    def run(self) -> None:
        """Serve until a signal asks to stop, and all processes have ended.

        Raises:
            ClickException: what prepares, or the first server, could not begin.
        """
        on_stop_signal(self._signalled)
        self._start(self._background, 0)
        try:
            while self._running or not self._is_stopping:
                self._wait()
        except BaseException:
            for each in self._running.values():
                each.process.kill()
            raise
        if self._failure is not None:
            raise click.ClickException(self._failure)

    # What is heard

    def _wait(self) -> None:
        pipes = {each.pipe: each for each in self._running.values()}
        ends: dict[int, Running] = {each.process.sentinel: each for each in self._running.values()}
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

    def _hear(self, each: Running) -> None:
        try:
            message = receive_from_process(each.pipe)
        except (EOFError, OSError):  # it has ended, or is about to
            return
        match message:
            case Ready():
                self._is_ready(each, message)
            case Failed():
                each.failure = message.message
            case Counted():
                each.counted, each.troubles = message.figures, message.troubles
                self._has_counted(each)
            case Asked():
                self._ask_others(each, message.number)

    def _is_ready(self, each: Running, message: Ready) -> None:
        """The first of its kind is ready: those that wait for it can begin, too."""
        each.is_ready = True
        if each.work.kind in self._begun:
            return
        self._begun.add(each.work.kind)
        if self._is_stopping:
            return
        if each.work is self._background:
            self._before = message.before
            self._start(self._servers, 0)
            for number in range(self._workers.count if self._workers else 0):
                self._start(self._workers, number)
        else:
            self._on_ready(message.banner)
            for number in range(1, self._servers.count):
                self._start(self._servers, number)

    # Starting and ending

    def _start(self, work: Work | None, number: int) -> None:
        if self._is_stopping or work is None:
            return
        started = fork_process(
            work,
            number,
            self._board,
            is_first=work.kind not in self._begun,
            before=self._before,
            let_go=lambda: self._let_go(is_server=work is self._servers),
        )
        self._running[started.key] = started

    def _let_go(self, *, is_server: bool) -> None:
        """Close in a fork what is not its own. Who keeps a pipe of another would keep that from hearing of our end."""
        for each in self._running.values():
            each.pipe.close()
        os.close(self._wake)
        os.close(self._waker)
        if not is_server:
            self._listener.close()

    def _bury(self, each: Running) -> None:
        """A process has ended: keep what it counted, and start another in its place."""
        each.process.join()
        code = each.process.exitcode
        each.hear_last()
        each.pipe.close()
        del self._running[each.key]
        if each.work is self._servers:
            self._board.close(each.number)
        self._ended = self._ended.plus(each.counted)
        self._has_counted(each)
        if self._is_stopping:
            self._stop_next()
        elif each.work is not self._workers and each.work.kind not in self._begun:
            ended = f"The first {each.work.kind} process ended with {code} before it was ready."
            self._failure = each.failure or ended
            self._stop()
        else:
            logger.warning(
                "The process %s (%s) ended with %s, and is replaced.", each.process.name, each.process.pid, code
            )
            wait = max(0.0, RESTART_SECONDS - (time.monotonic() - each.started_at))
            self._after(wait, lambda: self._start(each.work, each.number))

    # Stopping

    def _signalled(self) -> None:
        self._signals += 1
        with suppress(BlockingIOError):  # what is in the pipe already will be read
            os.write(self._waker, b"!")

    def _obey(self) -> None:
        """The first signal: finish. The second: do not."""
        if not self._is_stopping:
            self._stop()
        if self._signals > 1:
            for each in self._of(self._servers):
                send(each.pipe, Cut())

    def _stop(self) -> None:
        self._is_stopping = True
        if self._background.kind not in self._begun:  # what it prepares is prepared again where it ends in between
            self._kill(self._background)
        self._after(KILL_SECONDS, lambda: self._kill(self._servers))
        self._stop_next()

    def _stop_next(self) -> None:
        """Servers finish first, then those who work for them, and then who does the work of all."""
        for work in (self._servers, self._workers, self._background):
            running = self._of(work)
            for each in running:
                if not each.is_told:
                    each.is_told = True
                    send(each.pipe, Stop())
            if running:
                return

    def _of(self, work: Work | None) -> list[Running]:
        return [each for each in self._running.values() if each.work is work]

    def _kill(self, work: Work) -> None:
        for each in self._of(work):
            if work is self._servers:
                logger.error("The process %s (%s) did not stop, and is killed.", each.process.name, each.process.pid)
            each.process.kill()

    # Adding up

    def _ask_others(self, asker: Running, number: int) -> None:
        others = [each for each in self._running.values() if each is not asker and each.is_ready]
        asking = _Asking(asker, number, {each.key for each in others})
        self._asking.append(asking)
        for each in others:
            send(each.pipe, Count())
        if others:
            self._after(COUNT_SECONDS, lambda: self._answer(asking))
        else:
            self._answer(asking)

    def _has_counted(self, each: Running) -> None:
        for asking in list(self._asking):
            asking.missing.discard(each.key)
            if not asking.missing:
                self._answer(asking)

    def _answer(self, asking: _Asking) -> None:
        if asking not in self._asking:  # answered already
            return
        self._asking.remove(asking)
        figures, troubles = self._ended, {}
        for each in self._running.values():
            if each is not asking.asker:
                figures = figures.plus(each.counted)
                troubles.update(each.troubles)
        if not any(each.is_ready for each in self._of(self._background)):
            troubles[self._background.kind] = "process_ended"
        send(asking.asker.pipe, Answer(asking.number, figures, troubles))

    def _after(self, seconds: float, then: Callable[[], None]) -> None:
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._order), then))
