"""`partita new` as a user meets it: what it says, what it refuses, and that it destroys nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.scaffold.scratch import a_project_of_its_own

from partita.cli import main


@pytest.fixture(autouse=True)
def in_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory is a project of somebody's own."""
    a_project_of_its_own(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def new(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["new", *arguments], prog_name="partita")


def files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.is_file() and not {".ruff_cache", "__pycache__"} & set(path.parts)
    }


@pytest.mark.req("A08")
def test_it_says_what_it_wrote_and_what_comes_next(in_project: Path) -> None:
    result = new("entity", "note", "--index", "status")
    assert result.output.splitlines() == [
        "wrote src/corner_shop/note.py",
        "wrote tests/test_note.py",
        "Next:",
        "  1. Run its tests: pytest tests/test_note.py",
        "  2. Say in its docstrings what it is, and give its fields their rules.",
    ]
    assert {"src/corner_shop/note.py", "tests/test_note.py"} < files(in_project).keys()


@pytest.mark.req("A08")
@pytest.mark.parametrize("first", [("entity", "note"), ("service", "notes")])
def test_nothing_is_ever_overwritten(first: tuple[str, str], in_project: Path) -> None:
    assert new(*first).exit_code == 0
    before = files(in_project)
    again = new(*first, "--index", "status")
    assert (again.exit_code, "Nothing was written, because these are there already: " in again.output) == (2, True)
    assert files(in_project) == before


def test_an_entry_point_of_another_service_stays(in_project: Path) -> None:
    settings = in_project / "pyproject.toml"
    text = f'{settings.read_text()}\n[project.entry-points."partita.services"]\nnotes = "corner_shop.old.bootstrap:S"\n'
    settings.write_text(text)
    result = new("service", "notes")
    assert (result.exit_code, "pyproject.toml has a service 'notes' already" in result.output) == (2, True)
    assert (settings.read_text(), (in_project / "src/corner_shop/notes").exists()) == (text, False)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("entity", "Entity"), "'Entity' has a meaning already"),
        (("entity", "note", "--index", "n:int"), "'n:int': the type is one of str, date."),
        (("entity", "note", "--field", "a", "--index", "a"), "A field is there already: a."),
        (("entity", "note", "--owner", "Me"), "'Me' is no name for a field"),
        (("entity", "note", "--service", "notes"), "There is no service 'notes' in corner_shop"),
        (("service", "Guest Books"), "'Guest Books' is no name for a service"),
        (("service", "notes", "--package", "elsewhere"), "There is no package 'elsewhere'"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(arguments: tuple[str, ...], said: str, in_project: Path) -> None:
    before = files(in_project)
    result = new(*arguments)
    assert (result.exit_code, said in result.output, "Traceback" in result.output) == (2, True, False)
    assert files(in_project) == before
