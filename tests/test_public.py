"""The public surface: sorted, complete, and each name once."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

import partita

SOURCE = Path(partita.__file__).parent
# By their files: to walk through packages imports them, and that of CDK starts a Node in every worker.
FOUND = {".".join(("partita", *file.parent.relative_to(SOURCE).parts)) for file in SOURCE.rglob("__init__.py")}
MODULES = sorted(
    name
    for name in FOUND
    if name != "partita.recipes"  # each recipe is a module of its own
    and not any(part.startswith("_") for part in name.split("."))
)


@pytest.fixture(params=MODULES)
def module(request: pytest.FixtureRequest) -> ModuleType:
    return importlib.import_module(request.param)


def test_public_names_are_sorted_and_exist(module: ModuleType) -> None:
    names = module.__all__
    assert len(set(names)) == len(names)
    assert names == [*sorted(n for n in names if n.isupper()), *sorted(n for n in names if not n.isupper())]
    assert [name for name in names if not hasattr(module, name)] == []


def test_a_misspelt_name_is_an_import_error() -> None:
    with pytest.raises(ImportError, match="cannot import name 'Sesion'"):
        exec("from partita import Sesion")  # noqa: S102 - the type checkers would see it otherwise


def test_every_public_name_is_listed(module: ModuleType) -> None:
    assert set(module.__all__) <= set(dir(module))


@pytest.mark.parametrize("name", ["Entity", "Session", "AsyncSession", "EmbeddedStore", "Key", "Table", "f", "explain"])
def test_what_every_program_needs_is_public(name: str) -> None:
    assert name in importlib.import_module("partita").__all__


def test_what_a_public_function_gives_is_public_too() -> None:
    """The types that callers meet in signatures and results can be imported to be named."""
    public = set(importlib.import_module("partita").__all__)
    needed = {"Get", "Put", "Update", "Delete", "Query", "Page", "WalkResult", "Collect", "Check", "Transaction"}
    assert needed | {"BatchGet", "BatchWrite", "Procedure", "Operation", "Condition", "Change", "Ref"} <= public
