"""Writing new files: all or none, and never over an existing one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from msgspec import Struct

from partita.scaffold._project import Project

_SNAPSHOT: Final = """\
import importlib, pathlib, sys
from partita.recipes.versioned import accept_schema
module, name = sys.argv[1].split(":")
print(*accept_schema(getattr(importlib.import_module(module), name), pathlib.Path(sys.argv[2])), sep="\\n")
"""


class Scaffold(Struct, frozen=True):
    """New files of a project that are not written yet."""

    project: Project
    files: Mapping[Path, str]
    table: str
    """The name of the table that they declare."""
    declares: str | None = None
    """The service whose entry point must be added."""
    snapshot: str | None = None
    """The versioned table whose schema snapshot must be written, as `module:NAME`."""

    def write(self) -> list[Path]:
        """Write the files, and return their paths relative to the root of the project.

        Raises:
            ValueError: one of them already exists or cannot be created; then none is written.
        """
        self._refuse_what_is_there()
        settings = self.project.declaring(self.declares) if self.declares else None
        with _all_or_none(self.files.keys()):
            for path, text in self.files.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            _format(self.files, self.project.root)
            snapshots = self._take_snapshot(self.snapshot) if self.snapshot else []
            if settings is not None:
                self.project.settings.write_text(settings, encoding="utf-8")
        return [*map(self._short, self.files), *snapshots]

    def _refuse_what_is_there(self) -> None:
        if there := [self._short(each) for path in self.files for each in (path, _namesake(path)) if each.exists()]:
            raise ValueError(f"Nothing was written, because these already exist: {', '.join(map(str, there))}.")
        if module := self.project.module_with_table(self.table):
            where = f"{self._short(module)} already has a table {self.table!r}"
            raise ValueError(f"Nothing was written: {where}. Choose another name.")

    def _short(self, path: Path) -> Path:
        return path.relative_to(self.project.root)

    def _take_snapshot(self, table: str) -> list[Path]:
        """Write the schema snapshot in a separate process, because this one cannot import the new module again."""
        path = os.pathsep.join(filter(None, (str(self.project.source), os.environ.get("PYTHONPATH"))))
        command = ["-c", _SNAPSHOT, table, str(self.project.snapshots)]
        said = _run("its schema", command, self.project.root, {"PYTHONPATH": path})
        return [Path(line) for line in said.splitlines()]


def _namesake(path: Path) -> Path:
    """The path with the same import name: the module for a package, or the package for a module."""
    return path.parent.with_suffix(".py") if path.name == "__init__.py" else path.with_suffix("")


@contextmanager
def _all_or_none(paths: Collection[Path]) -> Iterator[None]:
    """If the block fails, remove the new files and the folders that were created for them."""
    folders = {folder for path in paths for folder in path.parents if not folder.exists()}
    try:
        yield
    except BaseException:
        for path in paths:
            with suppress(OSError):  # it may not have been created
                path.unlink()
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
        raise


def _format(files: Iterable[Path], root: Path) -> None:
    """Sort imports and format according to the project's settings, if ruff is installed."""
    if find_spec("ruff") is None:
        return
    paths = list(map(str, files))
    for command in (["check", "--quiet", "--fix-only", "--extend-select=I"], ["format", "--quiet"]):
        _run("ruff", ["-m", "ruff", *command, *paths], root)


def _run(what: str, command: Sequence[str], root: Path, environment: Mapping[str, str] | None = None) -> str:
    """Run Python in the project, and return its output.

    Raises:
        ValueError: the process failed.
    """
    said = subprocess.run(  # noqa: S603 - our own program, on our own files
        [sys.executable, *command],
        cwd=root,
        env={**os.environ, **(environment or {})},
        check=False,
        capture_output=True,
        text=True,
    )
    if said.returncode != 0:
        raise ValueError(f"Nothing was written, because {what} failed: {_last_words(said.stderr)}")
    return said.stdout


def _last_words(text: str) -> str:
    """The error of a program in one line: its last line that is not indented, and the indented lines after it."""
    lines = text.strip().splitlines()
    starts = [number for number, line in enumerate(lines) if line and not line[0].isspace()]
    return " ".join(line.strip() for line in lines[starts[-1] :]) if starts else "no reason was given"
