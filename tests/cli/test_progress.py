"""Progress bars: shown on a terminal, and not in a file or pipe."""

from __future__ import annotations

import io
import sys

import pytest

from partita.cli._progress import progress_bar, progress_bars


class Terminal(io.StringIO):
    """A text stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def watched(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Replace standard error by a terminal. In a fixture, pytest would replace it again."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    return terminal


def test_a_bar_shows_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watched(monkeypatch)
    with progress_bar("Checking") as show:
        show(1, 4)
        show(3, 4)
        shown = terminal.getvalue()
    assert "Checking" in shown
    assert "75%" in shown
    assert "100%" in terminal.getvalue()


def test_several_steps_have_a_bar_each(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watched(monkeypatch)
    with progress_bars() as show:
        show("Copying", 2, 2)
        show("Checking", 1, 2)
    shown = terminal.getvalue()
    assert shown.index("Copying") < shown.index("\n") < shown.index("Checking")


def test_what_is_no_terminal_gets_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    with progress_bar("Checking") as show:
        show(1, 2)
    assert file.getvalue() == ""
