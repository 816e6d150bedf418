"""The signals that ask a command to stop: Ctrl-C, SIGTERM, and those of a terminal that is closed or says quit."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def stop_signals() -> Iterator[signal.Signals]:
    """All that this system has, but for a terminal's end where that is to be survived, as `nohup` says."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"):
        number = getattr(signal.Signals, name, None)
        if number is not None and not (name == "SIGHUP" and signal.getsignal(number) is signal.SIG_IGN):
            yield number


def on_stop_signal(stop: Callable[[], None]) -> None:
    """Call this when the process is asked to stop, however often; from the main thread."""
    for number in stop_signals():
        signal.signal(number, lambda *_: stop())


@contextmanager
def holding_stop_signals() -> Iterator[None]:
    """Start processes in this block: a signal to them waits until they have handlers of their own, and unblock it.

    Before that, they have those of this process.
    """
    earlier = signal.pthread_sigmask(signal.SIG_BLOCK, stop_signals())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, earlier)
