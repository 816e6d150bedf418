"""`partita new`: its output, what it refuses, and that it never overwrites or leaves partial files."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.scaffold.scratch import a_project_of_its_own

from partita.cli import main


@pytest.fixture(autouse=True)
def in_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's project, which is the working directory."""
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
        "  2. Describe the entity in its docstrings, and add rules to its fields.",
    ]
    assert {"src/corner_shop/note.py", "tests/test_note.py"} < files(in_project).keys()


@pytest.mark.req("A08")
@pytest.mark.parametrize("first", [("entity", "note"), ("service", "notes")])
def test_nothing_is_ever_overwritten(first: tuple[str, str], in_project: Path) -> None:
    assert new(*first).exit_code == 0
    before = files(in_project)
    again = new(*first, "--index", "status")
    assert (again.exit_code, "Nothing was written, because these already exist: " in again.output) == (2, True)
    assert files(in_project) == before


def test_an_entry_point_of_another_service_stays(in_project: Path) -> None:
    settings = in_project / "pyproject.toml"
    text = f'{settings.read_text()}\n[project.entry-points."partita.services"]\nnotes = "corner_shop.old.bootstrap:S"\n'
    settings.write_text(text)
    result = new("service", "notes")
    assert (result.exit_code, "pyproject.toml already has a service 'notes'" in result.output) == (2, True)
    assert (settings.read_text(), (in_project / "src/corner_shop/notes").exists()) == (text, False)


INLINE = '\n[project.entry-points]\n"partita.services" = {old = "corner_shop.old.bootstrap:S"}\n'


def test_what_cannot_be_added_to_the_settings_is_written_by_their_owner_first(in_project: Path) -> None:
    settings = in_project / "pyproject.toml"
    settings.write_text(settings.read_text() + INLINE)
    before = files(in_project)
    refused = new("service", "notes")
    line = 'notes = "corner_shop.notes.bootstrap:SERVICE"'
    assert (refused.exit_code, f"Nothing was written: add `{line}` to " in refused.output) == (2, True)
    assert files(in_project) == before
    settings.write_text(settings.read_text().replace("{old", f"{{{line}, old"))
    before = files(in_project)
    assert new("service", "notes").exit_code == 0
    assert (settings.read_text(), len(files(in_project)) - len(before)) == (before["pyproject.toml"], 9)


def test_a_table_is_declared_once(in_project: Path) -> None:
    assert new("service", "notes").exit_code == 0
    before = files(in_project)
    result = new("entity", "note")
    said = "src/corner_shop/notes/model.py already has a table 'notes'. Choose another name."
    assert (result.exit_code, said in result.output, files(in_project)) == (2, True, before)
    assert new("entity", "note", "--service", "notes").exit_code == 0
    assert '"notes-notes"' in files(in_project)["src/corner_shop/notes/note.py"]


@pytest.mark.parametrize(
    ("first", "second", "there"),
    [
        (("service", "notes"), ("entity", "notes"), "src/corner_shop/notes"),
        (("entity", "box"), ("service", "box", "--entity", "thing"), "src/corner_shop/box.py"),
    ],
)
def test_no_module_hides_another(first: tuple[str, ...], second: tuple[str, ...], there: str, in_project: Path) -> None:
    assert new(*first).exit_code == 0
    before = files(in_project)
    result = new(*second)
    assert (result.exit_code, f"these already exist: {there}." in result.output) == (2, True)
    assert files(in_project) == before


@pytest.mark.parametrize("arguments", [("service", "notes"), ("entity", "note", "--versioned")])
def test_where_something_fails_nothing_is_written(arguments: tuple[str, ...], in_project: Path) -> None:
    settings = in_project / "pyproject.toml"
    settings.write_text(settings.read_text() + "\n[tool.ruff]\nline-length = 'long'\n")
    before = {path for path in in_project.rglob("*") if ".ruff_cache" not in path.parts}
    result = new(*arguments)
    assert (result.exit_code, "Nothing was written, because ruff failed: " in result.output) == (2, True)
    assert {path for path in in_project.rglob("*") if ".ruff_cache" not in path.parts} == before


def test_a_schema_that_cannot_be_kept_leaves_nothing(in_project: Path) -> None:
    package = in_project / "src" / "corner_shop" / "__init__.py"
    package.write_text("raise RuntimeError('out of order')\n")
    before = files(in_project)
    result = new("entity", "note", "--versioned")
    assert (result.exit_code, "its schema failed: RuntimeError: out of order" in result.output) == (2, True)
    assert files(in_project) == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("entity", "Entity"), "'Entity' already has a meaning"),
        (("entity", "note", "--index", "n:int"), "'n:int': the type must be one of str, date."),
        (("entity", "note", "--field", "a", "--index", "a"), "Each name can be used only once: a."),
        (("entity", "note", "--owner", "Me"), "'Me' is not a valid name for a field. Use a name like due_date."),
        (("entity", "note", "--service", "notes"), "There is no service 'notes' in corner_shop"),
        (("service", "Guest Books"), "'Guest Books' is not a valid name for a service. Use a name like guest_books."),
        (("service", "class"), "'class' is a keyword of Python. Choose another name."),
        (
            ("service", "listings"),
            "'Listing' already has a meaning. Choose another name. To keep the name of the service, name its entity",
        ),
        (("service", "tests"), "'test' starts with 'test', so pytest would run it"),
        (("service", "notes", "--package", "elsewhere"), "There is no package 'elsewhere'"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(arguments: tuple[str, ...], said: str, in_project: Path) -> None:
    before = files(in_project)
    result = new(*arguments)
    assert (result.exit_code, said in result.output, "Traceback" in result.output) == (2, True, False)
    assert files(in_project) == before
