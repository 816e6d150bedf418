"""The page about one service's model: entities, keys, access patterns, lifecycles and stream consumers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from partita.model import EntitySchema, Table
from partita.modeldocs._chart import entity_chart, lifecycles
from partita.modeldocs._order import entities_of, keys_of, patterns_of, recipes_of
from partita.patterns import KeyLayout, Pattern, Permission, key_matches
from partita.recipes.lifecycle import Lifecycle
from partita.recipes.versioned import versioned_tables
from partita.service import Service, summary_of

if TYPE_CHECKING:
    from partita.cost import Measurement


def render_page(service: Service, measured: Sequence[Measurement]) -> str:
    """The page, as Markdown.

    Args:
        service: the service of the model.
        measured: the consumption of its access patterns on its sample data.
    """
    sections = (
        _head(service),
        _entities(service),
        _keys(service),
        _patterns(service, {each.pattern: each for each in measured}),
        _recipes(service),
        *(_lifecycle(lifecycle) for lifecycle in lifecycles(service.tables)),
        _streams(service),
    )
    return "\n\n".join(filter(None, ("\n".join(section) for section in sections))) + "\n"


def _head(service: Service) -> Iterator[str]:
    yield f"# {service.title}: the model"
    yield ""
    yield "*Reference, for people who use or change this model.*"
    yield ""
    yield f"{service.summary} `partita docs {service.name}` writes this page from `model.py`; do not edit it."


def _entities(service: Service) -> Iterator[str]:
    yield from ("## Entities", "", "```mermaid", *entity_chart(service.tables), "```", "")
    rows = [_entity_row(entity) for table in service.tables for entity in entities_of(table)]
    yield from _table(("entity", "table", "description", "every write is guarded by", "expires by"), rows)


def _entity_row(entity: EntitySchema[Any]) -> tuple[str, ...]:
    versioned = any(table.form.schema is entity for table in versioned_tables(entity.table))
    guard = "`last_write`" if versioned else f"`{entity.version}`" if entity.version else ""
    what = (entity.cls.__doc__ or "").strip().partition("\n")[0]
    return f"`{entity.name}`", f"`{entity.table.name}`", what, guard, f"`{entity.expires}`" if entity.expires else ""


def _keys(service: Service) -> Iterator[str]:
    yield "## Keys"
    for table in service.tables:
        yield from ("", f"`{table.name}`, {_attributes(table)}.", "")
        rows = [
            (f"`{key.entity}.{key.key}`", _where(key), f"`{key.hash}`", f"`{key.range}`" if key.range else "")
            for key in keys_of(table)
        ]
        yield from _table(("key", "in", "partition key", "sort key"), rows)


def _where(key: KeyLayout) -> str:
    """The table or index that a key is for, and when an item is in it."""
    return f"{key.index or 'table'}{f', while `{key.when}`' if key.when else ''}"


def _attributes(table: Table) -> str:
    names = [f"`{attribute.name}`" for attribute in table.schema.key]
    parts = [f"with the key {', '.join(names)}"]
    parts += [f"items expire by `{table.schema.ttl}`"] if table.schema.ttl else []
    parts += [f"a stream of {table.schema.stream}"] if table.schema.stream else []
    for index in table.schema.indexes:
        key = ", ".join(f"`{attribute.name}`" for attribute in index.key)
        parts.append(f"{'local ' if index.local else ''}index {index.name} ({key})")
    for vectors in table.schema.vectors:
        by = ", ".join(f"`{attribute.name}`" for attribute in vectors.search)
        what = f"`{vectors.attribute}`, {vectors.dimensions:,} dimensions, {vectors.distance}"
        parts.append(f"vector index {vectors.name} ({what}{f'; by {by}' if by else ''})")
    return "; ".join(parts)


def _patterns(service: Service, measured: Mapping[str, Measurement]) -> Iterator[str]:
    yield from ("## Access patterns", "")
    yield f"Measured once each on the sample data, in memory: `partita cost {service.name}`."
    yield ""
    patterns = [pattern for table in service.tables for pattern in patterns_of(table)]
    rows = [_pattern_row(pattern, measured[pattern.name]) for pattern in patterns]
    yield from _table(("pattern", "description", "served by", "request", "budget", "measured"), rows)


def _pattern_row(pattern: Pattern, measurement: Measurement) -> tuple[str, ...]:
    summary = summary_of(pattern)
    call = f"`{summary.name}({', '.join(summary.parameters)})`"
    costs = (str(cost or "") for cost in (summary.budget, measurement.measured))
    what = summary.doc.partition("\n")[0]
    return call, what, measurement.index or "table", _request(pattern, measurement), *costs


def _request(pattern: Pattern, measurement: Measurement) -> str:
    if asked := key_matches(pattern):
        parts = [f"`{part.attribute}` {part.relation} `{part.template}`" for part in asked]
        call = {"get": "GetItem", "search": "SearchVectors"}.get(pattern.kind, "Query")
        return f"{call}: {', '.join(parts)}"
    calls = ", ".join(dict.fromkeys(name.removesuffix("Table") for name in measurement.requests))
    sent = _sent(pattern.sends or ())
    return f"{calls}: {sent}" if sent and calls.startswith("Transact") else sent or calls


def _sent(sends: Iterable[Permission]) -> str:
    """The requests, grouped by partition: PutItem, DeleteItem `UNIQUE#{field}#{value}`."""
    actions: dict[str, list[str]] = {}
    for permission in sends:
        actions.setdefault(permission.partition, []).append(permission.action)
    return "; ".join(f"{', '.join(names)} `{partition}`" for partition, names in actions.items())


def _recipes(service: Service) -> Iterator[str]:
    declared = [recipe for table in service.tables for recipe in recipes_of(table)]
    if declared:
        yield from ("## Operations of recipes", "")
        rows = [(f"`{recipe.name}`", recipe.doc.partition("\n")[0], _sent(recipe.sends)) for recipe in declared]
        yield from _table(("operation", "description", "request"), rows)


def _lifecycle(lifecycle: type[Lifecycle[Any, Any]]) -> Iterator[str]:
    declared = lifecycle.declared
    yield f"## Lifecycle of `{declared.schema.name}.{declared.state.path.parts[0]}`"
    yield from ("", "```mermaid", lifecycle.mermaid(), "```")


def _streams(service: Service) -> Iterator[str]:
    rows = [row for table in service.tables if table.schema.stream for row in _consumers(service, table)]
    if rows:
        yield from ("## Stream consumers", "")
        yield from _table(("table", "consumer", "reads"), rows)


def _consumers(service: Service, table: Table) -> Iterator[tuple[str, ...]]:
    name = f"`{table.name}`"
    if service.projection is not None and service.projection.table is table:
        yield name, f"the projection `{service.name}-projection.db`, which `partita serve` updates", "every change"
    kept = ", ".join(f"`{entity.name}`" for entity in entities_of(table) if entity.cls.in_lake)
    if table.schema.stream == "NEW_AND_OLD_IMAGES" and kept:
        yield name, f"the lake, which `partita cdc run {service.name}` and `partita serve --lake` fill", kept


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"| {' | '.join('---' for _ in header)} |"
    for row in rows:
        cells = (cell.replace("|", "\\|").replace("\n", " ") for cell in row)
        yield f"| {' | '.join(cells)} |"
