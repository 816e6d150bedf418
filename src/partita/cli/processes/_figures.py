"""The figures of all processes, which the supervisor adds up for a process that requests them.

If a process takes longer than `COUNT_SECONDS` to report its figures, its last report is used. It may be stopped
(SIGSTOP, a debugger): until it reports again, it is neither waited for nor asked. Otherwise its pipe, which it does not
read, would fill up, and the supervisor would block on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from partita.cli.processes._channel import Answer, Count, send
from partita.cli.processes._running import Running, Work
from partita.reports import ServerFigures

COUNT_SECONDS: Final = 2.0
"""How long the others may take to report their figures."""
ENDED: Final = "process_ended"
SILENT: Final = "process_silent"


class _Asking(Struct, eq=False):
    """A process that waits for an answer, and the processes that have not reported yet."""

    asker: Running
    number: int
    """The number of its request."""
    missing: set[tuple[str, int]]


class CommonFigures:
    """The figures of all processes, including those that have ended, and their current failures."""

    def __init__(
        self,
        running: Mapping[tuple[str, int], Running],
        background: Work,
        after: Callable[[float, Callable[[], None]], None],
    ) -> None:
        """Set up without requests.

        Args:
            running: the processes, by their keys.
            background: the work that one of them must be doing at any time.
            after: calls a function after a number of seconds.
        """
        self._running = running
        self._background = background
        self._after = after
        self._ended = ServerFigures()
        self._asking: list[_Asking] = []

    def ask_others(self, asker: Running, number: int) -> None:
        """Handle a process's request for the figures of the others. It gets the answer when all have reported."""
        others = [each for each in self._running.values() if each is not asker and each.is_ready and not each.is_silent]
        asking = _Asking(asker, number, {each.key for each in others})
        self._asking.append(asking)
        for each in others:
            send(each.pipe, Count())
        if others:
            self._after(COUNT_SECONDS, lambda: self._stop_waiting(asking))
        else:
            self._answer(asking)

    def record_report(self, running: Running) -> None:
        """Record that a process has reported its figures."""
        running.is_silent = False
        self._cross_off(running)

    def record_end(self, running: Running) -> None:
        """Record that a process has ended. Its last figures stay in the sum."""
        self._ended = self._ended.plus(running.counted)
        self._cross_off(running)

    def _cross_off(self, running: Running) -> None:
        """Wait for this process no longer, and answer the requests for which no other is missing."""
        for asking in list(self._asking):
            asking.missing.discard(running.key)
            if not asking.missing:
                self._answer(asking)

    def _stop_waiting(self, asking: _Asking) -> None:
        """Answer a request with the last figures of the processes that have not reported in time."""
        if asking in self._asking:
            for key in asking.missing:
                self._running[key].is_silent = True
            self._answer(asking)

    def _answer(self, asking: _Asking) -> None:
        self._asking.remove(asking)
        figures = self._ended
        for each in self._running.values():
            if each is not asking.asker:
                figures = figures.plus(each.counted)
        send(asking.asker.pipe, Answer(asking.number, figures, self._troubles(asking.asker)))

    def _troubles(self, asker: Running) -> dict[str, str]:
        troubles: dict[str, str] = {}
        for each in self._running.values():
            if each is not asker:
                troubles.update(each.troubles)
            if each.is_silent:
                troubles[each.process.name] = SILENT
        if not any(each.is_ready and each.work is self._background for each in self._running.values()):
            troubles[self._background.kind] = ENDED
        return troubles
