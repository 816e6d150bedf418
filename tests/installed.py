"""Fake installed packages with services, for tests."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from partita import service
from partita.cli import _main, _program
from partita.model import REGISTRY
from partita.service import GROUP

SERVICE = """
from partita import Table
from partita.service import Service
SERVICE = Service("{name}", "{name}", "", (Table("{table}"),))
"""

Install = Callable[..., None]


def installing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Yield a function that writes modules, each with a service, and make them the only installed services."""
    tables = set(REGISTRY)
    monkeypatch.syspath_prepend(folder)
    found: list[EntryPoint] = []

    def entries(group: str, name: str | None = None) -> list[EntryPoint]:
        return [entry for entry in found if entry.group == group and name in (None, entry.name)]

    def install(**sources: str) -> None:
        for name, source in sources.items():
            (folder / f"disc_{name}.py").write_text(source, encoding="utf-8")
            found.append(EntryPoint(name, f"disc_{name}:SERVICE", GROUP))

    def names() -> list[str]:
        return sorted(entry.name for entry in found)

    monkeypatch.setattr(service, "entry_points", entries)
    monkeypatch.setattr(_program, "service_names", names)
    monkeypatch.setattr(_main, "service_names", names)
    service._load.cache_clear()
    yield install
    service._load.cache_clear()
    for module in [each for each in sys.modules if each.startswith("disc_")]:
        del sys.modules[module]
    for table in set(REGISTRY) - tables:
        REGISTRY.remove(table)
