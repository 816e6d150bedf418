"""Which services a command applies to: the named ones, and never services that the user has not chosen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.cli.conftest import Run
from tests.installed import SERVICE, Install, installing

from partita import EmbeddedStore
from partita.cli import main
from partita.cli._data_folder import DataFolder
from partita.cli._program import COMMANDS
from partita.store import ListTables

GOOD = SERVICE.format(name="good", table="disc-good")
OTHER = SERVICE.format(name="other", table="disc-other")
BAD = "raise RuntimeError('out of order')"
WARNING = "Warning: The service 'bad' cannot be loaded: RuntimeError: out of order ("
WITH_COMMAND = f"""
import click
{GOOD.replace("))", "), command=lambda: commands())")}
def commands():
    return click.Group('good')
"""

SHOWS = ("patterns", "cost", "deploy iam", "tables diff", "deploy diff", "docs --out pages")
DOES = (
    "seed",
    "worker",
    "serve --port 0",
    "tables create",
    "tables update",
    "deploy synth --out build",
    "schema check",
    "schema accept",
    "migrate status",
    "migrate backfill --yes",
)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """A function that installs services, in place of the real ones. Their modules are in the working directory."""
    monkeypatch.chdir(tmp_path)
    yield from installing(tmp_path, monkeypatch)


@pytest.fixture
def made(folder: Path) -> None:
    """Create the database."""
    DataFolder(folder).open().close()


def stored(folder: Path) -> list[str]:
    with EmbeddedStore(DataFolder(folder).database) as store:
        return list(store.execute(ListTables()))


@pytest.mark.parametrize("command", DOES)
def test_of_several_services_none_is_taken_unasked(
    command: str, run: Run, install: Install, made: None, folder: Path
) -> None:
    install(good=GOOD, other=OTHER)
    result = run(*command.split())
    said = "Error: Name one or more services, or use --all. Installed: good, other.\n"
    assert (result.exit_code, result.stderr.endswith(said)) == (2, True)
    assert stored(folder) == []


@pytest.mark.parametrize("command", DOES)
def test_all_and_some_cannot_be_meant_together(command: str, run: Run, install: Install) -> None:
    install(good=GOOD, other=OTHER)
    result = run(*command.split(), "good", "--all")
    assert (result.exit_code, "Name services or use --all, not both." in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("chosen", "tables"),
    [("good", ["disc-good"]), ("other good", ["disc-good", "disc-other"]), ("--all", ["disc-good", "disc-other"])],
)
def test_what_was_chosen_is_taken(chosen: str, tables: list[str], run: Run, install: Install, folder: Path) -> None:
    install(good=GOOD, other=OTHER)
    assert run("tables", "create", *chosen.split()).exit_code == 0
    assert stored(folder) == tables


def test_the_only_service_is_taken(run: Run, install: Install, folder: Path) -> None:
    install(good=GOOD)
    assert run("tables", "create").exit_code == 0
    assert stored(folder) == ["disc-good"]


def test_beside_one_that_is_broken_it_is_not_the_only_one(run: Run, install: Install, folder: Path) -> None:
    install(good=GOOD, bad=BAD)
    result = run("tables", "create")
    assert (result.exit_code, "Installed: bad, good." in result.stderr) == (2, True)
    assert not folder.exists()
    assert run("tables", "create", "--all").exit_code == 0
    assert stored(folder) == ["disc-good"]


@pytest.mark.parametrize("command", SHOWS)
def test_what_only_shows_is_about_all_that_can_be_loaded(command: str, run: Run, install: Install, made: None) -> None:
    install(good=GOOD, bad=BAD)
    result = run(*command.split())
    assert result.exit_code == (1 if "diff" in command else 0), result.output  # the tables do not exist
    assert (result.stderr.count("\n"), result.stderr.startswith(WARNING)) == (1, True)


def helped(*words: str) -> Result:
    return CliRunner().invoke(main, [*words, "--help"], prog_name="partita")


def test_every_help_works_beside_a_broken_service(install: Install) -> None:
    install(good=WITH_COMMAND, bad=BAD)
    result = helped()
    assert (result.exit_code, result.stderr) == (0, "")
    assert re.findall(r"^  (good|bad)$", result.stdout, re.MULTILINE) == ["bad", "good"]
    for name in (*COMMANDS, "good"):
        assert (helped(name).exit_code, helped(name).stderr) == (0, "")


def test_a_service_without_commands_says_so(run: Run, install: Install) -> None:
    install(good=GOOD)
    result = run("good", "list")
    assert (result.exit_code, "Error: The service 'good' has no commands of its own.\n" in result.stderr) == (2, True)


@pytest.mark.parametrize("command", ["patterns bad", "serve bad", "explain bad.pattern", "bad import", "bad --help"])
def test_a_broken_service_that_is_named_is_an_error(command: str, run: Run, install: Install) -> None:
    install(good=GOOD, bad=BAD)
    result = run(*command.split())
    said = WARNING.replace("Warning", "Error")
    assert (result.exit_code, result.stderr.startswith(said), result.stderr.count("\n")) == (1, True, 1)


TYPO = """
from typing import ClassVar
from partita import Entity, Key, Registry, Table
class Thing(Entity, table=Table("things", registry=Registry())):
    primary: ClassVar = Key("A#{nme}", "B")
    name: str
