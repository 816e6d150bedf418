"""Generates docs/reference.md: every public name with the first line of its documentation."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path

MODULES = (
    "partita",
    "partita.adopt",
    "partita.app",
    "partita.app.signin",
    "partita.buckets",
    "partita.buckets.s3",
    "partita.bulk",
    "partita.change",
    "partita.change.lake",
    "partita.change.shared",
    "partita.cli",
    "partita.console",
    "partita.cost",
    "partita.deploy",
    "partita.deploy.cdk",
    "partita.encryption",
    "partita.errors",
    "partita.expressions",
    "partita.folder",
    "partita.functions",
    "partita.http",
    "partita.model",
    "partita.modeldocs",
    "partita.operations",
    "partita.patterns",
    "partita.queue",
    "partita.queue.embedded",
    "partita.queue.sqs",
    "partita.recipes.audit",
    "partita.recipes.counter",
    "partita.recipes.history",
    "partita.recipes.idempotency",
    "partita.recipes.leases",
    "partita.recipes.lifecycle",
    "partita.recipes.outbox",
    "partita.recipes.personal",
    "partita.recipes.rate_limit",
    "partita.recipes.records",
    "partita.recipes.removal",
    "partita.recipes.tally",
    "partita.recipes.texts",
    "partita.recipes.unique",
    "partita.recipes.versioned",
    "partita.recipes.web_sessions",
    "partita.reports",
    "partita.runtime",
    "partita.scaffold",
    "partita.service",
    "partita.session",
    "partita.store",
    "partita.store.embedded",
    "partita.store.remote",
    "partita.testing",
    "partita.testing.plugin",
    "partita.testing.realism",
    "partita.transfer",
    "partita.transfer.exports",
    "partita.values",
    "partita.wire",
)
INNER = {
    "partita.app.direct": "partita.app",
    "partita.app.start": "partita.app",
    "partita.cli.data": "partita.cli",
    "partita.cli.data.loading": "partita.cli",
    "partita.cli.model": "partita.cli",
    "partita.cli.points": "partita.cli",
    "partita.cli.processes": "partita.cli",
    "partita.cli.serving": "partita.cli",
    "partita.http.identity": "partita.http",
    "partita.model.keys": "partita.model",
    "partita.operations.writes": "partita.operations",
    "partita.recipes": "each recipe is a module of its own",
    "partita.store.embedded.bulk": "partita.store.embedded",
    "partita.store.embedded.points": "partita.store.embedded",
    "partita.store.embedded.tables": "partita.store.embedded",
    "partita.store.embedded.upkeep": "partita.store.embedded",
    "partita.store.embedded.vectors": "partita.store.embedded",
    "partita.wire.background": "partita.wire",
    "partita.wire.bulk": "partita.wire",
    "partita.wire.exports": "partita.wire",
    "partita.wire.connection": "partita.wire",
    "partita.wire.partiql": "partita.wire",
    "partita.wire.replicas": "partita.wire",
    "partita.wire.tables": "partita.wire",
    "partita.wire.vectors": "partita.wire",
}
"""Internal packages, each with the package that exports its public names."""

READ = ("partita.deploy.cdk", "partita.testing.plugin")
"""Modules whose source is read instead of importing them: CDK starts Node, and fixtures are not plain functions."""

SOURCE = Path(__file__).parent.parent / "src"
PAGE = Path(__file__).with_name("reference.md")


def first_line(name: str, thing: object) -> str:
    """The first line of the documentation of a name."""
    documentation = _below_assignment(name, thing)
    if documentation is None:
        documented = inspect.isclass(thing) or inspect.isfunction(thing) or inspect.ismodule(thing)
        documentation = inspect.getdoc(thing if documented else type(thing))
    return (documentation or "").partition("\n")[0]


def _below_assignment(name: str, thing: object) -> str | None:
    """The docstring below the assignment of the name, as for a type alias."""
    plain = isinstance(thing, str | bytes | int | float | tuple | None)
    for module_name, each in _places().get(id(thing), ()):
        if (each == name or not plain) and (text := _texts(module_name).get(each)):
            return text
    return None


@cache
def _places() -> dict[int, list[tuple[str, str]]]:
    """The modules and names under which each object appears in the library, by the identity of the object."""
    for module_name in MODULES:
        if module_name not in READ:
            module = import_module(module_name)
            for name in getattr(module, "__all__", ()):  # some names are loaded on first use
                getattr(module, name)
    found: dict[int, list[tuple[str, str]]] = {}
    for module_name in [each for each in sys.modules if each.startswith("partita.")]:
        for name, value in vars(sys.modules[module_name]).items():
            found.setdefault(id(value), []).append((module_name, name))
    return found


@cache
def _texts(module_name: str) -> dict[str, str]:
    """The docstrings below the assignments of a module, by name."""
    body = ast.parse(inspect.getsource(sys.modules[module_name])).body
    found = {}
    for statement, after in pairwise(body):
        match statement, after:
            case (
                ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = inspect.cleandoc(text)
    return found


def public_names(module_name: str) -> list[str]:
    """The public names of a module: `__all__`, or without it, the module's own classes, functions and fixtures."""
    if module_name in READ:
        return sorted(name for name in _documented(module_name) if not name.startswith("_"))
    module = import_module(module_name)
    if hasattr(module, "__all__"):
        return sorted(module.__all__)
    return sorted(name for name, text in _documented(module_name).items() if text and not name.startswith("_"))


@cache
def _documented(module_name: str) -> dict[str, str]:
    """The classes and functions of a module with their documentation, read from its source."""
    folder = SOURCE.joinpath(*module_name.split("."))
    files = sorted(folder.glob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]
    nodes = [node for file in files for node in ast.parse(file.read_text(encoding="utf-8")).body]
    found = {
        node.name: ast.get_docstring(node) or "" for node in nodes if isinstance(node, ast.ClassDef | ast.FunctionDef)
    }
    names = _all_of(folder / "__init__.py")
    return {name: text for name, text in found.items() if names is None or name in names}


def _all_of(file: Path) -> list[str] | None:
    if not file.exists():
        return None
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return None


def _rows(module_name: str) -> Iterator[str]:
    texts = _documented(module_name) if module_name in READ else {}
    for name in public_names(module_name):
        text = texts[name].partition("\n")[0] if texts else first_line(name, getattr(import_module(module_name), name))
        yield f"| `{name}` | {text} |"


def _about(module_name: str) -> str:
    folder = SOURCE.joinpath(*module_name.split("."))
    file = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    return (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").partition("\n")[0]


def render() -> str:
    """The whole page."""
    about = "Every public name; the site has a page for each module, with signatures."
    lines = ["# Reference", "", f"*Reference, for people who write programs with Partita.* {about}", ""]
    lines += ["`make docs` writes this page.", ""]
    for module_name in MODULES:
        lines += [f"## `{module_name}`", "", _about(module_name), "", "| name | |", "| --- | --- |"]
        lines += [*_rows(module_name), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
