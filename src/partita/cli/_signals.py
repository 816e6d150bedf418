"""The signals that stop a command: SIGINT (Ctrl-C), SIGTERM, SIGHUP (the terminal was closed) and SIGQUIT."""

from __future__ import annotations

import os
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


class _Stopped(BaseException):
    """A stop signal arrived."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def cleaning_up() -> Iterator[None]:
    """Let the block clean up, such as its temporary files, when a stop signal arrives; then end as the signal does.

    Must be called from the main thread. Only the first signal interrupts the block.
    """
    numbers = [number for number in stop_signals() if number != getattr(signal, "SIGQUIT", None)]

    def interrupt(number: int, _: object) -> None:
        for each in numbers:
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt if number == signal.SIGINT else _Stopped(signal.Signals(number))

    earlier = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    except _Stopped as stopped:
        signal.signal(stopped.number, signal.SIG_DFL)
        os.kill(os.getpid(), stopped.number)
        raise
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


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
