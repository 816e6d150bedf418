"""`python -m fuzz`: its output without the fuzzer, and which findings it keeps."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import IO

import pytest
from fuzz.findings import Findings
from fuzz.seeds import FINDINGS, SEEDS, WORDS

from fuzz import run


def raised(name: str) -> Exception:
    """Return the exception that looking up a missing name raises."""
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


class Worker:
    """A fake for the process that fuzzes."""

    def __init__(self, *findings: str, status: int = 0) -> None:
        self._findings = findings
        self._status = status
        self.options: list[str] = []

    def __call__(self, command: list[str], *, stdout: IO[str], **_: object) -> object:
        folder, self.options = command[4], command[5:]
        for finding in self._findings:
            (Path(folder) / f"{finding}.txt").write_text(f"Traceback\n{finding}: x\n")
        stdout.write("stat::number_of_executed_units: 1234567\nDone\n")
        return subprocess.CompletedProcess(command, self._status)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(run, "FOLDER", tmp_path)
    monkeypatch.setattr(run, "find_spec", lambda _: object())
    return tmp_path


def test_a_run_is_one_row_of_a_table(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    worker = Worker()
    monkeypatch.setattr(subprocess, "run", worker)
    assert run.main(["partiql", "--runs", "5", "--seed", "7"]) == 0
    header, row, total = capsys.readouterr().out.splitlines()
    assert header.split() == ["target", "executions", "findings", "corpus", "seconds"]
    assert row.split()[:3] == ["partiql", "1,234,567", "0"]
    assert total.split() == ["in", "all", "1,234,567"]
    assert worker.options[:2] == ["-runs=5", "-seed=7"]


def test_a_run_begins_with_the_seeds_and_the_words(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", Worker())
    run.main(["import_file"])
    corpus = {path.read_bytes() for path in (folder / "import_file" / "corpus").iterdir()}
    assert corpus == {*SEEDS["import_file"], *FINDINGS["import_file"]}
    assert (folder / "import_file" / "words.txt").read_text().count("\n") == len(WORDS["import_file"])


def test_findings_are_named_and_those_of_an_earlier_run_forgotten(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(subprocess, "run", Worker("KeyError-a-1"))
    assert run.main(["partiql"]) == 1
    assert "KeyError-a-1.txt: KeyError-a-1: x" in capsys.readouterr().out
    monkeypatch.setattr(subprocess, "run", Worker())
    assert run.main(["partiql"]) == 0


def test_a_worker_that_is_ended_is_a_finding(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(subprocess, "run", Worker(status=77))
    assert run.main(["partiql"]) == 1
    assert "log.txt: Done" in capsys.readouterr().out
