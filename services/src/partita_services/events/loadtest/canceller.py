"""Cancellations during the burst: for each winner it is decided once, at random, whether they cancel."""

from __future__ import annotations

import threading
from random import Random
from typing import Final

from partita_services.events.loadtest.audit import WON
from partita_services.events.loadtest.server import Server

LOOK_SECONDS: Final = 0.5


class Canceller:
    """Cancels for some winners, in its own thread, until `stop`, which handles the winners that are left."""

    def __init__(self, server: Server, event_id: str, share: float, random: Random) -> None:
        self._server = server
        self._event_id = event_id
        self._share = share
        self._random = random
        self._asked: set[str] = set()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._failure: Exception | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Handle the winners that are left, including those that cancellations have promoted, and end the thread."""
        self._stopping.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            while not self._stopping.wait(LOOK_SECONDS):
                self._ask_new_winners()
            while self._ask_new_winners():
                pass
        except Exception as failure:  # noqa: BLE001 - raised again by `stop`
            self._failure = failure

    def _ask_new_winners(self) -> int:
        """Decide at random whether each new winner cancels. Return how many new winners there were."""
        winners = [each for each in self._server.winners(self._event_id) if each.request_id not in self._asked]
        for each in winners:
            self._asked.add(each.request_id)
            if each.status == WON and self._random.random() < self._share:
                self._server.cancel(each.request_id, each.user_id)
        return len(winners)
