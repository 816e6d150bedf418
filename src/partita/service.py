"""Services: what `partita serve` runs, found through the entry-point group `partita.services`.

A package adds a service of its own with one line in its `pyproject.toml`:

    [project.entry-points."partita.services"]
    todo = "partita_services.todo.bootstrap:SERVICE"
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from traceback import walk_tb
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct
from typing_extensions import TypeVar

from partita.errors import PartitaError
from partita.model import REGISTRY, Budget, Table
from partita.operations import Operation, Procedure
from partita.patterns import Pattern
from partita.recipes.personal import PersonalData
from partita.recipes.rate_limit import RateLimits
from partita.runtime import is_loopback

if TYPE_CHECKING:
    from threading import Event

    from click import Group
    from fastapi import APIRouter
    from starlette.types import ASGIApp

    from partita import Session
    from partita.change import Consumer, SqliteProjection
    from partita.queue import Queue, QueuePolicy
else:  # for `help()`, which evaluates annotations: a service is declared without what serves it
    APIRouter = ASGIApp = Consumer = Event = Group = Queue = QueuePolicy = Session = SqliteProjection = Any

__all__ = [
    "GROUP",
    "BrokenService",
    "Installation",
    "InstalledServices",
    "OpenProjection",
    "PatternRole",
    "PatternSummary",
    "Projection",
    "Seed",
    "Service",
    "WorkerContext",
    "discover",
    "find_service",
    "installed_services",
    "summary_of",
]

GROUP: Final = "partita.services"
"""The entry-point group in which packages name their services."""
_IMPORTERS: Final = ("<frozen importlib", str(Path(importlib.__file__).parent), __file__)
"""The files of what imports others, where no error of a service is."""

R = TypeVar("R", default=Any)
"""What a service opens for its routes and workers; any type where it is not named."""
P = TypeVar("P", bound="SqliteProjection", default="SqliteProjection")

PatternRole: TypeAlias = Literal["request", "worker", "nobody"]
"""Who uses a pattern: the routes, the workers, or nobody in this service."""

Seed: TypeAlias = Callable[[float], Sequence[Operation[Any] | Procedure[Any]]]
"""Gives the writes of sample data, for the current time. One that raises `AlreadyExists` was done before."""


class Projection(Struct, frozen=True):
    """What a service keeps up to date from the changes of one of its tables."""

    table: Table
    open: Callable[[Path], SqliteProjection]
    """Opens its file at a path."""


class OpenProjection(Struct, Generic[P], frozen=True):
    """An open projection, and the consumer that reads the changes into it."""

    sink: P
    consumer: Consumer


class Installation(Struct, frozen=True):
    """Where a service is installed: what it may use besides the store."""

    folder: Path
    """For files of its own."""
    secret: Callable[[str], bytes]
    """Gives the secret of this installation for one purpose, which is always the same."""
    open_queue: Callable[[str, QueuePolicy], Queue]
    """Opens the queue of a name."""
    url: str | None = None
    """The address of the socket that it is served at; None where it is not served, as in a worker of its own."""

    @property
    def is_loopback(self) -> bool | None:
        """Whether that socket is of this machine alone, whatever a request says; None where it is not served."""
        return None if self.url is None else is_loopback(urlsplit(self.url).hostname or "")


class WorkerContext(Struct, Generic[R], frozen=True):
    """What a worker of a service runs with."""

    session: Session
    resources: R
    """What the service has opened (`Service.resources`)."""
    name: str
    """Unique to this worker."""
    stop: Event


class Service(Struct, Generic[R], frozen=True):
    """The declaration of a service. Nothing is opened or built before it is served.

    `Service[Tools]` opens `Tools`: its workers get a `WorkerContext[Tools]`, its routes take `Resources[Tools]`.
    """

    name: str
    """Its path (`/todo`) and its name on the command line."""
    title: str
    summary: str
    tables: tuple[Table, ...]
    router: Callable[[], APIRouter] | None = None
    """Gives the routes of its API, which is served under `/<name>/api`; None where it has none."""
    seed: Seed | None = None
    examples: Callable[[float], Sequence[Operation[Any]]] | None = None
    """Gives operations on the sample data, to measure access patterns with that need more than a sample's fields."""
    pages: Path | None = None
    """The folder of its pages, which are served under `/<name>/`."""
    projection: Projection | None = None
    command: Callable[[], Group] | None = None
    """Gives commands of its own, which run as `partita <name> …`."""
    site: Callable[[], APIRouter] | None = None
    """Gives routes beside its API, such as `/<name>/auth/login`."""
    resources: Callable[[Installation], AbstractContextManager[R]] | None = None
    """Opens what its routes and workers use besides the store, such as a queue."""
    apps: Callable[[Installation], Mapping[str, ASGIApp]] | None = None
    """Gives whole apps that are served beside it, by their path."""
    worker: Callable[[WorkerContext[R]], None] | None = None
    """Works in the background until it must stop, and then finishes what it has begun: `partita worker <name>`."""
    roles: Mapping[PatternRole, Sequence[Callable[..., Operation[Any]] | str]] = {}
    """What each role uses: functions of declared patterns, and names of what recipes send by themselves.

    A pattern belongs to the roles that list it; one that no role lists belongs to the routes."""
    caller: tuple[str, ...] = ()
    """The fields that hold the identifier of the caller. A partition key with one of them is the caller's own."""
    queues: Mapping[str, QueuePolicy] = {}
    """The queues that its request path sends to and its workers receive from, by their names."""
    worker_queues: tuple[str, ...] = ()
    """Those of them that only its workers use, for sending too."""
    encryption_key: str | None = None
    """The identifier of the KMS key that wraps the data keys of encrypted fields, where that is KMS."""
    rate_limit: RateLimits[Any] | None = None
    """How many requests each caller may send; any number unless said otherwise."""
    personal: PersonalData | None = None
    """What it keeps of each user, and how that is erased: `partita personal`, and lakes that follow its tables."""
    preload: tuple[str, ...] = ()
    """Modules that its resources, apps, projection and worker load when they are opened. The processes of a server
    share the memory of those that are named here. Loading them must not start a thread."""

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """The declared access patterns of all its tables, in order."""
        return tuple(pattern for table in self.tables for pattern in table.patterns.values())


