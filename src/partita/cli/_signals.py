"""The signals that stop a command: SIGINT (Ctrl-C), SIGTERM, SIGHUP (the terminal was closed) and SIGQUIT."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def stop_signals() -> Iterator[signal.Signals]:
    """The stop signals that this system has, without SIGHUP if it is ignored, as under `nohup`."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"):
        number = getattr(signal.Signals, name, None)
        if number is not None and not (name == "SIGHUP" and signal.getsignal(number) is signal.SIG_IGN):
            yield number


def on_stop_signal(stop: Callable[[], None]) -> None:
    """Call `stop` at each stop signal. Must be called from the main thread."""
    for number in stop_signals():
        signal.signal(number, lambda *_: stop())


@contextmanager
def holding_stop_signals() -> Iterator[None]:
    """Block the stop signals while the block starts processes, until these have installed handlers and unblock them.

    Until then, the new processes have the handlers of this process.
    """
    earlier = signal.pthread_sigmask(signal.SIG_BLOCK, stop_signals())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, earlier)
