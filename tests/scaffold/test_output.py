"""What is scaffolded passes lint, types and its own tests at once, here and in a project of somebody's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.scaffold.scratch import Scratch, a_project_of_its_own, copy_of_this_repository

pytestmark = [pytest.mark.req("A08"), pytest.mark.xdist_group("scaffold")]  # one worker, and so one copy

ENTITY = "entity parcel --service todo --owner user_id --index state --index due:date"
BARE = "entity city --index country --index founded:date"
VERSIONED = "entity order_line --versioned --index sku --index day:date --field amount:int"
OWNED = "entity Address --versioned --owner user_id --index city --index since:date"
PLAIN = "entity label --versioned --field urgent:bool"
SERVICE = "service guest_books --entity entry --index mood --index day:date --field stars:int"
SMALL = "service notes"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    """A copy of this repository with new entities and services of every kind."""
    scratch = copy_of_this_repository(tmp_path_factory.mktemp("here"))
    for arguments in (ENTITY, BARE, VERSIONED, OWNED, PLAIN, SERVICE, SMALL):
        scratch.run("partita", "new", *arguments.split())
    return scratch


CODE = (
    *(
        f"src/partita_services/{name}"
        for name in ("todo/parcel.py", "city.py", "order_line.py", "address.py", "label.py")
    ),
    *(f"src/partita_services/{name}" for name in ("guest_books", "notes")),
)
TESTS = (
    *(f"tests/test_{name}.py" for name in ("city", "order_line", "address", "label")),
    "tests/services/todo/test_parcel.py",
    *(f"tests/services/{name}" for name in ("guest_books", "notes")),
)


def test_its_rules_and_format_are_ours(here: Scratch) -> None:
    here.run("ruff", "check", *CODE, *TESTS)
    here.run("ruff", "format", "--check", *CODE, *TESTS)


def test_its_types_are_strict(here: Scratch, tmp_path: Path) -> None:
    here.run("mypy", "--strict", "--cache-dir", str(tmp_path), *CODE, *TESTS)


def test_its_tests_pass(here: Scratch) -> None:
    here.test("-n0", "--store=embedded", *TESTS)


def test_it_is_a_service_like_the_others(here: Scratch) -> None:
    here.test("-n0", "tests/services/test_layout.py", "-k", "guest_books or notes")


def test_the_schema_of_a_versioned_entity_is_kept(here: Scratch) -> None:
    kept = {path.name for path in (here.root / "schema").iterdir()}
    assert {"order_line.schema.json", "order_line.v1.json", "address.schema.json", "label.v1.json"} < kept


def test_a_project_of_its_own_begins_with_it(tmp_path: Path) -> None:
    scratch = a_project_of_its_own(tmp_path)
    scratch.run("partita", "new", *BARE.split())
    scratch.run("partita", "new", *VERSIONED.split())
    said = scratch.run("partita", "new", *SERVICE.split())
    assert "Add --import-mode=importlib to pytest's addopts" in said
    scratch.run("ruff", "check", ".")
    scratch.run("ruff", "format", "--check", ".")
    scratch.test("--import-mode=importlib")
    scratch.install()
    assert scratch.run("partita", "cost", "guest_books").count(" within") == 8
