"""Charts in Mermaid's language: the entities of a service, and the lifecycles of their states."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from pydantic.fields import FieldInfo

from partita.model import EntitySchema, Table, allows_none
from partita.modeldocs._order import entities_of, in_order
from partita.patterns import type_name
from partita.recipes.lifecycle import Lifecycle

_KEY_MARKS: Final = ("pk", "fk", "uk")
"""Names that Mermaid parses as a key mark, in upper or lower case, unless a character precedes them."""


def entity_chart(tables: Sequence[Table]) -> list[str]:
    """The lines of a chart of the entities with their fields, and the relations between their keys."""
    entities = [entity for table in tables for entity in entities_of(table)]
    lines = ["erDiagram"]
    lines += [f"    {line}" for line in _relations(entities)]
    for entity in entities:
        lines.append(f"    {entity.name} {{")
        lines += [f"        {_field(entity, name, field)}" for name, field in entity.cls.model_fields.items()]
        lines.append("    }")
    return lines


def lifecycles(tables: Sequence[Table]) -> list[type[Lifecycle[Any, Any]]]:
    """The lifecycles that were declared for entities of the tables."""
    found = [cls for cls in Lifecycle.__subclasses__() if cls.declared.schema.table in tables]
    return in_order(found, lambda cls: cls.__module__)


def _relations(entities: Sequence[EntitySchema[Any]]) -> Iterator[str]:
    """Yield which entity belongs to which: a task to a user, because its key starts with the key of the user."""
    for number, entity in enumerate(entities):
        fields = entity.primary.inputs
        owners = [other for other in entities if other.primary.inputs and _begins(fields, other.primary.inputs)]
        like = [other for other in entities[:number] if fields and other.primary.inputs == fields]
        if like:
            yield f'{like[0].name} ||--o| {entity.name} : "{", ".join(fields)}"'
        elif owners:
            owner = max(owners, key=lambda other: len(other.primary.inputs))
            yield f'{owner.name} ||--o{{ {entity.name} : "{", ".join(owner.primary.inputs)}"'


def _begins(fields: Sequence[str], beginning: Sequence[str]) -> bool:
    return len(beginning) < len(fields) and tuple(fields[: len(beginning)]) == tuple(beginning)


def _field(entity: EntitySchema[Any], name: str, field: FieldInfo) -> str:
    marks = " PK" if name in entity.primary.inputs else ""
    note = ' "may be absent"' if allows_none(field.annotation) else ""
    kind = re.sub(r"[^A-Za-z0-9_]", "_", type_name(field.annotation).replace(" | ", "_or_"))
    attribute = entity.attribute(name)
    shown = f"*{attribute}" if attribute.lower() in _KEY_MARKS else attribute
    return f"{kind} {shown}{marks}{note}"
