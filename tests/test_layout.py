"""The layout of the repository: which imports are allowed, and how large packages, modules and functions may be."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("layout")  # every module is parsed once for all tests

ROOT = Path(__file__).parent.parent
SOURCES = ("src", "services/src")
CODE_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def modules() -> Iterator[tuple[str, Path]]:
    """Yield every module of the library and the services: its full name and its path."""
    for source in SOURCES:
        for path in sorted((ROOT / source).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT / source).with_suffix("").parts)
            yield name.removesuffix(".__init__"), path


MODULES = dict(modules())


IMPORTS_AND_DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def statements(path: Path) -> list[ast.AST]:
    """Return all imports and functions of a module, which is parsed once for all tests."""
    return found_in(path.read_text(encoding="utf-8"))


def found_in(code: str) -> list[ast.AST]:
    """Return all imports and functions in a text of Python code."""
    return [node for node in ast.walk(ast.parse(code)) if isinstance(node, IMPORTS_AND_DEFINITIONS)]


def imports(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the full names of imported modules, and of imported names, which may be modules."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def private_owner(name: str) -> str | None:
    """Return the only package that may import a name, because of its innermost private part; None if it is public."""
    parts = name.split(".")
    private = [place for place, part in enumerate(parts) if part.startswith("_") and not part.startswith("__")]
    return ".".join(parts[: private[-1]]) if private else None


def trespasses(importer: str, nodes: Iterable[ast.AST]) -> list[str]:
    """Return a message for each private name that a module imports from another package."""
    return [
        f"{importer or 'outside'} imports {name}"
        for name in imports(nodes)
        if name.partition(".")[0] in ("partita", "partita_services")
        and (owner := private_owner(name)) is not None
        and not f"{importer}.".startswith(f"{owner}.")
    ]


def outsiders() -> Iterator[tuple[str, str]]:
    """Yield the code of examples and documentation, which is outside of every package."""
    for path in [*(ROOT / "examples").rglob("*.py"), *(ROOT / "docs").rglob("*.py")]:
        yield path.name, path.read_text(encoding="utf-8")
    for path in [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]:
        for block in CODE_BLOCK.findall(path.read_text(encoding="utf-8")):
            yield path.name, block


@pytest.mark.parametrize(
    ("importer", "code", "found"),
    [
        ("partita.wire._items", "from partita.store._requests import GetItem", 1),
        ("partita.wire._items", "from partita.store import _requests", 1),
        ("partita.store.remote._items", "from partita.store._requests import GetItem", 0),
        ("partita.wire._items", "import partita.store._requests", 1),
        ("partita.store.embedded._store", "from partita._sqlite import GroupCommit", 0),
        ("partita.store.embedded._store", "from partita._sqlite._file import opened", 1),
        ("partita_services.todo.http", "from partita._sqlite import GroupCommit", 1),
        ("partita_services.todo.http", "from partita.http import Problem", 0),
    ],
)
def test_a_private_import_is_recognised(importer: str, code: str, found: int) -> None:
    assert len(trespasses(importer, found_in(code))) == found


def test_private_modules_are_imported_only_inside_their_package() -> None:
    assert [each for name, path in MODULES.items() for each in trespasses(name, statements(path))] == []


def test_programs_and_documentation_use_public_names_alone() -> None:
    assert [f"{name}: {each}" for name, code in outsiders() for each in trespasses("", found_in(code))] == []


def test_a_package_imports_nothing_that_its_surface_does_not_name() -> None:
    """Names that one package imports from another are in the other's `__all__`."""
    unnamed = []
    for importer, path in MODULES.items():
        for node in statements(path):
            if not isinstance(node, ast.ImportFrom) or node.module not in MODULES or node.module == importer:
                continue
            if MODULES[node.module].name != "__init__.py" or f"{importer}.".startswith(f"{node.module}."):
                continue
            surface = names_of(MODULES[node.module])
            unnamed += [
                f"{importer} takes {alias.name} from {node.module}"
                for alias in node.names
                if alias.name not in surface and f"{node.module}.{alias.name}" not in MODULES
            ]
    assert unnamed == []


def test_services_take_only_names_that_the_reference_lists() -> None:
    """Whatever these services need, services of users need, too."""
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    listed = {
        f"{module}.{name}"
        for module, rows in re.findall(r"^## `([\w.]+)`\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
        for name in re.findall(r"^\| `(\w+)` \| \S", rows, re.MULTILINE)
    }
    taken = {
        name
        for importer, path in MODULES.items()
        if importer.startswith("partita_services")
        for name in imports(statements(path))
        if name.startswith("partita.") and name not in MODULES
    }
    assert sorted(taken - listed) == []


@cache
def names_of(path: Path) -> set[str]:
    """Return the `__all__` of a package; if it loads its names lazily, from its `__init__.pyi`."""
    late = path.with_name("__init__.pyi")
    tree = ast.parse((late if late.exists() else path).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def test_the_library_has_few_modules_of_its_own() -> None:
    assert sorted(path.name for path in (ROOT / "src" / "partita").glob("*.py")) == [
        "__init__.py",
        "__main__.py",
        "_late.py",
        "service.py",
    ]


def test_no_package_has_more_than_twenty_modules() -> None:
    sizes = Counter(path.parent.relative_to(ROOT).as_posix() for path in MODULES.values())
    assert {folder: size for folder, size in sizes.items() if size > 20} == {}


def test_no_module_is_longer_than_400_lines() -> None:
    lines = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in MODULES.items()}
    assert {name: count for name, count in lines.items() if count > 400} == {}


def test_no_function_is_longer_than_60_lines() -> None:
    lengths = {
        f"{name}:{node.lineno} {node.name}": node.end_lineno - node.lineno + 1
        for name, path in MODULES.items()
        for node in statements(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None
    }
    assert {name: length for name, length in lengths.items() if length > 60} == {}
