"""The public surface: sorted, complete, and each name once."""

from __future__ import annotations

import ast
import contextlib
import gc
import importlib
import inspect
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import partita

SOURCE = Path(partita.__file__).parent
# Found by their files: walking packages would import them, and the package of CDK starts Node in every worker.
FOUND = {".".join(("partita", *file.parent.relative_to(SOURCE).parts)) for file in SOURCE.rglob("__init__.py")}
LATE = sorted(".".join(("partita", *file.parent.relative_to(SOURCE).parts)) for file in SOURCE.rglob("__init__.pyi"))
"""The packages that load their names lazily."""
MODULES = sorted(
    name
    for name in FOUND
    if name != "partita.recipes"  # each recipe is its own module
    and not any(part.startswith("_") for part in name.split("."))
)
ALONE = ["partita.service", *(f"partita.recipes.{file.stem}" for file in SOURCE.glob("recipes/[a-z]*.py"))]
"""Public modules that are not packages."""

MODEL = """
from typing import ClassVar
from partita import Entity, Key, Put, Rcu, Table, Wcu, get, insert, pattern, query

class Task(Entity, table=Table("tasks")):
    primary: ClassVar = Key("USER#{user_id}", "TASK#{task_id}")
    user_id: str
    task_id: str

@get(Task, budget=Rcu(0.5))
def task_by_id(user_id: str, task_id: str) -> None: ...

@query(Task, Task.primary, budget=Rcu(1))
def tasks_of(user_id: str) -> None: ...

@pattern(budget=Wcu(1))
def create_task(task: Task) -> Put[Task]:
    return insert(task)
"""
UNNEEDED = {
    *("apsw", "asyncio", "botocore", "click", "cryptography", "deltalake", "fastapi", "httptools", "httpx", "jwt"),
    *("logging", "multiprocessing", "pyarrow", "rich", "sqlite3", "ssl", "starlette", "uvicorn", "uvloop"),
    *("partita._aws", "partita._sqlite", "partita.change", "partita.cli", "partita.cost", "partita.encryption"),
    *("partita.http", "partita.queue", "partita.recipes", "partita.service", "partita.session"),
    *("partita.store.embedded", "partita.store.remote", "partita.transfer", "partita.wire"),
    *("partita.expressions._parse", "partita.operations._search", "partita.patterns._searches", "partita.store._open"),
}
"""Modules that a program that only declares a model does not need."""


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


@pytest.mark.parametrize("name", [*MODULES, *ALONE])
def test_help_can_tell_the_arguments_of_every_public_name(name: str) -> None:
    module = importlib.import_module(name)
    public = [getattr(module, each) for each in module.__all__]
    assert [value for value in public if callable(value) and not _has_signature(value)] == []


def _has_signature(value: Callable[..., object]) -> bool:
    """Whether `help()` can describe a value: it expects a ValueError or a TypeError, and no other error."""
    with contextlib.suppress(TypeError, ValueError):
        try:
            inspect.signature(value)
        except NameError:
            return False
    return True


def test_a_name_is_listed_once_however_often_it_was_loaded() -> None:
    assert partita.Session is partita.Session
    assert len(dir(partita)) == len(set(dir(partita)))


def test_a_package_is_an_attribute_before_anything_was_loaded() -> None:
    assert says("import partita as p; print(p.errors.PartitaError.code, p.model.Rcu(1))") == "partita 1 RCU"


@pytest.mark.parametrize("package", LATE)
def test_type_checkers_read_the_names_that_are_loaded(package: str) -> None:
    folder = SOURCE.joinpath(*package.split(".")[1:])
    tree = ast.parse((folder / "__init__.pyi").read_text(encoding="utf-8"))
    imported = {
        node.module: {alias.name for alias in node.names} for node in tree.body if isinstance(node, ast.ImportFrom)
    }
    loaded = importlib.import_module(package)
    assert imported == {f"{package}.{module}": set(names) for module, names in loaded._NAMES.items() if names}
    assert names_in(tree) == loaded.__all__


