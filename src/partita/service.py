"""Services, which `partita serve` runs and which are found through the entry-point group `partita.services`.

A package adds a service with one line in its `pyproject.toml`:

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
else:  # for `help()`, which evaluates annotations: declaring a service does not load what serves it
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
"""The files of the import machinery, in which no error of a service originates."""

R = TypeVar("R", default=Any)
"""The type that a service opens for its routes and workers; any type if it is not given."""
P = TypeVar("P", bound="SqliteProjection", default="SqliteProjection")

PatternRole: TypeAlias = Literal["request", "worker", "nobody"]
"""Whether a pattern is used by the routes, by the workers, or by nobody in this service."""

Seed: TypeAlias = Callable[[float], Sequence[Operation[Any] | Procedure[Any]]]
"""Returns the writes of sample data, for the current time. A write that raises `AlreadyExists` was done before."""


class Projection(Struct, frozen=True):
    """A projection that a service keeps up to date from the changes of one of its tables."""

    table: Table
    open: Callable[[Path], SqliteProjection]
    """Opens the projection's file at a path."""


class OpenProjection(Struct, Generic[P], frozen=True):
    """An open projection, and the consumer that reads the changes into it."""

    sink: P
    consumer: Consumer


class Installation(Struct, frozen=True):
    """The installation of a service: what it can use besides the store."""

    folder: Path
    """A folder for the service's own files."""
    secret: Callable[[str], bytes]
    """Returns the secret of this installation for a purpose; it is always the same for one purpose."""
    open_queue: Callable[[str, QueuePolicy], Queue]
    """Opens the queue with a name."""
    url: str | None = None
    """The address of the socket that serves it; None if it is not served, as in a separate worker process."""

    @property
    def is_loopback(self) -> bool | None:
        """Whether that socket is reachable only from this machine, regardless of the request; None if not served."""
        return None if self.url is None else is_loopback(urlsplit(self.url).hostname or "")


class WorkerContext(Struct, Generic[R], frozen=True):
    """The context in which a worker of a service runs."""

    session: Session
    resources: R
    """The resources that the service has opened (`Service.resources`)."""
    name: str
    """Unique to this worker."""
    stop: Event


class Service(Struct, Generic[R], frozen=True):
    """The declaration of a service. Nothing is opened or built until it is served.

    `Service[Tools]` opens `Tools`: its workers get a `WorkerContext[Tools]`, its routes accept `Resources[Tools]`.
    """

    name: str
    """The service's path (`/todo`) and its name on the command line."""
    title: str
    summary: str
    tables: tuple[Table, ...]
    router: Callable[[], APIRouter] | None = None
    """Returns the routes of its API, which is served under `/<name>/api`; None if it has no API."""
    seed: Seed | None = None
    examples: Callable[[float], Sequence[Operation[Any]]] | None = None
    """Returns operations on the sample data, for measuring access patterns that need more than a sample's fields."""
    pages: Path | None = None
    """The folder with its pages, which are served under `/<name>/`."""
    projection: Projection | None = None
    command: Callable[[], Group] | None = None
    """Returns its own commands, which run as `partita <name> …`."""
    site: Callable[[], APIRouter] | None = None
    """Returns routes outside its API, such as `/<name>/auth/login`."""
    resources: Callable[[Installation], AbstractContextManager[R]] | None = None
    """Opens the resources that its routes and workers use besides the store, such as a queue."""
    apps: Callable[[Installation], Mapping[str, ASGIApp]] | None = None
    """Returns complete apps that are served alongside it, by path."""
    worker: Callable[[WorkerContext[R]], None] | None = None
    """Works in the background until asked to stop, then finishes the work in progress: `partita worker <name>`."""
    roles: Mapping[PatternRole, Sequence[Callable[..., Operation[Any]] | str]] = {}
    """What each role uses: functions of declared patterns, and names of operations that recipes send.

    A pattern belongs to the roles that list it; a pattern that no role lists belongs to the routes."""
    caller: tuple[str, ...] = ()
    """The fields with the identifier of the caller. A partition key with one of these fields belongs to the caller."""
    queues: Mapping[str, QueuePolicy] = {}
    """The queues to which its request path sends and from which its workers receive, by name."""
    worker_queues: tuple[str, ...] = ()
    """The queues that only its workers use, also for sending."""
    encryption_key: str | None = None
    """The identifier of the KMS key that wraps the data keys of encrypted fields, if they are kept in KMS."""
    rate_limit: RateLimits[Any] | None = None
    """How many requests each caller may send; unlimited by default."""
    personal: PersonalData | None = None
    """Which data it keeps about each user, and how it is erased: `partita personal`, and lakes of its tables."""
    preload: tuple[str, ...] = ()
    """Modules that its resources, apps, projection and worker load when they are opened. The processes of a server
    share the memory of the modules listed here. Loading them must not start a thread."""

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """The declared access patterns of all its tables, in order."""
        return tuple(pattern for table in self.tables for pattern in table.patterns.values())


