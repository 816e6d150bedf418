"""The project to add to: the location of its code, and its services."""

from __future__ import annotations

import re
import tomllib
from bisect import insort
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from partita.recipes.versioned import SNAPSHOT_FOLDER, SNAPSHOT_FOLDER_IN_TESTS
from partita.service import GROUP

_HEADER: Final = f'[project.entry-points."{GROUP}"]'
_ENTRIES: Final = re.compile(
    rf"""^[ \t]*\[\s*project\s*\.\s*entry-points\s*\.\s*(["']){re.escape(GROUP)}\1\s*\][ \t]*(?:\#.*)?\n"""
    r"(?P<entries>(?:[\w-]+ *=.*\n)*)",
    re.MULTILINE,
)
"""The header in any valid notation, and the lines below it."""


class Project(Struct, frozen=True):
    """A project with a `pyproject.toml`, and the package of its services.

    A repository whose services are a separate distribution names the folder of that distribution:

        [tool.partita]
        services = "services"
    """

    root: Path
    home: Path
    """The folder whose `pyproject.toml` declares the services: the root, unless the root names another folder."""
    source: Path
    """The folder of the package: `src`, or the home itself."""
    package: str

    @classmethod
    def find(cls, start: Path, package: str | None = None) -> Project:
        """Find the project of a folder.

        Args:
            start: a folder in the project.
            package: the package to add to; by default that of its services, or the one with the name of the project.

        Raises:
            ValueError: there is no project, or no such package in it.
        """
        root = next((folder for folder in (start, *start.parents) if (folder / "pyproject.toml").is_file()), None)
        if root is None:
            raise ValueError(f"There is no pyproject.toml in {start} or above it. Run this in your project's folder.")
        home = root / _declared(root).get("tool", {}).get("partita", {}).get("services", ".")
        wanted = package or _usual_package(_declared(home))
        for source in (home / "src", home):
            if (source / wanted.replace(".", "/") / "__init__.py").is_file():
                return cls(root, home, source, wanted)
        hint = f"Create src/{wanted.replace('.', '/')}/__init__.py, or name another with --package."
        raise ValueError(f"There is no package {wanted!r} in {home}. {hint}")

    def folder(self, service: str | None = None) -> Path:
        """The folder with the code of a service, or of the package."""
        folder = self.source / self.package.replace(".", "/")
        return folder if service is None else folder / service

    def tests(self, service: str | None = None) -> Path:
        """The folder with the tests of a service, or of the package."""
        return self.root / "tests" if service is None else self.root / "tests" / "services" / service

    def module(self, *parts: str | None) -> str:
        """The full name of a module of the package."""
        return ".".join((self.package, *filter(None, parts)))

    @property
    def snapshots(self) -> Path:
        """The folder of schema snapshots, relative to the root of the project."""
        is_flat = self.source == self.root and not (self.root / SNAPSHOT_FOLDER).is_dir()
        return SNAPSHOT_FOLDER_IN_TESTS if is_flat else SNAPSHOT_FOLDER

    @property
    def imports_tests_by_path(self) -> bool:
        """Whether two test files may have the same name."""
        options: Any = _declared(self.root).get("tool", {}).get("pytest", {}).get("ini_options", {}).get("addopts", "")
        return "--import-mode=importlib" in options

    @property
    def settings(self) -> Path:
        """The file that declares the services."""
        return self.home / "pyproject.toml"

    def declaring(self, service: str) -> str:
        """The settings with the entry point of a service added, sorted by name.

        Raises:
            ValueError: another service has this name, or the entry point cannot be added.
        """
        text, target = self.settings.read_text(encoding="utf-8"), f"{self.module(service, 'bootstrap')}:SERVICE"
        there = _entry_points(_declared(self.home)).get(service)
        if there == target:  # the user has already added it by hand
            return text
        if there is not None:
            raise ValueError(f"Nothing was written: pyproject.toml already has a service {service!r}.")
        line = f'{service} = "{target}"'
        added = _with_entry(text, line)
        if not _adds(text, added, service, target):
            where = f"{_HEADER} in pyproject.toml"
            raise ValueError(f"Nothing was written: add `{line}` to {where} yourself, and run this again.")
        return added

    def module_with_table(self, name: str) -> Path | None:
        """The module of the package that declares a table with this name, if there is one."""
        declared = re.compile(rf"""\bTable\(\s*(["']){re.escape(name)}\1""")
        modules = sorted(self.folder().rglob("*.py"))
        return next((each for each in modules if declared.search(each.read_text("utf-8", "replace"))), None)


def _with_entry(text: str, line: str) -> str:
    whole = f"{text.rstrip()}\n"
    found = _ENTRIES.search(whole)
    if found is None:
        return f"{whole}\n{_HEADER}\n{line}\n"
    lines = found["entries"].splitlines()
    insort(lines, line)
    start, end = found.span("entries")
    return whole[:start] + "\n".join([*lines, ""]) + whole[end:]


def _adds(before: str, after: str, service: str, target: str) -> bool:
    """Whether the entry point is the only difference between the settings before and after."""
    expected = tomllib.loads(before)
    expected.setdefault("project", {}).setdefault("entry-points", {}).setdefault(GROUP, {})[service] = target
    try:
        return tomllib.loads(after) == expected
    except tomllib.TOMLDecodeError:
        return False


def _declared(root: Path) -> dict[str, Any]:
    path = root / "pyproject.toml"
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} cannot be read: {error}.") from error


def _entry_points(declared: dict[str, Any]) -> dict[str, str]:
    found: dict[str, str] = declared.get("project", {}).get("entry-points", {}).get(GROUP, {})
    return found


def _usual_package(declared: dict[str, Any]) -> str:
    for target in _entry_points(declared).values():
        return target.partition(":")[0].rsplit(".", 2)[0]
    name: str = declared.get("project", {}).get("name", "")
    return re.sub(r"[-.]+", "_", name).lower()
