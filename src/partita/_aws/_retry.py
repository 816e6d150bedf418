"""A budget for retries, so that a store in trouble is not given more of it."""

from __future__ import annotations

import threading
from typing import Final

CAP_SECONDS: Final = 2.0
"""The longest pause before a call is sent again: shorter than a session's, which retries what this gives up."""


class RetryBudget:
    """Retries that all requests share: each costs some, each success gives a little back."""

    CAPACITY: Final = 500
    COST: Final = 5

    def __init__(self) -> None:
        self._left = self.CAPACITY
        self._lock = threading.Lock()

    def take(self) -> bool:
        """Take a retry, if there is one left."""
        with self._lock:
            if self._left < self.COST:
                return False
            self._left -= self.COST
            return True

    def give_back(self) -> None:
        """A request went through."""
        if self._left < self.CAPACITY:
            with self._lock:
                self._left = min(self._left + 1, self.CAPACITY)
