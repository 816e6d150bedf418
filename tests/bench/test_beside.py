"""Comparing two checkouts line by line in alternating rounds, and the error if a suite fails."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
import pytest
from bench.beside import MOST, compared

_SUITE = """
from pathlib import Path


def compare(name, bar, ours, theirs, *, repetitions):
    return name


def comparisons(folder):
    (folder / "a file").touch()
    try:
        for name, seconds in {lines!r}:
            assert yielded(compare(name, None, lambda: seconds, None, repetitions=1)) == name
            yield name
    finally:
        Path({ended!r}).touch()


def yielded(name):
    print("what a suite prints disturbs nobody")
    return name
"""


def checkout(place: Path, *lines: tuple[str, float]) -> Path:
    """Create a checkout with one suite, whose lines report these seconds; it creates the file `ended` when it ends."""
    (place / "bench").mkdir(parents=True)
    (place / "bench" / "__init__.py").touch()
    code = _SUITE.format(lines=lines, ended=str(place / "ended"))
    (place / "bench" / "suite.py").write_text(code, encoding="utf-8")
    (place / ".venv" / "bin").mkdir(parents=True)
    python = place / ".venv" / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o700)
    return place


@pytest.mark.skipif(os.name == "nt", reason="the environment of a checkout is laid out as on Unix")
def test_lines_that_both_have_are_measured_by_turns(tmp_path: Path) -> None:
    now = checkout(tmp_path / "now", ("a new line", 1.0), ("a get", 2.0), ("a put", 3.0))
    before = checkout(tmp_path / "before", ("a get", 1.0), ("a put", 4.0))
    found = {name: [a / b for a, b in rounds] for name, rounds in compared("suite", now, before)}
    assert set(found) == {"a get", "a put"}
    assert set(found["a get"]) == {2.0}
    assert set(found["a put"]) == {0.75}
    assert max(found["a put"]) < MOST < min(found["a get"])


@pytest.mark.skipif(os.name == "nt", reason="the environment of a checkout is laid out as on Unix")
def test_a_checkout_that_is_left_in_the_middle_ends_what_it_has_started(tmp_path: Path) -> None:
    now = checkout(tmp_path / "now", ("a get", 1.0))
    before = checkout(tmp_path / "before", ("a get", 1.0), ("a put", 1.0))
    assert [name for name, _ in compared("suite", now, before)] == ["a get"]
    assert (before / "ended").exists()


@pytest.mark.skipif(os.name == "nt", reason="the environment of a checkout is laid out as on Unix")
def test_a_suite_that_fails_is_said(tmp_path: Path) -> None:
    now = checkout(tmp_path / "now", ("a get", 1.0))
    before = checkout(tmp_path / "before", ("a get", 1.0))
    (before / "bench" / "suite.py").write_text("raise OSError", encoding="utf-8")
    with pytest.raises(click.ClickException, match=r"The suite suite of .*before failed"):
        list(compared("suite", now, before))
