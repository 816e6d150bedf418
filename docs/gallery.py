"""Generates docs/gallery/*.md: a page for each program in `examples/` that shows a known design."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from partita import Pattern, Table, explain
from partita.patterns import key_matches, layout

ROOT = Path(__file__).parent.parent
FOLDER = Path(__file__).with_name("gallery")
TITLES = {
    "github": "GitHub's model",
    "shop": "An online shop",
    "sensors": "Sensor readings",
    "graph": "An adjacency list",
    "places": "Places in a hierarchy",
    "saas": "A multi-tenant SaaS",
    "leaderboard": "A leaderboard",
    "chat": "A chat",
}


def loaded(name: str) -> ModuleType:
    """Load an example as a module, once."""
    full = f"gallery_{name}"
    if full not in sys.modules:
        path = ROOT / "examples" / f"{name}.py"
        module = sys.modules[full] = ModuleType(full)
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec", dont_inherit=True), vars(module))  # noqa: S102
    return sys.modules[full]


def page(name: str) -> str:
    """The page of an example."""
    return "\n".join([*_lines(name, loaded(name)), ""])


def _lines(name: str, module: ModuleType) -> Iterator[str]:
    first, _, rest = (inspect.getdoc(module) or "").partition("\n\n")
    about = first.partition(": ")[2].rstrip(".")  # the title stands before the colon
    why = rest.rpartition("\n\nIt prints:")[0].rpartition("|\n\n")[2]
    printed = inspect.cleandoc((module.__doc__ or "").partition("It prints:\n\n")[2])
    yield from (f"# {TITLES[name]}", "")
    yield from _wrapped(f"*How-to, for people who design tables.* {about[:1].upper()}{about[1:]}.")
    yield from ("", why, "")
    link = f"[`examples/{name}.py`](../../examples/{name}.py)"
    yield from _wrapped(f"The program is {link}; `docs/gallery.py` generates this page from it. It prints:")
    yield from ("", "```text", printed, "```", "", "## Access patterns", "")
    yield from _patterns(module.TABLE)
    yield from ("", "## Keys", "")
    yield from _keys(module.TABLE)
    yield from (
        "",
        "## Request and cost",
        "",
        f"`explain({module.EXPLAINED.name}(…))` shows the request that is sent, and its predicted cost:",
    )
    yield from ("", "```text", str(explain(module.EXPLAINED)), "```", "", "## The model", "")
    yield from ("```python", _model(ROOT / "examples" / f"{name}.py"), "```")


def _wrapped(paragraph: str) -> Iterator[str]:
    yield from textwrap.wrap(paragraph, 125, break_long_words=False, break_on_hyphens=False)


def _patterns(table: Table) -> Iterator[str]:
    yield "| pattern | description | served by | request | budget |"
    yield "| --- | --- | --- | --- | --- |"
    for pattern in table.patterns.values():
        call = f"`{pattern.name}({', '.join(pattern.signature.parameters)})`"
        cells = (call, pattern.doc.partition("\n")[0], pattern.index or "table", _request(pattern))
        yield f"| {' | '.join(cells)} | {pattern.budget or ''} |"


def _request(pattern: Pattern) -> str:
    if asked := key_matches(pattern):
        parts = ", ".join(f"`{part.attribute}` {part.relation} `{part.template}`" for part in asked)
        return f"{'GetItem' if pattern.kind == 'get' else 'Query'}: {parts}"
    return ", ".join(dict.fromkeys(f"{each.action} `{each.partition}`" for each in pattern.sends or ()))


def _keys(table: Table) -> Iterator[str]:
    yield "| key | in | partition key | sort key |"
    yield "| --- | --- | --- | --- |"
    for key in layout(table):
        where = f"{key.index or 'table'}{f', while `{key.when}`' if key.when else ''}"
        yield f"| `{key.entity}.{key.key}` | {where} | `{key.hash}` | `{key.range}` |"


def _model(path: Path) -> str:
    """The part of the program from its table to its first pattern: the declarations, without the code that runs."""
    text = path.read_text(encoding="utf-8")
    body = ast.parse(text).body
    start = next(node.lineno for node in body if isinstance(node, ast.Assign))
    end = next(
        node.decorator_list[0].lineno for node in body if isinstance(node, ast.FunctionDef) and node.decorator_list
    )
    return "\n".join(text.splitlines()[start - 1 : end - 1]).strip()


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in TITLES:
        (FOLDER / f"{each}.md").write_text(page(each), encoding="utf-8")
