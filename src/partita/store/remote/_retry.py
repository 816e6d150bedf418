"""When to send again: full jitter, and a budget, so that a store in trouble is not given more of it."""

from __future__ import annotations

import threading
from random import Random
from typing import Final

from msgspec import Struct

BASE_SECONDS: Final = 0.025
CAP_SECONDS: Final = 2.0


class RetryPolicy(Struct, frozen=True):
    """How often one request is sent at most, and how long to wait in between."""

    tries: int
    random: Random

    def pause_before(self, attempt: int) -> float:
        """Seconds to wait before try number `attempt`, counting the first as 0."""
        return self.random.uniform(0, min(CAP_SECONDS, BASE_SECONDS * 2**attempt))


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
