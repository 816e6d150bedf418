"""Every example is a complete program that prints what its docstring says: locally, over the wire, and on emulators."""

from __future__ import annotations

import ast
import runpy
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.referee import moto
from tests.store.remote.served import served

from partita import EmbeddedStore, Session
from partita.errors import TableNotFound
from partita.store import DeleteTable, Store
from partita.store.remote import Credentials, RemoteStore

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
GALLERY = runpy.run_path(str(ROOT / "docs" / "gallery.py"))
DESIGNS = sorted(GALLERY["TITLES"])


def documentation(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def printed(path: Path) -> str:
    """Return the output that the docstring of a program promises."""
    return textwrap.dedent(documentation(path).partition("It prints:\n\n")[2])


def told(design: Any, store: Store) -> None:
    """Run the program of a design on a store."""
    with suppress(TableNotFound):
        store.execute(DeleteTable(design.TABLE.name))
    db = Session(store)
    db.create_tables([design.TABLE])
    design.tell(db)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_it_says(example: Path, tmp_path: Path) -> None:
    ran = subprocess.run([sys.executable, example], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.stderr, ran.stdout.rstrip()) == ("", printed(example))
    assert printed(example)


def test_there_are_examples() -> None:
    assert set(DESIGNS) < {path.stem for path in EXAMPLES}


@pytest.mark.parametrize("name", DESIGNS)
def test_a_design_prints_the_same_through_the_wire(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with EmbeddedStore(":memory:") as store, served(store) as remote:
        told(GALLERY["loaded"](name), remote)
    assert capsys.readouterr().out.rstrip() == printed(ROOT / "examples" / f"{name}.py")


@pytest.mark.xdist_group("referee")
@pytest.mark.parametrize("name", DESIGNS)
def test_a_design_prints_the_same_on_ministack(
    name: str, remote: RemoteStore, capsys: pytest.CaptureFixture[str]
) -> None:
    told(GALLERY["loaded"](name), remote)
    assert capsys.readouterr().out.rstrip() == printed(ROOT / "examples" / f"{name}.py")


@pytest.fixture(scope="module")
def third(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RemoteStore]:
    """Moto, a third engine, called through the remote store."""
    with (
        moto(tmp_path_factory.mktemp("moto")) as url,
        RemoteStore(url, credentials=Credentials("test", "test")) as store,
    ):
        yield store


@pytest.mark.slow
@pytest.mark.xdist_group("referee")
@pytest.mark.parametrize("name", DESIGNS)
def test_a_design_prints_the_same_on_moto(name: str, third: RemoteStore, capsys: pytest.CaptureFixture[str]) -> None:
    told(GALLERY["loaded"](name), third)
    assert capsys.readouterr().out.rstrip() == printed(ROOT / "examples" / f"{name}.py")


@pytest.mark.parametrize("name", DESIGNS)
def test_the_access_patterns_of_a_design_are_in_its_first_lines(name: str) -> None:
    """Each is listed with its budget; patterns without one are exempt, as targets of checks and updates."""
    text = documentation(ROOT / "examples" / f"{name}.py")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    patterns = GALLERY["loaded"](name).TABLE.patterns.values()
    missing = [
        pattern.name
        for pattern in patterns
        if pattern.budget is not None
        and not any(f"`{pattern.name}(" in row and row.endswith(f"| {pattern.budget} |") for row in rows)
    ]
    assert missing == []


@pytest.mark.parametrize("name", DESIGNS)
def test_the_page_of_a_design_is_current(name: str) -> None:
    page = (ROOT / "docs" / "gallery" / f"{name}.md").read_text(encoding="utf-8")
    assert page == GALLERY["page"](name), "run `make docs`"