class BrokenService(Struct, frozen=True):
    """A service of an installed package that cannot be used."""

    name: str
    """The name of its entry point."""
    reason: str
    """The reason, in one line."""
    missing: str | None = None
    """The package that is not installed, if that is the reason."""

    @classmethod
    def of(cls, name: str, error: BaseException) -> BrokenService:
        """Return a broken service for an error that one of its parts raised."""
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        return cls(name, _reason(error), missing and missing.partition(".")[0])


class InstalledServices(Struct, frozen=True):
    """The services of all installed packages, by name."""

    services: tuple[Service, ...]
    broken: tuple[BrokenService, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all services."""
        return tuple(sorted(self.by_name))

    @property
    def by_name(self) -> dict[str, Service | BrokenService]:
        """All services, including the broken ones."""
        return {each.name: each for each in self.broken} | {each.name: each for each in self.services}


def discover() -> tuple[Service, ...]:
    """Return the services of all installed packages, sorted by name, without those that cannot be loaded."""
    return installed_services().services


def installed_services() -> InstalledServices:
    """Return all services of installed packages. One that cannot be loaded does not affect the others."""
    entries = sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))
    loaded = [(entry, _load(entry)) for entry in dict.fromkeys(entries)]
    found: dict[str, dict[int, tuple[EntryPoint, Service]]] = {}
    for entry, each in loaded:
        if isinstance(each, Service):
            found.setdefault(each.name, {})[id(each)] = (entry, each)  # the same service twice counts once
    services = [same for by_id in found.values() if len(by_id) == 1 for _, same in by_id.values()]
    twins = [_twins(name, [entry for entry, _ in by_id.values()]) for name, by_id in found.items() if len(by_id) > 1]
    broken = [*(each for _, each in loaded if isinstance(each, BrokenService)), *twins]
    return InstalledServices(tuple(sorted(services, key=_by_name)), tuple(sorted(broken, key=_by_name)))


def find_service(name: str) -> Service | BrokenService | None:
    """Return the installed service with a name; no other is loaded if one entry point has that name."""
    entries = set(entry_points(group=GROUP, name=name))
    if len(entries) == 1:
        found = _load(entries.pop())
        if found.name == name:
            return found
    return installed_services().by_name.get(name)


@cache  # a module whose import failed part-way would fail for another reason the second time
def _load(entry: EntryPoint) -> Service | BrokenService:
    """Import the object that an entry point refers to, whatever the import raises."""
    before = set(REGISTRY)
    try:
        loaded = entry.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a third-party package may raise anything
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
    """Return what failed, and where."""
    text = " ".join(str(error).split()).rstrip(".")
    kind = "" if isinstance(error, ImportError | PartitaError) else f"{type(error).__name__}: "
    return f"{kind}{text}{_place(error)}."


def _place(error: BaseException) -> str:
    """Return the place of the last line that ran in the service's own package, to which the first line belongs."""
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
    """An access pattern, for display on a page or in a listing."""

    name: str
    kind: str
    index: str | None
    """The index that serves the pattern; None for the table itself and for writes."""
    served_by: str
    """What serves the pattern, as text: an index, the table, or a dash."""
    parameters: dict[str, str]
    budget: Budget | None
    doc: str


def summary_of(pattern: Pattern) -> PatternSummary:
    """Return the summary of a declared access pattern."""
    parameters = pattern.signature.parameters.values()
    types = {parameter.name: inspect.formatannotation(parameter.annotation).strip("'") for parameter in parameters}
    served_by = pattern.index or ("-" if pattern.key is None else "table")
    return PatternSummary(pattern.name, pattern.kind, pattern.index, served_by, types, pattern.budget, pattern.doc)
