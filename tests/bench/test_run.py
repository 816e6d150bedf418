"""One run of the harness: its output, its record, what was skipped, and the exit code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from bench._compare import THOROUGH, Bar, Comparison, Skipped, compare
from bench._run import Run, Suite, run, summary
from click.testing import CliRunner, Result

from bench import __main__ as program


def holds(folder: Path) -> Iterator[Comparison | Skipped]:
    (folder / "file").write_text("a suite may write into its folder", encoding="utf-8")
    yield compare("fast, to slow", Bar("at least", 2), lambda: 1.0, lambda: 3.0, repetitions=3)
    yield Skipped("fast, to nobody", "no registry has it here")


def misses(folder: Path) -> Iterator[Comparison | Skipped]:
    assert not list(folder.iterdir())  # each suite has its own folder
    yield Comparison("slow, to fast", 3.0, 1.0, 3.0, Bar("at most", 2), "why it is slow")


SUITES: dict[str, Suite] = {"reads": holds, "writes": misses}


@pytest.fixture(autouse=True)
def suites(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "SUITES", SUITES)


def bench(*words: str) -> Result:
    return CliRunner().invoke(program.main, words)


def test_a_run_says_each_line_as_it_is_there() -> None:
    said: list[str] = []
    done = run(SUITES, THOROUGH, "python -m bench", said.append)
    assert [text.split("  ")[0] for text in said[1:3]] == [
        "fast, to slow",
        "skipped: fast, to nobody: no registry has it here",
    ]
    assert " ".join(said[1].split()) == "fast, to slow 1000.0 ms 3000.0 ms 3.00x 3.00 to 3.00 at least 2x pass"
    assert said[3].split()[-1] == "FAIL"
    assert summary(done).splitlines()[1] == "why it is slow"
    assert summary(done).endswith("1 skipped; missed: slow, to fast")


def test_memory_is_said_in_megabytes() -> None:
    def rests(_: Path) -> Iterator[Comparison | Skipped]:
        yield Comparison("server, to 150 MB", 151.0, 150.0, 151 / 150, Bar("at most", 1), unit="megabytes")

    said: list[str] = []
    done = run({"idle": rests}, THOROUGH, "python -m bench", said.append)
    assert " ".join(said[1].split()) == "server, to 150 MB 151.0 MB 150.0 MB 1.01x 1.01 to 1.01 at most 1x FAIL"
    assert done.lines[0].unit == "megabytes"


def test_the_record_has_all_that_is_needed_to_repeat_it(tmp_path: Path) -> None:
    record = tmp_path / "new" / "bench.json"
    result = bench("--json", str(record), "--quick")
    assert result.exit_code == 1
    raw = msgspec.json.decode(record.read_bytes())
    assert raw.keys() == {"command", "commit", "date", "seconds", "machine", "versions", "lines", "skipped"}
    assert raw["machine"].keys() == {"system", "processor", "cores", "load"}
    assert {"python", "sqlite", "boto3", "partita"} <= raw["versions"].keys()
    assert raw["command"] == "python -m bench --quick"
    line, missed = raw["lines"]
    assert line == {
        "suite": "reads",
        "name": "fast, to slow",
        "ours": 1.0,
        "theirs": 3.0,
        "ratio": 3.0,
        "low": 3.0,
        "high": 3.0,
        "rounds": 3,
        "bar": {"sense": "at least", "ratio": 2.0},
        "passed": True,
        "note": "",
        "unit": "seconds",
    }
    assert (missed["passed"], missed["low"], missed["rounds"]) == (False, 3.0, 1)
    assert raw["skipped"] == [{"suite": "reads", "name": "fast, to nobody", "why": "no registry has it here"}]


def test_it_exits_with_0_where_all_bars_are_met(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "SUITES", {"reads": holds})
    result = bench("--json", str(tmp_path / "bench.json"))
    assert (result.exit_code, "all bars are met" in result.output) == (0, True)


def test_plots_are_drawn_of_what_the_record_has(tmp_path: Path) -> None:
    record, folder = tmp_path / "bench.json", tmp_path / "plots"
    bench("--json", str(record))
    result = bench("plot", "--json", str(record), "--to", str(folder))
    assert (result.exit_code, sorted(file.name for file in folder.iterdir())) == (
        0,
        ["reads.json", "reads.svg", "writes.json", "writes.svg"],
    )
    part = msgspec.json.decode((folder / "reads.json").read_bytes(), type=Run)
    assert [(line.suite, line.name) for line in part.lines] == [("reads", "fast, to slow")]


def test_plot_is_said_alone() -> None:
    assert bench("plot", "reads").exit_code == 2
