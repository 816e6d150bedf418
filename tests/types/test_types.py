"""Both type checkers report each planted mistake, and nothing in the correct usage."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import TypeAlias

import pytest

ROOT = Path(__file__).parents[2]
MISTAKES = "tests/types/mistakes.py"
CORRECT = "tests/types/correct.py"

Reports: TypeAlias = dict[str, dict[int, list[str]]]

# One worker runs all of this module, so that each checker runs once.
pytestmark = pytest.mark.xdist_group("types")


def run(*command: str) -> str:
    environment = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    ).stdout


def mypy_reports() -> Reports:
    reports: Reports = defaultdict(lambda: defaultdict(list))
    output = run("mypy", "--strict", "--no-error-summary", "--hide-error-context", "--no-pretty", CORRECT, MISTAKES)
    for line in output.splitlines():
        file, number, kind, message = re.fullmatch(r"([^:]+):(\d+): (\w+): (.*)", line).groups()  # type: ignore[union-attr]
        if kind == "error":
            reports[file][int(number)].append(message)
    return reports


def pyright_reports() -> Reports:
    reports: Reports = defaultdict(lambda: defaultdict(list))
    output = json.loads(run("pyright", "--outputjson", "--pythonpath", sys.executable, CORRECT, MISTAKES))
    assert output["summary"]["filesAnalyzed"] == 2
    for report in output["generalDiagnostics"]:
        if report["severity"] == "error":
            file = Path(report["file"]).relative_to(ROOT).as_posix()
            reports[file][report["range"]["start"]["line"] + 1].append(report["message"])
    return reports


@pytest.fixture(scope="module", params=[mypy_reports, pyright_reports], ids=["mypy", "pyright"])
def reports(request: pytest.FixtureRequest) -> Reports:
    found: Reports = request.param()
    return found


def planted() -> dict[int, str]:
    lines = (ROOT / MISTAKES).read_text(encoding="utf-8").splitlines()
    return {n: line.partition("# mistake: ")[2] for n, line in enumerate(lines, start=1) if "# mistake: " in line}


def test_each_planted_mistake_is_of_its_own_kind() -> None:
    kinds = list(planted().values())
    assert sorted(set(kinds)) == sorted(kinds)
    assert len(kinds) > 100


def test_every_planted_mistake_is_reported(reports: Reports) -> None:
    missed = {line: kind for line, kind in planted().items() if line not in reports[MISTAKES]}
    assert missed == {}


def test_nothing_but_the_planted_mistakes_is_reported(reports: Reports) -> None:
    mistakes = planted()
    assert {line: messages for line, messages in reports[MISTAKES].items() if line not in mistakes} == {}


def test_the_result_of_every_public_operation_is_inferred(reports: Reports) -> None:
    assert dict(reports[CORRECT]) == {}
