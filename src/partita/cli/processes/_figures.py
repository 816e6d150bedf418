"""How the processes are doing, added up by the supervisor for whichever of them was asked.

A process that takes longer than `COUNT_SECONDS` to say what it has counted has what it said last. It may be stopped
(SIGSTOP, a debugger): until it speaks again nobody waits for it, and it is not asked again. A pipe that nobody reads
would be full some day, and the supervisor would wait for it in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from partita.cli.processes._channel import Answer, Count, send
from partita.cli.processes._running import Running, Work
from partita.reports import ServerFigures

COUNT_SECONDS: Final = 2.0
"""How long the others may take to say what they have counted."""
ENDED: Final = "process_ended"
SILENT: Final = "process_silent"


class _Asking(Struct, eq=False):
    """A process that waits for an answer, and those that have not said yet what they counted."""

    asker: Running
    number: int
    """Of its question."""
    missing: set[tuple[str, int]]


class CommonFigures:
    """What all processes have counted, also those that have ended, and what they have trouble with."""

    def __init__(
        self,
        running: Mapping[tuple[str, int], Running],
        background: Work,
        after: Callable[[float, Callable[[], None]], None],
    ) -> None:
        """Nobody has asked yet.

        Args:
            running: the processes, by their keys.
            background: what must be done by one of them at any time.
            after: calls something after so many seconds.
        """
        self._running = running
        self._background = background
        self._after = after
        self._ended = ServerFigures()
        self._asking: list[_Asking] = []

    def ask_others(self, asker: Running, number: int) -> None:
        """A process wants to know how the others are doing: it gets an answer when all have counted."""
        others = [each for each in self._running.values() if each is not asker and each.is_ready and not each.is_silent]
        asking = _Asking(asker, number, {each.key for each in others})
        self._asking.append(asking)
        for each in others:
            send(each.pipe, Count())
        if others:
            self._after(COUNT_SECONDS, lambda: self._wait_no_more(asking))
        else:
            self._answer(asking)

    def has_counted(self, each: Running) -> None:
        """A process has said what it counted."""
        each.is_silent = False
        self._miss_no_more(each)

    def has_ended(self, each: Running) -> None:
        """A process has ended: what it said last stays in the sum."""
        self._ended = self._ended.plus(each.counted)
        self._miss_no_more(each)

    def _miss_no_more(self, each: Running) -> None:
        for asking in list(self._asking):
            asking.missing.discard(each.key)
            if not asking.missing:
                self._answer(asking)

    def _wait_no_more(self, asking: _Asking) -> None:
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