"""
UNFIT = "import pydantic\nclass Model(pydantic.BaseModel):\n    name: str\nModel(name=1)\n"


@pytest.mark.parametrize(
    ("code", "reason", "line"),
    [
        (TYPO, "Thing.primary: Thing has no field 'nme'. It has: name", 4),
        (UNFIT, "ValidationError: 1 validation error", 4),
    ],
)
def test_the_line_is_that_of_the_service_and_not_of_what_it_calls(
    code: str, reason: str, line: int, run: Run, install: Install
) -> None:
    install(bad=code)
    said = run("patterns", "bad").stderr
    assert said.startswith(f"Error: The service 'bad' cannot be loaded: {reason}")
    assert said.endswith(f"bad.py, line {line}).\n")


def test_commands_of_a_service_that_fail_leave_the_help_whole(run: Run, install: Install) -> None:
    install(good=WITH_COMMAND.replace("return click.Group('good')", "import disc_nowhere"))
    reason = "The service 'good' cannot be loaded: No module named 'disc_nowhere' ("
    assert (helped().exit_code, helped().stderr) == (0, "")
    named = run("good")
    assert (named.exit_code, named.stderr.startswith(f"Error: {reason}")) == (1, True)
    assert run("patterns").exit_code == 0


def test_a_missing_extra_is_named(run: Run, install: Install) -> None:
    install(bad="raise ModuleNotFoundError(\"No module named 'uvicorn'\", name='uvicorn.protocols')")
    assert run("patterns", "bad").stderr.endswith("). Install the extra: pip install 'partita[serve]'\n")


def test_where_all_are_broken_that_is_said(run: Run, install: Install) -> None:
    install(bad=BAD)
    result = run("patterns")
    assert (result.exit_code, result.stderr.splitlines()[1:]) == (
        1,
        ["Error: None of the installed services can be loaded."],
    )


def test_a_service_that_is_named_does_not_meet_the_tables_of_others(run: Run, install: Install) -> None:
    install(aaa=SERVICE.format(name="aaa", table="disc-good"), good=GOOD)
    result = run("patterns", "good")
    assert (result.exit_code, result.stderr) == (0, "")


def test_a_shell_is_given_words_alone(install: Install) -> None:
    install(good=GOOD, bad=BAD)
    environment = {"_PARTITA_COMPLETE": "bash_complete", "COMP_WORDS": "partita patterns ", "COMP_CWORD": "2"}
    result = CliRunner().invoke(main, env=environment, prog_name="partita")
    assert (result.exit_code, result.output) == (0, "plain,good\n")


@pytest.mark.parametrize("name", ["bad", "good"])
def test_a_shell_is_given_no_error_of_a_service(name: str, install: Install) -> None:
    install(good=GOOD, bad=BAD)
    environment = {"_PARTITA_COMPLETE": "bash_complete", "COMP_WORDS": f"partita {name} ", "COMP_CWORD": "2"}
    result = CliRunner().invoke(main, env=environment, prog_name="partita")
    assert (result.exit_code, result.stderr, "Traceback" in result.output) == (0, "", False)


def test_a_service_without_an_api_cannot_be_served_alone(run: Run, install: Install, folder: Path) -> None:
    install(good=GOOD)
    result = run("serve", "--port", "0")
    said = "Error: There is nothing to serve, because no service has an API: good. Add a router to a Service.\n"
    assert (result.exit_code, result.stderr, folder.exists()) == (1, said, False)
