"""All services have the same layout: the same files, which import each other in one direction."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from partita.patterns._permissions import ACTIONS

pytestmark = pytest.mark.req("X11")

FOLDERS = sorted(path.parent for path in Path("services/src/partita_services").resolve().glob("*/__init__.py"))

BELOW: dict[str, tuple[str, ...]] = {
    "model": ("handlers", "http", "bootstrap"),
    "handlers": ("http", "bootstrap"),
    "http": ("bootstrap",),
    "bootstrap": (),
}
"""Each file of a service, and the files that it must not import."""

REQUESTS = {request.__name__ for request in ACTIONS}


def imported(module: Path) -> set[str]:
    """Return the names that a module imports at its top level, except for request types."""
    names: set[str] = set()
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not names_requests(node):
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def names_requests(node: ast.ImportFrom) -> bool:
    """Whether an import contains only request types: a pattern declares which requests it sends, but needs no store."""
    return node.module == "partita.store" and {alias.name for alias in node.names} <= REQUESTS


def test_there_are_services() -> None:
    assert FOLDERS


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
@pytest.mark.parametrize("module", BELOW)
def test_a_service_has_the_file_and_it_looks_only_upwards(folder: Path, module: str) -> None:
    names = imported(folder / f"{module}.py")
    assert [other for other in BELOW[module] if f"partita_services.{folder.name}.{other}" in names] == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
@pytest.mark.parametrize("module", ["model", "handlers"])
def test_what_a_service_is_about_knows_neither_http_nor_a_store(folder: Path, module: str) -> None:
    packages = {".".join(name.split(".")[:2]) for name in imported(folder / f"{module}.py")}
    assert packages & {"fastapi", "starlette", "partita.http", "partita.store"} == set()
