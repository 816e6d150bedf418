"""Locks that make rare orders of events happen."""

from __future__ import annotations

from typing import Any


class TakenTurnstile:
    """A turnstile whose holder waits for the write lock: who waits here with that lock waits forever."""

    def acquire(self) -> None:
        raise AssertionError("waits for itself")

    def release(self) -> None:
        raise RuntimeError("it was not acquired")


def take_turnstile(lock: Any) -> Any:
    """Have the turnstile of a write lock taken, as while another thread waits for the lock; gives the one it had."""
    before, lock._turnstile = lock._turnstile, TakenTurnstile()
    return before
