"""The program `partita`: its help, which loads no command or service, and how commands and services are found."""

from __future__ import annotations

import gc
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

import click
import pytest
from click.testing import CliRunner

import partita
from partita.cli import _program, main
from partita.cli._program import COMMANDS, FEW_COLLECTIONS, help_text, run, service_names
from partita.service import GROUP

COLUMNS = 80
MAIN = Path(partita.__file__).parent / "__main__.py"
LOADED = """
import sys
before = set(sys.modules)
from partita.cli._program import run
run()
print(*sorted(set(sys.modules) - before), sep=chr(10), file=sys.stderr)
"""


def test_the_help_loads_no_command_and_no_service() -> None:
    command = [sys.executable, "-I", "-c", LOADED, "--help"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout == help_text()
    assert result.stderr.split() == ["partita", "partita._late", "partita.cli", "partita.cli._program"]


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_the_help_is_the_same_however_it_is_asked_for(option: str) -> None:
    assert CliRunner().invoke(main, [option], prog_name="partita").stdout == help_text()


def test_python_can_run_the_package() -> None:
    command = [sys.executable, "-I", "-m", "partita", "--help"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == help_text()


@pytest.mark.parametrize("start", [run, lambda: runpy.run_path(str(MAIN), run_name="__main__")])
def test_an_interrupt_while_it_is_loaded_is_one_line(
    monkeypatch: pytest.MonkeyPatch, start: Callable[[], object]
) -> None:
    def interrupted(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", ["partita", "patterns"])
    monkeypatch.setattr(gc, "set_threshold", lambda *_: None)
    monkeypatch.setattr("partita.cli.main", interrupted)
    with pytest.raises(SystemExit, match="Aborted!"):
        start()


def test_the_help_fits_a_terminal() -> None:
    assert [line for line in help_text().splitlines() if len(line) > COLUMNS] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_where_the_list_says(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert command.name == name


def test_the_options_of_the_program_are_in_its_help() -> None:
    context = main.make_context("partita", ["check"], resilient_parsing=True)
    options = [option for parameter in main.get_params(context) for option in parameter.opts]
    assert {"-h", "--help", "--version"} <= set(options)
    assert [option for option in options if option not in help_text()] == []


def test_services_are_found_as_python_finds_them() -> None:
    assert service_names() == sorted({entry.name for entry in entry_points(group=GROUP)})
    assert _program.GROUP == GROUP


def distribution(folder: Path, name: str, entries: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "entry_points.txt").write_text(entries, encoding="utf-8")


def test_of_two_distributions_of_one_name_the_first_is_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distribution(tmp_path / "a", "My_Notes-2.dist-info", "[partita.services]\nnotes = notes:SERVICE\n")
    distribution(tmp_path / "b", "my.notes-1.dist-info", "[partita.services]\nold = notes:OLD\n")
    distribution(tmp_path / "b", "other-1.dist-info", "[partita.services]\r\n\r\nb=o:B\r\n# c\n[others]\nd = o:D\n")
    distribution(tmp_path / "b", "no-1.dist-info", "[console_scripts]\nno = no:main\n")
    (tmp_path / "b" / "bare-1.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path / "a"), str(tmp_path / "b"), str(tmp_path / "nowhere.zip")])
    assert service_names() == ["b", "notes"]


def test_where_no_service_is_installed_none_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    assert "Services" not in help_text()


@pytest.fixture
def collecting() -> Iterator[None]:
    """Restore the thresholds of the garbage collector after the test."""
    threshold = gc.get_threshold()
    yield
    gc.set_threshold(*threshold)


def test_all_but_the_help_goes_to_the_commands(collecting: None, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[list[str]] = []
    commands = ModuleType("partita.cli")
    monkeypatch.setattr(commands, "main", lambda **_: called.append(sys.argv[1:]), raising=False)
    monkeypatch.setitem(sys.modules, "partita.cli", commands)
    for words in ([], ["--version"], ["serve", "--help"], ["--help", "serve"]):
        monkeypatch.setattr(sys, "argv", ["partita", *words])
        run()
    assert gc.get_threshold()[0] == FEW_COLLECTIONS
    assert called == [[], ["--version"], ["serve", "--help"], ["--help", "serve"]]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full disk to try")
def test_help_that_nothing_can_hold_is_a_failure() -> None:
    program = "from partita.cli._program import run; run()"
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        command = [sys.executable, "-c", program, "--help"]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (result.returncode, result.stderr) == (1, "Error: No space left on device.\n")
