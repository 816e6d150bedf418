"""The command line, run in the process of the test, with its own data folder."""

from __future__ import annotations

import shutil
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
    """A function that runs `partita` with the data folder in its environment."""

    def run(*arguments: str) -> Result:
        result = CliRunner().invoke(main, arguments, env={"PARTITA_DATA": str(folder)}, prog_name="partita")
        assert "Traceback" not in result.output
        return result

    return run


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sample data of all services. Creating it takes longer than most tests, so they copy it."""
    folder = tmp_path_factory.mktemp("samples") / "data"
    result = CliRunner().invoke(main, ["seed", "--all"], env={"PARTITA_DATA": str(folder)}, prog_name="partita")
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture
def seeded(run: Run, folder: Path, sample_folder: Path) -> Run:
    """A function like `run`, with the sample data in the folder."""
    shutil.copytree(sample_folder, folder)
    return run
