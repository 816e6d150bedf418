"""Writes docs/reference.md: every public name with the first line of its documentation."""

from __future__ import annotations

import ast
import inspect
import sys
from importlib import import_module
from itertools import pairwise
from pathlib import Path

MODULES = (
    "partita",
    "partita.adopt",
    "partita.app",
    "partita.app.signin",
    "partita.change",
    "partita.change.lake",
    "partita.change.shared",
    "partita.cli",
    "partita.console",
    "partita.cost",
    "partita.deploy",
    "partita.encryption",
    "partita.expressions",
    "partita.folder",
    "partita.functions",
    "partita.http",
    "partita.model",
    "partita.modeldocs",
    "partita.operations",
    "partita.patterns",
    "partita.queue",
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
    "partita.recipes.unique",
    "partita.recipes.versioned",
    "partita.recipes.web_sessions",
    "partita.runtime",
    "partita.scaffold",
    "partita.service",
    "partita.session",
    "partita.store",
    "partita.store.embedded",
    "partita.store.remote",
    "partita.testing",
    "partita.values",
    "partita.wire",
)
PAGE = Path(__file__).with_name("reference.md")


def first_line(name: str, thing: object) -> str:
    """What a name is for, in one line."""
    documentation = _below_assignment(name, thing)
    if documentation is None:
        documented = inspect.isclass(thing) or inspect.isfunction(thing) or inspect.ismodule(thing)
        documentation = inspect.getdoc(thing if documented else type(thing))
    return (documentation or "").partition("\n")[0]


def _below_assignment(name: str, thing: object) -> str | None:
    """The text under the line that gives the thing its name, as an alias of a type has it."""
    for module in list(sys.modules.values()):
        if not module.__name__.startswith("partita.") or vars(module).get(name) is not thing:
            continue
        for statement, after in pairwise(ast.parse(inspect.getsource(module)).body):
            match statement, after:
                case (
                    ast.AnnAssign(target=ast.Name(id=found)) | ast.Assign(targets=[ast.Name(id=found)]),
                    ast.Expr(value=ast.Constant(value=str(text))),
                ) if found == name:
                    return inspect.cleandoc(text)
    return None


def render() -> str:
    """The whole page."""
    lines = ["# Reference", "", "Every public name. `make docs` writes this page.", ""]
    for module_name in MODULES:
        module = import_module(module_name)
        lines += [f"## `{module_name}`", "", first_line(module_name, module), "", "| name | |", "| --- | --- |"]
        lines += [f"| `{name}` | {first_line(name, getattr(module, name))} |" for name in sorted(module.__all__)]
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
