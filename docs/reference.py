"""Writes docs/reference.md: every public name with the first line of its documentation."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path

MODULES = (
    "partita",
    "partita.maintenance",
    "partita.change",
    "partita.change.lake",
    "partita.expressions",
    "partita.queue",
    "partita.store",
    "partita.testing",
)
PAGE = Path(__file__).with_name("reference.md")


def first_line(thing: object) -> str:
    """What a name is for, in one line."""
    if inspect.isclass(thing) or inspect.isfunction(thing) or inspect.ismodule(thing):
        return (inspect.getdoc(thing) or "").partition("\n")[0]
    return (inspect.getdoc(type(thing)) or "").partition("\n")[0]


def render() -> str:
    """The whole page."""
    lines = ["# Reference", "", "Every public name. `make docs` writes this page.", ""]
    for module_name in MODULES:
        module = import_module(module_name)
        lines += [f"## `{module_name}`", "", first_line(module), "", "| name | |", "| --- | --- |"]
        lines += [f"| `{name}` | {first_line(getattr(module, name))} |" for name in sorted(module.__all__)]
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
