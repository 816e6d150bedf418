"""The default number of processes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.cli.conftest import Run

from partita.cli.processes import _option, default_processes, usable_cores

pytestmark = pytest.mark.req("X21")


@pytest.fixture
def eight_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)


@pytest.mark.usefixtures("eight_cores")
@pytest.mark.parametrize(
    ("quota", "cores"),
    [("max 100000", 8), ("200000 100000", 2), ("150000 100000", 2), ("25000 100000", 1), ("900000 100000", 8), ("", 8)],
)
def test_there_are_as_many_as_a_container_may_use_cores(quota: str, cores: int, tmp_path: Path) -> None:
    file = tmp_path / "cpu.max"
    file.write_text(quota, encoding="ascii")
    assert usable_cores(file) == cores


@pytest.mark.usefixtures("eight_cores")
def test_without_a_container_there_are_as_many_as_there_are_cores(tmp_path: Path) -> None:
    assert usable_cores(tmp_path / "none") == 8


def test_where_a_port_cannot_be_shared_there_is_one(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.setattr(_option, "can_share_a_port", lambda: False)
    assert default_processes() == 1
    refused = run("dynamodb", "--processes", "2")
    assert (refused.exit_code, "Only 1 process can serve on this system." in refused.output) == (2, True)
