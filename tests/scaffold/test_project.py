"""The project that is added to: found from inside, and changed by one line."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from tests.scaffold.scratch import ROOT, a_project_of_its_own

from partita.scaffold import Project


def test_the_package_is_named_like_the_project(tmp_path: Path) -> None:
    a_project_of_its_own(tmp_path)
    inside = tmp_path / "src" / "corner_shop"
    assert Project.find(inside) == Project(tmp_path, tmp_path / "src", "corner_shop")


def test_or_it_is_where_its_services_are() -> None:
    assert Project.find(ROOT).package == "partita_services"


def test_or_it_is_named(tmp_path: Path) -> None:
    a_project_of_its_own(tmp_path)
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "__init__.py").touch()
    assert Project.find(tmp_path, "tools") == Project(tmp_path, tmp_path, "tools")


def test_without_project_or_package_it_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Start in the folder of your project"):
        Project.find(tmp_path)
    a_project_of_its_own(tmp_path)
    with pytest.raises(ValueError, match=r"no package 'other' in .* Name one with --package"):
        Project.find(tmp_path, "other")


BEGINNING = '[project]\nname = "corner-shop"\n'
GROUP = '[project.entry-points."partita.services"]\n'
NOTES = 'notes = "corner_shop.notes.bootstrap:SERVICE"\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (BEGINNING, f"{BEGINNING}\n{GROUP}{NOTES}"),
        (
            f'{GROUP}a = "x.a.bootstrap:SERVICE"\nz = "x.z.bootstrap:SERVICE"\n\n{BEGINNING}',
            f'{GROUP}a = "x.a.bootstrap:SERVICE"\n{NOTES}z = "x.z.bootstrap:SERVICE"\n\n{BEGINNING}',
        ),
    ],
    ids=["first", "another"],
)
def test_the_entry_point_is_the_only_line_that_is_added(before: str, after: str, tmp_path: Path) -> None:
    settings = tmp_path / "pyproject.toml"
    settings.write_text(before, encoding="utf-8")
    project = Project(tmp_path, tmp_path / "src", "corner_shop")
    assert not project.declares("notes")
    project.declare("notes")
    assert project.declares("notes")
    assert settings.read_text(encoding="utf-8") == after
    assert tomllib.loads(after)["project"]["name"] == "corner-shop"
