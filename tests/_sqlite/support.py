"""Fake locks that force rare interleavings of threads."""

from __future__ import annotations

from typing import Any


class TakenTurnstile:
    """A turnstile whose owner waits for the write lock: to wait for it while holding that lock would be a deadlock."""

    def acquire(self) -> None:
        raise AssertionError("waits for itself")

    def release(self) -> None:
        raise RuntimeError("it was not acquired")


def take_turnstile(lock: Any) -> Any:
    """Replace the turnstile of a write lock by a taken one, as while another thread waits; return the original."""
    before, lock._turnstile = lock._turnstile, TakenTurnstile()
    return before
