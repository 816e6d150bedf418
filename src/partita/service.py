"""Services: what `partita serve` runs, found through the entry-point group `partita.services`.

A package adds a service of its own with one line in its `pyproject.toml`:

    [project.entry-points."partita.services"]
    todo = "partita_services.todo.bootstrap:SERVICE"
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from msgspec import Struct

from partita.model import Budget, Table
from partita.operations import Operation, Procedure
from partita.patterns import Pattern

if TYPE_CHECKING:
    import threading

    import click
    from fastapi import APIRouter
    from starlette.types import ASGIApp

    from partita import Session
    from partita.change import Consumer, SqliteProjection
    from partita.queue import Queue, QueuePolicy

GROUP: Final = "partita.services"

Role: TypeAlias = Literal["request", "worker", "nobody"]
"""Who uses a pattern: who answers requests, who works in the background, or nobody in this service."""

Seed: TypeAlias = Callable[[float], Sequence[Operation[Any] | Procedure[Any]]]
"""Gives the steps that write sample data, for the time that it is. A step that meets its own item is done already."""


class Projection(Struct, frozen=True):
    """What a service keeps up from the changes of one of its tables."""

    table: Table
    open: Callable[[Path], SqliteProjection]
    """Opens its file at a path."""


class Projected(Struct, frozen=True):
    """An open projection, and the consumer that keeps it up."""

    sink: Any
    consumer: Consumer


class Place(Struct, frozen=True):
    """Where a service runs: what it may use of the installation besides the store."""

    folder: Path
    """For files of its own."""
    secret: Callable[[str], bytes]
    """Gives the installation's secret for one purpose, which is always the same."""
    open_queue: Callable[[str, QueuePolicy], Queue]
    """Opens the queue of a name."""
    url: str | None = None
    """The address that it is served at; None where it is not served, as in a worker of its own."""


class Work(Struct, frozen=True):
    """What a worker of a service gets."""

    session: Session
    resources: Any
    """What the service has opened (`Service.resources`)."""
    name: str
    """Tells this worker from all others."""
    stop: threading.Event


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
    examples: Callable[[float], Sequence[Operation[Any]]] | None = None
    """Gives operations on the sample data, to measure access patterns with that need more than a sample's fields."""
    pages: Path | None = None
    """The folder of its pages, which are served under `/<name>/`."""
    projection: Projection | None = None
    command: Callable[[], click.Group] | None = None
    """Gives commands of its own, which run as `partita <name> …`."""
    site: Callable[[], APIRouter] | None = None
    """Gives routes beside its API, such as `/<name>/auth/login`."""
    resources: Callable[[Place], AbstractContextManager[Any]] | None = None
    """Opens what its routes and workers share, such as a queue; routes take it with `Resources`."""
    apps: Callable[[Place], Mapping[str, ASGIApp]] | None = None
    """Gives whole apps that are served beside it, by their path."""
    worker: Callable[[Work], None] | None = None
    """Works in the background until it is to stop, and then finishes what it has begun: `partita worker <name>`."""
    roles: Mapping[Role, Sequence[Callable[..., Operation[Any]] | str]] = {}
    """What each role uses: functions of declared patterns, and names of what recipes send by themselves.

    What is listed belongs to the roles that list it, and everything else to the request path."""
    caller: tuple[str, ...] = ()
    """The fields that hold the identifier of who is calling. A partition key that has one is the caller's own."""
    queues: Mapping[str, QueuePolicy] = {}
    """The queues that its request path sends to and its workers receive from, by their names."""

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """The declared access patterns of all its tables, in order."""
        return tuple(pattern for table in self.tables for pattern in table.patterns.values())


def discover() -> tuple[Service, ...]:
    """The services of all installed packages, by name."""
    found: list[Service] = [entry.load() for entry in entry_points(group=GROUP)]
    return tuple(sorted(found, key=lambda service: service.name))


class PatternSummary(Struct, frozen=True):
    """What a reader wants to know of an access pattern, on a page or in a listing."""

    name: str
    kind: str
    index: str | None
    """The index that serves it; None for the table itself and for writes."""
    served_by: str
    """The same for people: an index, the table, or a dash."""
    parameters: dict[str, str]
    budget: Budget | None
    doc: str


def summary_of(pattern: Pattern) -> PatternSummary:
    """The summary of a declared access pattern."""
    parameters = pattern.signature.parameters.values()
    types = {parameter.name: inspect.formatannotation(parameter.annotation).strip("'") for parameter in parameters}
    served_by = "-" if pattern.key is None else pattern.index or "table"
    return PatternSummary(pattern.name, pattern.kind, pattern.index, served_by, types, pattern.budget, pattern.doc)
