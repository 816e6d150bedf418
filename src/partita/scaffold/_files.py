"""Writing new files: all or none, and never over one that is there."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from msgspec import Struct

from partita.scaffold._project import Project

_SNAPSHOT: Final = """\
import importlib, pathlib, sys
from partita.recipes.snapshots import accept
module, name = sys.argv[1].split(":")
print(*accept(getattr(importlib.import_module(module), name), pathlib.Path("schema")), sep="\\n")
"""


class Scaffold(Struct, frozen=True):
    """New files of a project, not written yet."""

    project: Project
    files: Mapping[Path, str]
    declares: str | None = None
    """The service whose entry point is to be added."""
    snapshot: str | None = None
    """The versioned table whose schema is to be kept, as `module:NAME`."""

    def write(self) -> list[Path]:
        """Write the files, and give their paths from the root of the project.

        Raises:
            ValueError: one of them is there already; then none is written.
        """
        if there := [self._short(path) for path in self.files if path.exists()]:
            raise ValueError(f"Nothing was written, because these are there already: {', '.join(map(str, there))}.")
        if self.declares and self.project.declares(self.declares):
            raise ValueError(f"Nothing was written: pyproject.toml has a service {self.declares!r} already.")
        for path, text in self.files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        _format(self.files, self.project.root)
        written = [self._short(path) for path in self.files]
        if self.declares:
            self.project.declare(self.declares)
        return written + (self._take_snapshot(self.snapshot) if self.snapshot else [])

    def _short(self, path: Path) -> Path:
        return path.relative_to(self.project.root)

    def _take_snapshot(self, table: str) -> list[Path]:
        """Keep the schema, in a process of its own: here the new module cannot be imported a second time."""
        path = os.pathsep.join(filter(None, (str(self.project.source), os.environ.get("PYTHONPATH"))))
        said = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-c", _SNAPSHOT, table],
            cwd=self.project.root,
            env={**os.environ, "PYTHONPATH": path},
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        return [Path(line) for line in said.stdout.splitlines()]


def _format(files: Iterable[Path], root: Path) -> None:
    """Order and wrap as the project has it, where ruff is installed."""
    if find_spec("ruff") is None:
        return
    paths = list(map(str, files))
    for command in (["check", "--quiet", "--fix-only", "--extend-select=I"], ["format", "--quiet"]):
        subprocess.run([sys.executable, "-m", "ruff", *command, *paths], cwd=root, check=True)  # noqa: S603 - our own files
