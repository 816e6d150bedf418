"""Measuring access patterns: each is run once, with arguments from the sample data, on a store in memory.

The store contains only the sample data: after a pattern that writes, the next one gets a new store.

| parameter | argument |
| --- | --- |
| a field of the entity | its value in the fullest sample; next to an entity, that of the argument for the entity |
| a `Span` of a field | from the smallest to the greatest value of all samples |
| a `Prefix` of a field | the first character of the fullest sample's value |
| `Versioned` data, or its `last_write` | that of the fullest sample |
| the `vector` of a search | that of the fullest sample |
| the `top` of a search | 10 |
| an entity, for a create | the fullest sample, before it is stored |
| an entity, for another write | the fullest sample with all other fields changed, so that every index entry moves |

If the samples have no value for a parameter, the pattern is not measured. If the service's `examples` contain an
operation of the pattern, that operation is measured instead.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from types import UnionType
from typing import Any, Final, Literal, TypeAlias, TypeVar, Union, get_args, get_origin

from msgspec import Struct

from partita.errors import AlreadyExists, OperationError
from partita.model import Budget, Entity, Prefix, Span, schema_of
from partita.operations import Operation, Query, Search, delete
from partita.patterns import Pattern
from partita.recipes.versioned import LAST_WRITE, Versioned
from partita.service import Service
from partita.session import Session
from partita.store import BatchGetItem, GetItem, QueryTable, Request, ScanTable, SearchVectors, TransactGetItems
from partita.store.embedded import EmbeddedStore

R = TypeVar("R")

ASSUMED_TOP: Final = 10
"""The number of matches that a measured search requests."""
_READS: Final = (BatchGetItem, GetItem, QueryTable, ScanTable, SearchVectors, TransactGetItems)
BudgetVerdict: TypeAlias = Literal["within", "over", "no budget", "not measured"]
Make: TypeAlias = Callable[[type[Entity]], Entity]


class Measurement(Struct, frozen=True):
    """The consumption of one run of an access pattern, compared with its budget."""

    pattern: str
    kind: str
    index: str | None
    budget: Budget | None
    measured: Budget | None
    verdict: BudgetVerdict
    requests: tuple[str, ...] = ()
    """The names of the store requests that it sent."""


class _Run(Struct, frozen=True):
    """The result of one run."""

    index: str | None
    consumed: Budget
    requests: tuple[str, ...]


class _NoSample(Exception):
    """The sample data contains no argument for a parameter."""


def measure(service: Service) -> list[Measurement]:
    """Measure every access pattern of a service."""
    patterns = deque(service.patterns)
    measured: list[Measurement] = []
    while patterns:
        with _SampleStore() as store:
            measured += _measured_until_written(service, patterns, store)
    return measured


class _SampleStore(EmbeddedStore):
    """A store in memory that records whether it was sent any request other than reads."""

    def __init__(self) -> None:
        super().__init__(":memory:")
        self.is_written = False

    def execute(self, request: Request[R]) -> R:
        """Execute a request."""
        self.is_written = self.is_written or type(request) not in _READS
        return super().execute(request)


def _measured_until_written(service: Service, patterns: deque[Pattern], store: _SampleStore) -> Iterator[Measurement]:
    """Measure patterns on one store with the sample data, up to the first that writes to it."""
    session = Session(store)
    session.create_tables(service.tables)
    now = time.time()
    samples = _Samples([session.run(operation) for operation in (service.seed(now) if service.seed else ())])
    examples = {example.pattern: example for example in (service.examples(now) if service.examples else ())}
    store.is_written = False
    while patterns and not store.is_written:
        pattern = patterns.popleft()
        yield _measure(pattern, examples.get(pattern), samples, session)


def _measure(pattern: Pattern, example: Operation[Any] | None, samples: _Samples, session: Session) -> Measurement:
    try:
        ran = _consumed(session, example) if example else _run(pattern, samples, session)
    except _NoSample:
        verdict = _verdict(pattern.budget, None)
        return Measurement(pattern.name, pattern.kind, pattern.index, pattern.budget, None, verdict)
    verdict = _verdict(pattern.budget, ran.consumed)
    return Measurement(
        pattern.name, pattern.kind, ran.index, pattern.budget, ran.consumed, verdict, requests=ran.requests
    )


def _verdict(budget: Budget | None, measured: Budget | None) -> BudgetVerdict:
    if measured is None:
        return "not measured"
    if budget is None:
        return "no budget"
    return "within" if budget.covers(measured.read, measured.write, measured.searched) else "over"


def _run(pattern: Pattern, samples: _Samples, session: Session) -> _Run:
    try:
        return _consumed(session, samples.operation(pattern, samples.changed))
    except (OperationError, AlreadyExists):
        # A create refuses an entity that is already stored.
        for kind in samples.kinds:
            session.run(delete(samples.fullest(kind)))
        return _consumed(session, samples.operation(pattern, samples.unsaved))


def _consumed(session: Session, operation: Operation[Any]) -> _Run:
    with session.meter.watch() as seen:
        session.run(operation)
    index = operation.key.index if isinstance(operation, Query) else None
    index = operation.index if isinstance(operation, Search) else index
    consumed = sum((run.consumed for run in seen), Budget())
    return _Run(index, consumed, tuple(request for run in seen for request in run.requests))


def _entity_with(pattern: Pattern, name: str) -> type[Entity]:
    """The entity that has a parameter as a field or derived part: of a collection, any entity that has it."""
    entities = () if pattern.entity is None else (pattern.entity, *(pattern.table.entities if pattern.keys else ()))
    for entity in entities:
        if name in entity.annotations:
            found: type[Entity] = entity.cls
            return found
    raise _NoSample


class _Samples:
    """The stored sample entities, and the arguments built from them."""

    def __init__(self, results: Sequence[Any]) -> None:
        self._versioned = [result for result in results if isinstance(result, Versioned)]
        self._entities = [result for result in results if isinstance(result, Entity)]
        self._entities += [versioned.data for versioned in self._versioned]

    @property
    def kinds(self) -> set[type[Entity]]:
        return {type(entity) for entity in self._entities}

    def fullest(self, kind: type[Entity]) -> Entity:
        return max(self._of(kind), key=lambda entity: len(entity.model_dump(exclude_none=True)))

    def unsaved(self, kind: type[Entity]) -> Entity:
        version = schema_of(kind).version
        return self.fullest(kind).model_copy(update={version: 0} if version else {})

    def changed(self, kind: type[Entity]) -> Entity:
        """The fullest sample, with the differing fields of the sample that differs most."""
        schema, sample = schema_of(kind), self.fullest(kind)
        names = [name for name in kind.model_fields if name != schema.version and name not in schema.primary.inputs]
        differences = [
            {name: value for name in names if (value := getattr(other, name)) not in (None, getattr(sample, name))}
            for other in self._of(kind)
        ]
        return sample.model_copy(update=max(differences, key=len))

    def operation(self, pattern: Pattern, entity: Make) -> Operation[Any]:
        assert pattern.function is not None  # noqa: S101 - every declared pattern has one
        arguments = [self._argument(pattern, name, hint, entity) for name, hint in pattern.hints.items()]
        return pattern.function(*arguments)

    def _argument(self, pattern: Pattern, name: str, hint: Any, entity: Make) -> Any:
        for kind in get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,):
            if isinstance(kind, type) and issubclass(kind, Entity):
                return entity(kind)
        if get_origin(hint) is Versioned:
            return self._stored(get_args(hint)[0]).with_data(entity(get_args(hint)[0]))
        if pattern.entity is not None and name == LAST_WRITE:
            return self._stored(pattern.entity.cls).last_write
        if pattern.kind == "search" and name in ("vector", "top"):
            return ASSUMED_TOP if name == "top" else self._vector(pattern)
        kind = _entity_with(pattern, name)
        values = [v for sample in self._of(kind) if (v := getattr(sample, name)) is not None]
        if get_origin(hint) is Span:
            return Span(min(values), max(values))
        # Next to an entity, a field is often its new value: with that of the changed sample, index entries move.
        has_entity = any(kind in (other, *get_args(other)) for other in pattern.hints.values())
        value = getattr(entity(kind) if has_entity else self.fullest(kind), name)
        if value is None and type(None) not in get_args(hint):
            raise _NoSample
        return Prefix(str(value)[:1]) if get_origin(hint) is Prefix else value

    def _vector(self, pattern: Pattern) -> Any:
        """The vector of a sample, in the attribute that the index of the search compares."""
        assert pattern.entity is not None  # noqa: S101 - every search has one
        index = pattern.table.schema.vector(pattern.index or "")
        fields = [name for name, stored in pattern.entity.attributes.items() if index and stored == index.attribute]
        found = getattr(self.fullest(pattern.entity.cls), fields[0]) if fields else None
        if found is None:
            raise _NoSample
        return found

    def _stored(self, kind: type[Entity]) -> Versioned[Any]:
        sample = self.fullest(kind)
        return next(versioned for versioned in self._versioned if versioned.data is sample)

    def _of(self, kind: type[Entity]) -> list[Entity]:
        found = [entity for entity in self._entities if type(entity) is kind]
        if not found:
            raise _NoSample
        return found
