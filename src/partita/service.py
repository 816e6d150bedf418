"""Services: what `partita serve` runs, found through the entry-point group `partita.services`.

A package adds a service of its own with one line in its `pyproject.toml`:

    [project.entry-points."partita.services"]
    todo = "partita_services.todo.bootstrap:SERVICE"
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from msgspec import Struct

from partita._patterns import Pattern
from partita._table import Table
from partita.errors import PartitaError
from partita.operations._operation import Operation, Procedure

if TYPE_CHECKING:
    from fastapi import APIRouter

GROUP: Final = "partita.services"

Seed: TypeAlias = Callable[[float], Sequence[Operation[Any] | Procedure[Any]]]
"""Gives the steps that write sample data, for the time that it is. A step that meets its own item is done already."""


class UnknownService(PartitaError):
    """No installed package declares a service of that name."""

    code = "unknown_service"


class Service(Struct, frozen=True):
    """All that is needed to run a service. Only declarations; nothing is opened or built before it is served."""

    name: str
    """Its path (`/todo`) and its name on the command line."""
    title: str
    summary: str
    tables: tuple[Table, ...]
    router: Callable[[], APIRouter]
    """Gives the routes of its API, which is served under `/<name>/api`."""
    seed: Seed | None = None

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """The declared access patterns of all its tables, in order."""
        return tuple(pattern for table in self.tables for pattern in table.patterns.values())


def discover() -> tuple[Service, ...]:
    """The services of all installed packages, by name."""
    found: list[Service] = [entry.load() for entry in entry_points(group=GROUP)]
    return tuple(sorted(found, key=lambda service: service.name))


def choose(services: Sequence[Service], names: Iterable[str]) -> tuple[Service, ...]:
    """The services of those names, in that order; all of them where no name is given.

    Raises:
        UnknownService: there is none of such a name.
    """
    known = {service.name: service for service in services}
    for name in (wanted := tuple(names)):
        if name not in known:
            raise UnknownService(f"There is no service {name!r}.", hint=f"There is: {', '.join(known) or 'none'}.")
    return tuple(known[name] for name in wanted) or tuple(services)
