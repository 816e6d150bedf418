"""The command line, run in the test's own process on a data folder of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from partita.cli import main

Run = Callable[..., Result]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder that does not exist yet."""
    return tmp_path / "data"


@pytest.fixture
def run(folder: Path) -> Run:
    """Runs `partita` with the data folder in its environment."""

    def run(*arguments: str) -> Result:
        result = CliRunner().invoke(main, arguments, env={"PARTITA_DATA": str(folder)}, prog_name="partita")
        assert "Traceback" not in result.output
        return result

    return run


@pytest.fixture
def seeded(run: Run) -> Run:
    """The same, with the sample data in the folder."""
    assert run("seed", "--all").exit_code == 0
    return run
