"""Signals that stop a command while it works: it cleans up first, and then ends as the signal does."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from partita.cli._signals import cleaning_up
from partita.folder._temporary import temporary_folder


def stopped_by(number: signal.Signals, place: Path, again: signal.Signals | None = None) -> int:
    """Stop a process that has a temporary folder, and return how it ended; a second signal comes while it cleans up."""
    process = os.fork()
    if process == 0:
        try:
            with cleaning_up(), temporary_folder(place):
                try:
                    os.kill(os.getpid(), number)
                finally:
                    os.kill(os.getpid(), again or 0)
        except KeyboardInterrupt:
            os._exit(130)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_cleans_up_and_ends_as_the_signal_does(number: signal.Signals, tmp_path: Path) -> None:
    assert stopped_by(number, tmp_path) == -number
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_stays_one(tmp_path: Path) -> None:
    assert stopped_by(signal.SIGINT, tmp_path) == 130
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("again", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_does_not_interrupt_the_cleaning(again: signal.Signals, tmp_path: Path) -> None:
    assert stopped_by(signal.SIGTERM, tmp_path, again) == -signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


def test_the_handlers_of_before_are_back_afterwards() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with cleaning_up():
        assert signal.getsignal(signal.SIGTERM) != before
    assert signal.getsignal(signal.SIGTERM) == before
