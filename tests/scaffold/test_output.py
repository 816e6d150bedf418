"""Scaffolded code passes lint, type checks and its own tests, in this repository and in a user's project.

In the copy of this repository that is tested, all checklists of AGENTS.md have been followed, too.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.scaffold.guide import blocks
from tests.scaffold.scratch import ROOT, Scratch, a_project_of_its_own, copy_of_this_repository

SAME_WORKER = pytest.mark.xdist_group("types")  # to share one copy, and the type checker's cache
pytestmark = [pytest.mark.slow, pytest.mark.req("A08"), SAME_WORKER]

ENTITY = "entity parcel --service todo --owner user_id --index state --index due:date"
BARE = "entity city --index country --index founded:date"
VERSIONED = "entity order_line --versioned --index sku --index day:date --field amount:int"
OWNED = "entity Address --versioned --owner user_id --index city --index since:date"
PLAIN = "entity label --versioned --field urgent:bool"
SERVICE = "service shops --index mood --index day:date --field stars:int"
SMALL = "service notes --index api"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    """A copy of this repository with new entities and services of every kind, after all checklists of AGENTS.md."""
    scratch = copy_of_this_repository(tmp_path_factory.mktemp("here"))
    for arguments in (ENTITY, BARE, VERSIONED, OWNED, PLAIN, SMALL):
        scratch.new(arguments)
    for block in blocks((scratch.root / "AGENTS.md").read_text(encoding="utf-8")):
        block.follow(scratch)
    return scratch


CODE = (
    *(f"services/src/partita_services/{name}.py" for name in ("todo/parcel", "city", "order_line", "address", "label")),
    *(f"services/src/partita_services/{name}" for name in ("guest_books", "notes")),
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
    cache = tmp_path / "cache"
    if (ROOT / ".mypy_cache").exists():  # its entries for the library are valid here: mypy compares content
        shutil.copytree(ROOT / ".mypy_cache", cache)
    here.run("mypy", "--strict", "--cache-dir", str(cache), *CODE, *TESTS)


def test_its_tests_pass(here: Scratch) -> None:
    layout = ("tests/services/test_layout.py", "-k", "not test_layout or guest_books or notes")
    here.run("pytest", "-q", "-n0", "-p", "no:cacheprovider", "--store=embedded", *TESTS, *layout)


def test_the_schema_of_a_versioned_entity_is_kept(here: Scratch) -> None:
    kept = {path.name for path in (here.root / "schema").iterdir()}
    assert {"order_line.schema.json", "order_line.v1.json", "address.schema.json", "label.v1.json"} < kept


def test_the_checklists_lead_to_a_service_that_is_all_there(here: Scratch) -> None:
    here.run("partita", "docs", "guest_books")
    page = (here.root / "docs/services/guest_books-model.md").read_text(encoding="utf-8")
    assert [name for name in ("latest_entries_with_mood", "book_of", "visitors_with_city") if name not in page] == []
    kept = {path.name for path in (here.root / "schema").glob("visitor.*")}
    assert kept == {"visitor.schema.json", "visitor.v1.json", "visitor.v2.json"}


def test_a_project_of_its_own_begins_with_it(tmp_path: Path) -> None:
    scratch = a_project_of_its_own(tmp_path)
    for arguments in (BARE, VERSIONED):
        scratch.new(arguments)
    assert "Add --import-mode=importlib to pytest's addopts" in scratch.new(SERVICE)
    scratch.run("ruff", "check", ".")
    scratch.run("ruff", "format", "--check", ".")
    scratch.run("pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib")
    scratch.install()
    assert scratch.run("partita", "cost", "shops").count(" within") == 8


def test_in_a_flat_project_snapshots_are_no_package_and_are_checked(tmp_path: Path) -> None:
    scratch = a_project_of_its_own(tmp_path, source=".")
    before = {path.name for path in tmp_path.iterdir() if path.is_dir()}
    said = scratch.new(PLAIN)
    assert "wrote tests/schema/label.schema.json" in said
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} - {".ruff_cache"} == {*before, "tests"}
    advised = said.partition("After each change of its fields, run: ")[2].strip().removesuffix(".")
    assert advised == "partita schema check --module corner_shop.label"
    assert scratch.run(*advised.split()) == "Label: current\n"
    model = tmp_path / "corner_shop" / "label.py"
    model.write_text(model.read_text(encoding="utf-8").replace("urgent", "hurried"), encoding="utf-8")
    assert "1. Raise data_version" in scratch.run(*advised.split(), fails=True)
    scratch.run("pytest", "-q", "-p", "no:cacheprovider", "-k", "schema", fails=True)
