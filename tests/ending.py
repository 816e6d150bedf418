"""A pytest plugin: SIGTERM ends a run as an interrupt does, so that fixtures end the servers that they have started."""

from __future__ import annotations

import os
import signal
from types import FrameType


def pytest_sessionstart() -> None:
    """Handle SIGTERM in this process. Forks have the default again, because tests terminate them."""
    interrupt_on_sigterm()
    os.register_at_fork(after_in_child=_terminate_on_sigterm)


def interrupt_on_sigterm() -> None:
    """Let SIGTERM interrupt the current test."""
    signal.signal(signal.SIGTERM, _interrupt)


def finish_undisturbed() -> None:
    """Ignore further signals: they would interrupt the teardown of fixtures."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _go_on)  # unlike SIG_IGN, this is not inherited by programs that are started


def _terminate_on_sigterm() -> None:
    if signal.getsignal(signal.SIGTERM) in (_interrupt, _go_on):
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _go_on(number: int, frame: FrameType | None) -> None:
    pass