class BrokenService(Struct, frozen=True):
    """A service of an installed package that cannot be used."""

    name: str
    """As its entry point names it."""
    reason: str
    """What is wrong, in one line."""
    missing: str | None = None
    """The package that is not installed, where that is the reason."""

    @classmethod
    def of(cls, name: str, error: BaseException) -> BrokenService:
        """A service of which a part has failed."""
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        return cls(name, _reason(error), missing and missing.partition(".")[0])


class InstalledServices(Struct, frozen=True):
    """The services of all installed packages, by name."""

    services: tuple[Service, ...]
    broken: tuple[BrokenService, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all of them."""
        return tuple(sorted(self.by_name))

    @property
    def by_name(self) -> dict[str, Service | BrokenService]:
        """All of them."""
        return {each.name: each for each in self.broken} | {each.name: each for each in self.services}


def discover() -> tuple[Service, ...]:
    """The services of all installed packages, by name, without those that cannot be loaded."""
    return installed_services().services


def installed_services() -> InstalledServices:
    """All services of installed packages. One that cannot be loaded takes no other with it."""
    entries = sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))
    loaded = [(entry, _load(entry)) for entry in dict.fromkeys(entries)]
    found: dict[str, dict[int, tuple[EntryPoint, Service]]] = {}
    for entry, each in loaded:
        if isinstance(each, Service):
            found.setdefault(each.name, {})[id(each)] = (entry, each)  # twice the same is one
    services = [same for by_id in found.values() if len(by_id) == 1 for _, same in by_id.values()]
    twins = [_twins(name, [entry for entry, _ in by_id.values()]) for name, by_id in found.items() if len(by_id) > 1]
    broken = [*(each for _, each in loaded if isinstance(each, BrokenService)), *twins]
    return InstalledServices(tuple(sorted(services, key=_by_name)), tuple(sorted(broken, key=_by_name)))


def find_service(name: str) -> Service | BrokenService | None:
    """The installed service of a name; no other is loaded where an entry point has that name."""
    entries = set(entry_points(group=GROUP, name=name))
    if len(entries) == 1:
        found = _load(entries.pop())
        if found.name == name:
            return found
    return installed_services().by_name.get(name)


@cache  # a module that failed half-way would fail for another reason the second time
def _load(entry: EntryPoint) -> Service | BrokenService:
    """Import what an entry point names, whatever that does."""
    before = set(REGISTRY)
    try:
        loaded = entry.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a package of somebody else's may raise anything
        for table in set(REGISTRY) - before:
            if table.module not in sys.modules:  # another service may import the same module
                REGISTRY.remove(table)
        return BrokenService.of(entry.name, error)
    if isinstance(loaded, Service):
        return loaded
    return BrokenService(entry.name, f"{entry.value} is not a Service, but of type {type(loaded).__name__}.")


def _twins(name: str, entries: Sequence[EntryPoint]) -> BrokenService:
    return BrokenService(name, f"Several services have this name: {' and '.join(entry.value for entry in entries)}.")


def _by_name(each: Service | BrokenService) -> str:
    return each.name


def _reason(error: BaseException) -> str:
    """What failed, and where."""
    text = " ".join(str(error).split()).rstrip(".")
    kind = "" if isinstance(error, ImportError | PartitaError) else f"{type(error).__name__}: "
    return f"{kind}{text}{_place(error)}."


def _place(error: BaseException) -> str:
    """The last line of the service's own package that ran, not one of what it called: the first line is in it."""
    ran = [
        (frame.f_globals.get("__name__", ""), frame.f_code.co_filename, line)
        for frame, line in walk_tb(error.__traceback__)
    ]
    own = [each for each in ran if not each[1].startswith(_IMPORTERS)]
    if not own:
        return ""
    package = own[0][0].partition(".")[0]
    *_, (_, file, line) = (each for each in own if each[0].partition(".")[0] == package)
    return f" ({file}, line {line})"


class PatternSummary(Struct, frozen=True):
    """An access pattern as a page or a listing shows it."""

    name: str
    kind: str
    index: str | None
    """The index that serves it; None for the table itself and for writes."""
    served_by: str
    """The same as text: an index, the table, or a dash."""
    parameters: dict[str, str]
    budget: Budget | None
    doc: str


def summary_of(pattern: Pattern) -> PatternSummary:
    """The summary of a declared access pattern."""
    parameters = pattern.signature.parameters.values()
    types = {parameter.name: inspect.formatannotation(parameter.annotation).strip("'") for parameter in parameters}
    served_by = pattern.index or ("-" if pattern.key is None else "table")
    return PatternSummary(pattern.name, pattern.kind, pattern.index, served_by, types, pattern.budget, pattern.doc)
