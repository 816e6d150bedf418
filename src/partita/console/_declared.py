"""The declarations of the services as the console shows them, without any data."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from partita.model import Budget, EntitySchema, Table, allows_none
from partita.patterns import KeyLayout, KeyMatch, Parameter, Pattern, key_matches, layout, parameters_of, type_name
from partita.service import Service, summary_of
from partita.store import KeyAttribute, StreamView, VectorIndexSchema


class FieldView(Struct, frozen=True):
    """A field of an entity."""

    name: str
    type: str
    optional: bool
    in_key: bool


class EntityView(Struct, frozen=True):
    """An entity with its fields."""

    name: str
    doc: str
    version: str | None
    expires: str | None
    fields: list[FieldView]

    @classmethod
    def of(cls, entity: EntitySchema[Any]) -> EntityView:
        """Describe an entity."""
        fields = [
            FieldView(
                entity.attribute(name),
                type_name(field.annotation),
                allows_none(field.annotation),
                name in entity.primary.inputs,
            )
            for name, field in entity.cls.model_fields.items()
        ]
        return cls(entity.name, inspect.getdoc(entity.cls) or "", entity.version, entity.expires, fields)


class IndexView(Struct, frozen=True):
    """An index of a table."""

    name: str
    key: list[str]
    projection: str | tuple[str, ...]
    local: bool
    vector: str | None = None
    """What a vector index compares, as text; None for other indexes."""

    @classmethod
    def of_vectors(cls, index: VectorIndexSchema) -> IndexView:
        """Describe a vector index."""
        what = f"{index.attribute}: {index.dimensions:,} dimensions, {index.distance}"
        return cls(index.name, _names(index.search), index.projection, local=False, vector=what)


class TableView(Struct, frozen=True):
    """A table with its indexes, its entities and the layout of their keys."""

    name: str
    key: list[str]
    ttl: str | None
    stream: StreamView | None
    indexes: list[IndexView]
    entities: list[EntityView]
    layout: list[KeyLayout]

    @classmethod
    def of(cls, table: Table) -> TableView:
        """Describe a table."""
        schema = table.schema
        return cls(
            schema.name,
            _names(schema.key),
            schema.ttl,
            schema.stream,
            [
                *(IndexView(index.name, _names(index.key), index.projection, index.local) for index in schema.indexes),
                *(IndexView.of_vectors(index) for index in schema.vectors),
            ],
            [EntityView.of(entity) for entity in table.entities],
            layout(table),
        )


class PatternView(Struct, frozen=True):
    """An access pattern, and whether it can be tried."""

    name: str
    kind: str
    served_by: str
    signature: dict[str, str]
    budget: Budget | None
    doc: str
    asked: list[KeyMatch]
    parameters: list[Parameter] | None
    """The fields of its form; None if it cannot be tried."""
    closed: str | None
    """Why it cannot be tried, or None."""

    @classmethod
    def of(cls, pattern: Pattern) -> PatternView:
        """Describe an access pattern."""
        summary = summary_of(pattern)
        closed = why_closed(pattern)
        parameters = None if closed else parameters_of(pattern)
        return cls(
            summary.name,
            summary.kind,
            summary.served_by,
            summary.parameters,
            summary.budget,
            summary.doc,
            key_matches(pattern),
            parameters,
            "Its arguments cannot be entered in a form." if not closed and parameters is None else closed,
        )


def why_closed(pattern: Pattern) -> str | None:
    """Why a pattern cannot be tried in the console; None if operators may try it.

    Entities that are kept out of the lake are also kept out of the console: tokens, sessions, the seed of a lottery.
    """
    if pattern.kind == "write":
        return "It writes, and the console only reads."
    if pattern.entity is not None and not pattern.entity.cls.in_lake:
        return f"{pattern.entity.name} is a secret of the service: it is kept out of the lake and the console."
    return None


class ServiceView(Struct, frozen=True):
    """A service with its tables and access patterns."""

    name: str
    title: str
    summary: str
    page: str | None
    api: str | None
    projected: bool
    """Whether it has a projection of the changes of a table."""
    works: bool
    """Whether workers work for it."""
    queues: tuple[str, ...]
    tables: list[TableView]
    patterns: list[PatternView]

    @classmethod
    def of(cls, service: Service) -> ServiceView:
        """Describe a service."""
        return cls(
            service.name,
            service.title,
            service.summary,
            f"/{service.name}/" if service.pages is not None else None,
            f"/{service.name}/api" if service.router is not None else None,
            service.projection is not None,
            service.worker is not None,
            tuple(service.queues),
            [TableView.of(table) for table in service.tables],
            [PatternView.of(pattern) for pattern in service.patterns],
        )


def _names(key: Sequence[KeyAttribute]) -> list[str]:
    return [attribute.name for attribute in key]
