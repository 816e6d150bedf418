"""Workflows and hooks run the targets of `make`; words, coverage and metadata are checked."""

from __future__ import annotations

import re
from email.message import Message
from pathlib import Path

import pytest
import yaml
from tests.coverage_bars import missing, shares
from tests.release import is_in_changelog, metadata_faults
from tests.words import found_in

ROOT = Path(__file__).parent.parent
TARGETS = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_calls_targets_that_exist(path: Path) -> None:
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    runs = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    called = {found for run in runs for found in re.findall(r"\bmake ([a-z-]+)", run)}
    assert called
    assert called <= TARGETS


def test_the_matrix_has_every_supported_python() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8"))["jobs"]
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert jobs["test"]["strategy"]["matrix"]["python"] == re.findall(r"Python :: (3\.\d+)\"", text)


def test_the_hooks_are_the_checks_of_make_lint() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"][0]["hooks"]
    lint = re.search(r"^lint:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert lint is not None
    tools = [line.strip().removeprefix("$(BIN)/") for line in lint[1].splitlines()]
    assert len(tools) == len(hooks)
    for tool, hook in zip(sorted(tools), sorted(hooks, key=lambda each: each["entry"]), strict=True):
        assert hook["entry"].removeprefix(".venv/bin/").split()[0] == tool.split()[0]


def test_words_are_found_outside_of_code() -> None:
    text = "We leverage it.\n\n```\nleverage\n```\nand `minting`, obviously.\n"
    assert [(line, word) for line, word, _ in found_in(text)] == [(1, "leverage"), (6, "obviously")]


def test_lines_and_branches_are_counted_apart() -> None:
    totals = {"covered_lines": 19, "num_statements": 20, "covered_branches": 1, "num_branches": 2}
    files = {"a.py": {"summary": {"missing_lines": 1}}, "b.py": {"summary": {"missing_lines": 7}}}
    assert shares({"totals": totals}) == (95.0, 50.0)
    assert missing({"files": files}) == ["    7 lines  b.py", "    1 lines  a.py"]


def test_metadata_that_lacks_something_is_a_fault() -> None:
    metadata = Message()
    metadata["Summary"] = "A library."
    faults = list(metadata_faults(metadata))
    assert {"has no Requires-Python", "has no License-Expression", "has no description"} <= set(faults)
    assert not is_in_changelog("99.0.0")
