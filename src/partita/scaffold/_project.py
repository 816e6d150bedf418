"""The project that is added to: where its code is, and which services it has."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from partita.service import GROUP

_HEADER: Final = f'[project.entry-points."{GROUP}"]'


class Project(Struct, frozen=True):
    """A project with a `pyproject.toml`, and the package that its services are in."""

    root: Path
    source: Path
    """The folder that the package is in: `src`, or the root itself."""
    package: str

    @classmethod
    def find(cls, start: Path, package: str | None = None) -> Project:
        """The project of a folder.

        Args:
            start: a folder of the project.
            package: the package to add to; by default that of its services, or the one named like the project.

        Raises:
            ValueError: there is no project, or no such package in it.
        """
        root = next((folder for folder in (start, *start.parents) if (folder / "pyproject.toml").is_file()), None)
        if root is None:
            raise ValueError(f"There is no pyproject.toml in {start} or above it. Start in the folder of your project.")
        wanted = package or _usual_package(_declared(root))
        for source in (root / "src", root):
            if (source / wanted.replace(".", "/") / "__init__.py").is_file():
                return cls(root, source, wanted)
        raise ValueError(f"There is no package {wanted!r} in {root}. Name one with --package.")

    def folder(self, service: str | None = None) -> Path:
        """Where the code of a service is, or that of the package."""
        folder = self.source / self.package.replace(".", "/")
        return folder if service is None else folder / service

    def tests(self, service: str | None = None) -> Path:
        """Where the tests of a service are, or those of the package."""
        return self.root / "tests" if service is None else self.root / "tests" / "services" / service

    def module(self, *parts: str | None) -> str:
        """The full name of a module of the package."""
        return ".".join((self.package, *filter(None, parts)))

    @property
    def imports_tests_by_path(self) -> bool:
        """Whether two test files may have one name."""
        options: Any = _declared(self.root).get("tool", {}).get("pytest", {}).get("ini_options", {}).get("addopts", "")
        return "--import-mode=importlib" in options

    def declares(self, service: str) -> bool:
        """Whether there is an entry point for the service."""
        return service in _entry_points(_declared(self.root))

    def declare(self, service: str) -> None:
        """Add the entry point of a service, in the order of names."""
        path = self.root / "pyproject.toml"
        text = path.read_text(encoding="utf-8")
        line = f'{service} = "{self.module(service, "bootstrap")}:SERVICE"'
        if _HEADER not in text:
            path.write_text(f"{text.rstrip()}\n\n{_HEADER}\n{line}\n", encoding="utf-8")
            return
        before, after = text.split(f"{_HEADER}\n", 1)
        entries = re.match(r"(?:[\w-]+ *=.*\n)*", after)
        assert entries is not None  # noqa: S101 - it matches nothing at all, too
        lines = sorted([*entries[0].splitlines(), line])
        path.write_text(f"{before}{_HEADER}\n" + "\n".join(lines) + "\n" + after[entries.end() :], encoding="utf-8")


def _declared(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


def _entry_points(declared: dict[str, Any]) -> dict[str, str]:
    found: dict[str, str] = declared.get("project", {}).get("entry-points", {}).get(GROUP, {})
    return found


def _usual_package(declared: dict[str, Any]) -> str:
    for target in _entry_points(declared).values():
        return target.partition(":")[0].rsplit(".", 2)[0]
    name: str = declared.get("project", {}).get("name", "")
    return re.sub(r"[-.]+", "_", name).lower()