def names_in(tree: ast.Module) -> list[str]:
    (found,) = (node.value for node in tree.body if isinstance(node, ast.Assign))
    return list(ast.literal_eval(found))


def test_a_model_loads_no_more_than_it_needs() -> None:
    """Models are also declared by programs that serve and store nothing: functions, scripts and checks."""
    found = set(loaded_by(MODEL))
    assert {name for name in found if name.startswith("partita.")} >= {"partita.model", "partita.patterns"}
    assert found & UNNEEDED == set()
    assert len(own(found)) <= 76, sorted(own(found))


def test_a_session_on_a_file_loads_no_event_loop() -> None:
    """Modules that few programs need or that take long to load are loaded only when they are needed."""
    found = set(loaded_by("from partita import EmbeddedStore, Entity, Session"))
    assert found >= {"apsw", "partita.session", "partita.store.embedded"}
    assert (
        found & {"asyncio", "concurrent", "json", "logging", "numpy", "shutil", "ssl", "subprocess", "tempfile"}
        == set()
    )
    assert len(own(found)) <= 145, sorted(own(found))


def test_text_and_bytes_are_never_compared() -> None:
    wanted = "Session(EmbeddedStore(':memory:'))"
    code = (
        f"{MODEL}\nfrom partita import EmbeddedStore, Session\ndb = {wanted}\ndb.create_tables([Task.__entity__.table])"
    )
    assert says(f"{code}\nprint(db.run(create_task(Task(user_id='a', task_id='b'))).task_id)", "-bb") == "b"


def test_the_package_alone_loads_nothing() -> None:
    assert loaded_by("import partita") == ["partita", "partita._late"]


def test_loading_a_name_does_not_look_for_garbage() -> None:
    """Loading runs no garbage collection, and leaves it enabled or disabled as before."""
    code = (
        "import gc, partita; found = []; gc.callbacks.append(lambda when, _: found.append(when)); {}; partita.Entity; "
    )
    assert says(code.format("pass") + "print(len(found), gc.isenabled())") == "0 True"
    assert says(code.format("gc.disable()") + "print(len(found), gc.isenabled())") == "0 False"


def test_a_name_that_cannot_be_loaded_leaves_the_search_for_garbage_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "partita.store._open", None)
    monkeypatch.delitem(vars(importlib.import_module("partita.store")), "open_store", raising=False)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("partita.store").open_store  # noqa: B018 - the access loads it
    assert gc.isenabled()


def own(modules: set[str]) -> set[str]:
    """Return the modules of the library; loading them takes most of the library's share of the start-up time."""
    return {name for name in modules if name.partition(".")[0] == "partita"}


def loaded_by(code: str) -> list[str]:
    """Return the modules that a program loads, except those that Python always loads."""
    return says(f"import sys; before = set(sys.modules)\n{code}\nprint(*sorted(set(sys.modules) - before))").split()


def says(code: str, *options: str) -> str:
    """Return the output of a program that runs in a new, isolated process."""
    command = [sys.executable, "-I", *options, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_every_public_name_is_listed(module: ModuleType) -> None:
    assert set(module.__all__) <= set(dir(module))


@pytest.mark.parametrize("name", ["Entity", "Session", "AsyncSession", "EmbeddedStore", "Key", "Table", "f", "explain"])
def test_what_every_program_needs_is_public(name: str) -> None:
    assert name in importlib.import_module("partita").__all__


def test_what_a_public_function_gives_is_public_too() -> None:
    """Types in signatures and results can be imported, so that callers can use them in annotations."""
    public = set(importlib.import_module("partita").__all__)
    needed = {"Get", "Put", "Update", "Delete", "Query", "Page", "WalkResult", "Collect", "Check", "Transaction"}
    assert needed | {"BatchGet", "BatchWrite", "Procedure", "Operation", "Condition", "Change", "Ref"} <= public
