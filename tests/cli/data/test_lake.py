"""`partita lake query`: every column is printed, even if two have the same name."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Run

TWINS = "select one.name, other.name, 1 as n from (select 'a' as name) as one cross join (select 'b' as name) as other"


@pytest.fixture
def lake(seeded: Run, tmp_path: Path) -> Path:
    assert seeded("cdc", "run", "todo", "--lake", str(tmp_path / "lake"), "--once").exit_code == 0
    return tmp_path / "lake"


def test_two_columns_may_have_one_name(run: Run, lake: Path) -> None:
    ask = ("lake", "query", TWINS, "--lake", str(lake))
    assert [line.split() for line in run(*ask).output.splitlines()] == [["name", "name", "n"], ["a", "b", "1"]]
    assert run(*ask, "--csv").output == "name,name,n\na,b,1\n"


def test_but_not_in_json(run: Run, lake: Path) -> None:
    result = run("lake", "query", TWINS, "--lake", str(lake), "--json")
    assert (result.exit_code, result.output) == (
        1,
        "Error: Two columns are named name. Rename one of them with AS.\n",
    )
    renamed = TWINS.replace("other.name", "other.name as other")
    found = run("lake", "query", renamed, "--lake", str(lake), "--json")
    assert json.loads(found.output) == [{"name": "a", "other": "b", "n": 1}]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full disk to try")
def test_a_table_that_cannot_be_written_is_no_success(lake: Path) -> None:
    ask = ("lake", "query", TWINS, "--lake", str(lake), "--csv")
    program = "from partita.cli import main; main()"
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        result = subprocess.run(
            [sys.executable, "-c", program, *ask], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (result.returncode, result.stderr) == (1, "Error: No space left on device.\n")


def test_only_one_format_is_possible(run: Run, lake: Path) -> None:
    result = run("lake", "query", "select 1", "--lake", str(lake), "--json", "--csv")
    assert (result.exit_code, "Give --json or --csv, not both." in result.output) == (2, True)
