"""The command: what it says without the fuzzer, and what it keeps of what it finds."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz.findings import Findings

from fuzz import run


def raised(name: str) -> Exception:
    """What looking up a name raises that is not there."""
    found: dict[str, int] = {}
    try:
        found[name]
    except KeyError as error:
        return error
    raise AssertionError


def test_without_the_fuzzer_it_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "find_spec", lambda _: None)
    assert run.main(["expression"]) == 2
    assert ".[fuzz]" in capsys.readouterr().err


def test_an_unknown_target_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run.main(["expresion"])
    assert "there is no target expresion" in capsys.readouterr().err


def test_the_shortest_input_of_each_place_is_kept(tmp_path: Path) -> None:
    findings = Findings(tmp_path)
    for data in (b"long", b"ab", b"abc"):
        findings.add(data, raised("x"))
    (kept,) = tmp_path.glob("*.bin")
    assert kept.read_bytes() == b"ab"
    assert kept.name.startswith("KeyError-test_run-")
    assert "KeyError: 'x'" in kept.with_suffix(".txt").read_text()


def test_findings_of_two_places_are_two(tmp_path: Path) -> None:
    findings = Findings(tmp_path)
    findings.add(b"a", raised("x"))
    try:
        int("x")
    except ValueError as error:
        findings.add(b"b", error)
    assert len([*tmp_path.glob("*.bin")]) == 2


def test_a_run_is_one_row(tmp_path: Path) -> None:
    outcome = run.Outcome("partiql", 1_234_567, (tmp_path,), 89, 12.3)
    assert outcome.row.split() == ["partiql", "1,234,567", "1", "89", "12"]
