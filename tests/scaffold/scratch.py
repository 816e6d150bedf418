"""Projects for the tests of scaffolding, and running commands in them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from contextlib import chdir
from importlib.metadata import entry_points
from pathlib import Path

from click.testing import CliRunner
from msgspec import Struct

from partita.cli import main
from partita.service import GROUP

ROOT = Path(__file__).parents[2]


class Scratch(Struct, frozen=True):
    """A project in a separate folder, whose code takes precedence over that of this repository."""

    root: Path
    source: Path

    def new(self, arguments: str) -> str:
        """Run `partita new` in the project, and return its output."""
        with chdir(self.root):
            said = CliRunner().invoke(main, ["new", *arguments.split()], prog_name="partita")
        assert said.exit_code == 0, said.output
        return said.output

    def run(self, *command: str, fails: bool = False) -> str:
        """Run a program of the environment in the project, in a separate process, and return its output."""
        program = ["-c", "from partita.cli import main; main()"] if command[0] == "partita" else ["-m", command[0]]
        path = os.pathsep.join(filter(None, (str(self.source), os.environ.get("PYTHONPATH"))))
        said = subprocess.run(
            [sys.executable, *program, *command[1:]],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert (said.returncode != 0) is fails, said.stdout
        return said.stdout

    def install(self) -> None:
        """Register the entry points of the services, as an installation does."""
        declared = tomllib.loads((self.source.parent / "pyproject.toml").read_text(encoding="utf-8"))
        services: Mapping[str, str] = declared["project"]["entry-points"][GROUP]
        known = {entry.name for entry in entry_points(group=GROUP)}
        lines = [f"{name} = {target}" for name, target in services.items() if name not in known]
        folder = self.source / "scratch-0.dist-info"
        folder.mkdir(exist_ok=True)
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: scratch\nVersion: 0\n", encoding="utf-8")
        (folder / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *lines, ""]), encoding="utf-8")


def copy_of_this_repository(folder: Path) -> Scratch:
    """Copy the services, tests and settings of this repository; the library itself is the installed one.

    The files that the guide's example creates are skipped, in case somebody has followed the guide here.
    """
    skip = shutil.ignore_patterns("guest_books", "visitor.*", "*.pyc.*")  # the last are being written by Python
    for part in ("services", "tests", "schema"):
        shutil.copytree(ROOT / part, folder / part, ignore=skip)  # with bytecode, valid as times are kept
    shutil.copy(ROOT / "AGENTS.md", folder)
    shutil.copy(ROOT / "pyproject.toml", folder)
    settings = (ROOT / "services" / "pyproject.toml").read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in settings if not line.startswith("guest_books =")]
    (folder / "services" / "pyproject.toml").write_text("".join(kept), encoding="utf-8")
    return Scratch(folder, folder / "services" / "src")


def a_project_of_its_own(folder: Path, name: str = "corner-shop", source: str = "src") -> Scratch:
    """Create a user's project with an empty package."""
    package = folder / source / name.replace("-", "_")
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('"""A shop."""\n', encoding="utf-8")
    (package / "py.typed").touch()
    settings = f'[project]\nname = "{name}"\nversion = "1.0"\n\n[tool.mypy]\nstrict = true\n'
    (folder / "pyproject.toml").write_text(settings, encoding="utf-8")
    return Scratch(folder, folder / source)
