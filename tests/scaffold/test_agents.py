"""The layers in AGENTS.md are correct: every module is in one, and imports point down."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.scaffold.scratch import ROOT

GUIDE = (ROOT / "AGENTS.md").read_text(encoding="utf-8")
SOURCES = ("src", "services/src")
FACADE = {"src/partita/__init__.py"}
"""The public names of the library, which every module may import."""


def layers() -> list[str]:
    rows = GUIDE.split("## Layers")[1].split("## Rules")[0].splitlines()
    return [match[1] for row in rows if (match := re.match(r"\| `([\w/.]+)` \|", row))]


LAYERS = layers()


def layer_of(module: str) -> int | None:
    """Return the layer of a file: that with the longest matching name."""
    named = [(len(name), number) for number, name in enumerate(LAYERS) if _is_in(module, name)]
    return max(named)[1] if named else None


def _is_in(module: str, name: str) -> bool:
    return module == name or (name.endswith("/") and module.startswith(name))


def imported(path: Path) -> set[str]:
    """Return the modules of this repository that a module imports at its top level."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    paths = [name.replace(".", "/") for name in names if name.startswith("partita")]
    files = {f"{source}/{path}{end}" for source in SOURCES for path in paths for end in (".py", "/__init__.py")}
    return files & MODULES - FACADE


MODULES = {path.relative_to(ROOT).as_posix() for source in SOURCES for path in (ROOT / source).rglob("*.py")}


def test_every_module_is_in_a_layer() -> None:
    assert sorted(module for module in MODULES - FACADE if layer_of(module) is None) == []


def test_what_the_table_names_is_there() -> None:
    assert [name for name in LAYERS if not (ROOT / name).exists()] == []


def test_imports_point_down() -> None:
    upwards = [
        f"{module} imports {other}"
        for module in MODULES
        if (own := layer_of(module)) is not None
        for other in imported(ROOT / module)
        if (layer := layer_of(other)) is not None and layer < own
    ]
    assert sorted(upwards) == []


def test_what_to_read_is_there() -> None:
    section = GUIDE.split("## What to read first")[1].split("## Checklists")[0]
    places = ("", "src/partita/", "docs/decisions/")
    named = re.findall(r"`([\w/.-]+)`", section)
    assert [name for name in named if not any((ROOT / place / name).exists() for place in places)] == []
