"""The project to which code is added: how it is found, and the line that is added to its settings."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from tests.scaffold.scratch import ROOT, a_project_of_its_own

from partita.scaffold import Project


def test_the_package_is_named_like_the_project(tmp_path: Path) -> None:
    a_project_of_its_own(tmp_path)
    inside = tmp_path / "src" / "corner_shop"
    assert Project.find(inside) == Project(tmp_path, tmp_path, tmp_path / "src", "corner_shop")


def test_or_it_is_where_its_services_are() -> None:
    assert Project.find(ROOT).package == "partita_services"


def test_or_it_is_named(tmp_path: Path) -> None:
    a_project_of_its_own(tmp_path)
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "__init__.py").touch()
    assert Project.find(tmp_path, "tools") == Project(tmp_path, tmp_path, tmp_path, "tools")


def test_without_project_or_package_it_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Run this in your project's folder"):
        Project.find(tmp_path)
    a_project_of_its_own(tmp_path)
    with pytest.raises(
        ValueError, match=r"no package 'other' in .*\. Create src/other/__init__.py, or name another with --package"
    ):
        Project.find(tmp_path, "other")


BEGINNING = '[project]\nname = "corner-shop"\n'
GROUP = '[project.entry-points."partita.services"]\n'
NOTES = 'notes = "corner_shop.notes.bootstrap:SERVICE"\n'


def project_with(settings: str, folder: Path) -> Project:
    (folder / "pyproject.toml").write_text(settings, encoding="utf-8")
    return Project(folder, folder, folder / "src", "corner_shop")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (BEGINNING, f"{BEGINNING}\n{GROUP}{NOTES}"),
        (
            f'{GROUP}a = "x.a.bootstrap:SERVICE"\nz = "x.z.bootstrap:SERVICE"\n\n{BEGINNING}',
            f'{GROUP}a = "x.a.bootstrap:SERVICE"\n{NOTES}z = "x.z.bootstrap:SERVICE"\n\n{BEGINNING}',
        ),
        (f"{BEGINNING}\n{GROUP.rstrip()}", f"{BEGINNING}\n{GROUP}{NOTES}"),
        (f"{GROUP.rstrip()}  # ours\n{BEGINNING}", f"{GROUP.rstrip()}  # ours\n{NOTES}{BEGINNING}"),
        (f"[project . entry-points.'partita.services']\n{BEGINNING}", None),
        (f"{GROUP}z = 'x:S'\na = 'x:S'\n{BEGINNING}", f"{GROUP}z = 'x:S'\na = 'x:S'\n{NOTES}{BEGINNING}"),
        (f"{BEGINNING}\n{GROUP}{NOTES}", f"{BEGINNING}\n{GROUP}{NOTES}"),
    ],
    ids=["first", "another", "last-line", "comment", "other-quotes", "unordered", "there-already"],
)
def test_the_entry_point_is_the_only_line_that_is_added(before: str, after: str | None, tmp_path: Path) -> None:
    added = project_with(before, tmp_path).declaring("notes")
    assert added == (after or before.replace("]\n", f"]\n{NOTES}", 1))
    declared = tomllib.loads(added)["project"]
    assert (declared["name"], declared["entry-points"]["partita.services"]["notes"]) == (
        "corner-shop",
        "corner_shop.notes.bootstrap:SERVICE",
    )


@pytest.mark.parametrize(
    "settings",
    [
        f'{BEGINNING}[project.entry-points]\n"partita.services" = {{a = "x:S"}}\n',
        f'{BEGINNING}[project.entry-points]\n"partita.services".a = "x:S"\n',
        f'{BEGINNING}entry-points = {{"partita.services" = {{}}}}\n',
        f'{BEGINNING}description = """\n{GROUP}"""\n',
    ],
    ids=["inline", "dotted", "all-inline", "in-a-text"],
)
def test_settings_that_cannot_be_added_to_are_for_their_owner(settings: str, tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"^Nothing was written: add `notes = .*` to \[.*\] in pyproject.toml yourself"
    ):
        project_with(settings, tmp_path).declaring("notes")


def test_settings_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"pyproject.toml cannot be read: Invalid statement "):
        project_with("<<<<<<< HEAD\n", tmp_path).declaring("notes")


@pytest.mark.parametrize("declared", ['Table("notes")', "Table(\n    'notes', ttl='ttl')"])
def test_a_table_is_found_in_the_package(declared: str, tmp_path: Path) -> None:
    a_project_of_its_own(tmp_path)
    module = tmp_path / "src" / "corner_shop" / "own.py"
    module.write_text(f"TABLE = {declared}\n", encoding="utf-8")
    project = Project.find(tmp_path)
    assert [project.module_with_table(name) for name in ("notes", "note")] == [module, None]
