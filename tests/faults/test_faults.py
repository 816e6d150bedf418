"""The command for faults with real processes: what it counts, what it prints, and when it fails."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.faults import __main__ as command
from tests.faults._report import Fault, Tally, table


def test_a_few_rounds_of_what_is_quick_hold(capsys: pytest.CaptureFixture[str]) -> None:
    quick = ("kill-writers", "flipped-file", "flipped-log", "truncated-file", "truncated-log", "clock-steps", "stopped")
    assert command.main([*(word for name in quick for word in ("--only", name)), "--rounds", "1"]) == 0
    printed = capsys.readouterr().out
    assert all(f"\n{name} " in printed for name in quick)
    assert "FAILED" not in printed


def test_what_is_lost_doubled_or_broken_fails_the_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def loses(folder: Path, rounds: int, rng: random.Random, tally: Tally) -> None:
        tally.rounds, tally.acknowledged = rounds, 3
        tally.compare(["a", "b", "c"], ["a", "b", "b"])

    def breaks(folder: Path, rounds: int, rng: random.Random, tally: Tally) -> None:
        raise ValueError("what nobody thought of")

    faults = (Fault("loses", "loses one of three", 2, loses), Fault("breaks", "ends early", 1, breaks))
    monkeypatch.setattr(command, "FAULTS", faults)
    assert command.main([]) == 1
    printed = capsys.readouterr().out
    assert "loses        2             3     1           1       0  FAILED" in printed
    assert "breaks: ValueError: what nobody thought of" in printed


def test_a_fault_that_cannot_be_played_here_says_why() -> None:
    assert "skipped: no disk" in table({"full-disk": Tally(skipped="no disk")})


def test_the_faults_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--list"]) == 0
    printed = capsys.readouterr().out
    assert [line.split()[0] for line in printed.splitlines()] == [fault.name for fault in command.FAULTS]
