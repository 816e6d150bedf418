"""The supervisor: starts the processes, replaces those that die, and stops them.

    background ── it has prepared all ── workers, the first server ── it is ready ── the banner, the other servers ── …
               └─ it ends: an error                                └─ it ends: an error     └─ one ends: it is replaced
    … ── a signal ── Stop to servers ── they have ended ── Stop to workers ── they have ended ── Stop to background

All processes are forked from the supervisor, so it opens no database, starts no thread, and does no work itself. It
holds the listening socket, but accepts no connections: if a process dies, no waiting connection is lost, because
another process accepts it.
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

from partita.cli._listen import DRAIN_SECONDS
from partita.cli._signals import on_stop_signal
from partita.cli.processes._board import ConnectionBoard
from partita.cli.processes._channel import Asked, Counted, Cut, Failed, Ready, Stop, receive_from_process, send
from partita.cli.processes._figures import CommonFigures
from partita.cli.processes._replacing import Restarts
from partita.cli.processes._running import Running, Work, fork_process
from partita.reports import ProcessFigures

logger: Final = logging.getLogger("partita.serve")

KILL_SECONDS: Final = DRAIN_SECONDS + 5.0
"""How long a server may take to stop before it is killed."""
WORK_SECONDS: Final = 60.0
"""The same for workers, whose work may take longer than a request."""
CUT_SECONDS: Final = 5.0
"""The same for all processes, after a second signal."""


class Supervisor:
    """Runs the work of a server in several processes, from the main thread."""

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
            listener: the socket from which the servers accept; the other processes close it.
            servers: the work of the servers.
            background: the work of the one process that prepares what the servers need, and reports when it is ready.
            workers: the work of the workers of the services.
            on_ready: called with the banner of the first server when it accepts connections.
        """
        self._listener = listener
        self._servers = servers
        self._background = background
        self._workers = workers
        self._on_ready = on_ready
        self._board = ConnectionBoard(servers.count)
        self._running: dict[tuple[str, int], Running] = {}
        self._begun: set[str] = set()
        """The kinds of work for which a process was ready."""
        self._before = ProcessFigures()
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()
        self._figures = CommonFigures(self._running, background, self._after)
        self._restarts = Restarts()
        self._signals = 0
        self._is_stopping = False
        self._failure: str | None = None
        self._wake, self._waker = os.pipe()
        os.set_blocking(self._waker, False)

    def run(self) -> None:
        """Serve until a stop signal, and until all processes have ended.

        Raises:
            ClickException: the background process or the first server could not start.
        """
        on_stop_signal(self._signalled)
        self._start(self._background, 0)
        try:
            while self._running or not self._is_stopping:
                self._handle_events()
        except BaseException:
            for each in self._running.values():
                each.process.kill()
            raise
        if self._failure is not None:
            raise click.ClickException(self._failure)

    # Events

    def _handle_events(self) -> None:
        """Wait for messages, ends of processes, signals and timers, and handle those that have come."""
        pipes = {each.pipe: each for each in self._running.values()}
        ends: dict[int, Running] = {each.process.sentinel: each for each in self._running.values()}
        seconds = None if not self._timers else max(0.0, self._timers[0][0] - time.monotonic())
        found = connection.wait([self._wake, *pipes, *ends], seconds)
        for each in found:
            if isinstance(each, Connection):
                self._receive(pipes[each])
        for each in found:
            if isinstance(each, int) and each in ends:
                self._handle_end(ends[each])
        if self._wake in found:
            os.read(self._wake, 64)
            self._stop_as_asked()
        while self._timers and self._timers[0][0] <= time.monotonic():
            heapq.heappop(self._timers)[2]()

    def _receive(self, running: Running) -> None:
        """Receive the next message of a process, and handle it."""
        try:
            message = receive_from_process(running.pipe)
        except (EOFError, OSError):  # it has ended, or is about to
            return
        match message:
            case Ready():
                self._start_next(running, message)
            case Failed():
                running.failure = message.message
            case Counted():
                running.counted, running.troubles = message.figures, message.troubles
                self._figures.record_report(running)
            case Asked():
                self._figures.ask_others(running, message.number)

    def _start_next(self, running: Running, message: Ready) -> None:
        """When the first process of its kind is ready, start those that wait for it."""
        running.is_ready = True
        if running.work.kind in self._begun:
            return
        self._begun.add(running.work.kind)
        if self._is_stopping:
            return
        if running.work is self._background:
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
        try:
            started = fork_process(
                work,
                number,
                self._board,
                is_first=work.kind not in self._begun,
                before=self._before,
                close_inherited=lambda: self._close_inherited(is_server=work is self._servers),
            )
        except OSError as error:  # too many processes or files, or too little memory
            self._cannot_start(work, number, f"No {work.kind} process can be started: {error.strerror}.")
        else:
            self._running[started.key] = started

    def _cannot_start(self, work: Work, number: int, message: str) -> None:
        if self._is_needed(work):
            self._fail(message)
            return
        wait = self._restarts.pause((work.kind, number), 0.0)
        logger.error("%s Next try in %.0f s.", message, wait)
        self._after(wait, lambda: self._start(work, number))

    def _is_needed(self, work: Work) -> bool:
        """Whether nothing can be served without this process: the first of its kind."""
        return work is not self._workers and work.kind not in self._begun

    def _fail(self, message: str) -> None:
        self._failure = message
        self._stop()

    def _close_inherited(self, *, is_server: bool) -> None:
        """Close inherited files in a fork. An open copy of a pipe would hide the supervisor's end from its process."""
        for each in self._running.values():
            each.pipe.close()
        os.close(self._wake)
        os.close(self._waker)
        if not is_server:
            self._listener.close()

    def _handle_end(self, running: Running) -> None:
        """Handle the end of a process: keep its figures, and start a replacement."""
        running.process.join()
        code = running.process.exitcode
        running.read_last_messages()
        running.pipe.close()
        del self._running[running.key]
        if running.work is self._servers:
            self._board.close(running.number)
        self._figures.record_end(running)
        if self._is_stopping:
            self._stop_next()
        elif self._is_needed(running.work):
            message = f"The first {running.work.kind} process ended with {code} before it was ready."
            self._fail(running.failure or message)
        else:
            self._replace(running, code)

    def _replace(self, running: Running, code: int | None) -> None:
        wait = self._restarts.pause(running.key, time.monotonic() - running.started_at, has_begun=running.is_ready)
        when = f" in {wait:.0f} s" if wait >= 1 else ""
        reason = f": {running.failure}" if running.failure else "."
        message = "The process %s (%s) ended with %s, and is replaced%s%s"
        logger.warning(message, running.process.name, running.process.pid, code, when, reason)
        self._after(wait, lambda: self._start(running.work, running.number))

    # Stopping

    def _signalled(self) -> None:
        self._signals += 1
        with suppress(BlockingIOError):  # the pipe is full, so it wakes the main loop anyway
            os.write(self._waker, b"!")

    def _stop_as_asked(self) -> None:
        """On the first signal, finish the work that has begun; on the second, cut it off."""
        if not self._is_stopping:
            self._stop()
        if self._signals > 1:
            for each in self._running.values():
                send(each.pipe, Cut())
                if each.is_asked_to_stop:
                    self._kill_after(CUT_SECONDS, each)

    def _stop(self) -> None:
        self._is_stopping = True
        self._listener.close()  # once the servers have closed it, too, new clients are refused instead of waiting
        if self._background.kind not in self._begun:  # interrupted preparation is repeated at the next start
            for each in self._of(self._background):
                each.process.kill()
        self._stop_next()

    def _stop_next(self) -> None:
        """Stop the servers first, then the workers, and then the background process."""
        for work in (self._servers, self._workers, self._background):
            running = self._of(work)
            for each in running:
                if not each.is_asked_to_stop:
                    each.is_asked_to_stop = True
                    send(each.pipe, Stop())
                    self._kill_after(self._patience(work), each)
            if running:
                return

    def _of(self, work: Work | None) -> list[Running]:
        return [each for each in self._running.values() if each.work is work]

    def _patience(self, work: Work | None) -> float:
        if self._signals > 1:
            return CUT_SECONDS
        return KILL_SECONDS if work is self._servers else WORK_SECONDS

    def _kill_after(self, seconds: float, running: Running) -> None:
        self._after(seconds, lambda: self._kill(running))

    def _kill(self, running: Running) -> None:
        """Kill a process that did not stop in time: it may be suspended, or stuck."""
        if self._running.get(running.key) is running:
            logger.error("The process %s (%s) did not stop, and is killed.", running.process.name, running.process.pid)
            running.process.kill()

    def _after(self, seconds: float, then: Callable[[], None]) -> None:
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._order), then))
