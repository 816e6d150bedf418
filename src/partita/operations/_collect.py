"""Collections: several entities of one partition, read in one query into a declared, typed result."""

from __future__ import annotations

import dataclasses
from types import UnionType
from typing import Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

from msgspec import Struct
from msgspec.structs import replace

from partita.errors import LimitExceeded, ModelError
from partita.expressions import KeyCondition
from partita.model import BoundKey, Entity, EntitySchema, Table, schema_of
from partita.operations._operation import Context, Operation, Requests
from partita.operations._owned import owner_check
from partita.operations._unclaimed import unclaimed_among
from partita.store import PageResponse, QueryTable
from partita.values import Item

C = TypeVar("C")


class Slot(Struct, frozen=True):
    """One field of a collection's result: an entity, an optional one, or a tuple of them."""

    field: str
    schema: EntitySchema[Any]
    many: bool
    optional: bool


class Collect(Operation[C | None], Generic[C], frozen=True):
    """Read a whole partition into its declared result; None where its required entity is missing."""

    result_class: type[C]
    slots: tuple[Slot, ...]
    table: Table
    key_condition: KeyCondition
    index: str | None
    limit: int
    is_consistent: bool = False

    def consistent(self) -> Collect[C]:
        """The same read, strongly consistent, at twice the cost."""
        return replace(self, is_consistent=True)

    def request(self) -> QueryTable:
        """The first request that is sent; one item more than the limit, to notice what would not fit."""
        return QueryTable(
            self.table.name,
            self.key_condition,
            self.index,
            limit=self.limit + 1,
            consistent=self.is_consistent,
        )

    def default_name(self) -> str:
        """The name where no access pattern was declared."""
        return self.result_class.__name__

    def requests(self, context: Context) -> Requests[C | None]:
        """Read page by page.

        Raises:
            LimitExceeded: the partition has more items than the collection's limit.
        """
        request = self.request()
        items: list[Item] = []
        while True:
            response: PageResponse = yield request
            items += response.items
            if len(items) > self.limit:
                message = f"{self.name} has more than {self.limit} items in one partition."
                raise LimitExceeded(message, hint="Raise the limit of the collection, or page over its parts.")
            if response.last_key is None:
                if unclaimed := unclaimed_among(self.table, items):
                    yield unclaimed
                return self._assemble(items, context)
            request = replace(request, start=response.last_key, limit=self.limit + 1 - len(items))

    def _assemble(self, items: list[Item], context: Context) -> C | None:
        now = context.clock()
        fields: dict[str, Any] = {}
        for slot in self.slots:
            owns = owner_check(slot.schema, self._key_of(slot.schema), self.key_condition)
            owned = [item for item in items if owns(item) and slot.schema.live(item, now)]
            found = tuple(slot.schema.entity(item) for item in owned)
            if not slot.many and not slot.optional and not found:
                return None
            fields[slot.field] = found if slot.many else found[0] if found else None
        return self.result_class(**fields)

    def _key_of(self, schema: EntitySchema[Any]) -> BoundKey:
        return next(key for key in schema.keys.values() if key.index == self.index)


def slots_of(result_class: type) -> tuple[Slot, ...]:
    """The slots that a collection's result class declares.

    Raises:
        ModelError: it is not a dataclass, or a field is neither an entity, an optional one, nor a tuple of them.
    """
    if not dataclasses.is_dataclass(result_class):
        raise ModelError(f"{result_class.__name__} is not a dataclass.", owner=result_class)
    hints = get_type_hints(result_class)
    slots = tuple(_slot(result_class, field.name, hints[field.name]) for field in dataclasses.fields(result_class))
    if len({slot.schema.table.name for slot in slots}) != 1:
        raise ModelError(f"{result_class.__name__} must have entities, all of one table.", owner=result_class)
    return slots


def _slot(result_class: type, name: str, annotation: Any) -> Slot:
    arguments = get_args(annotation)
    many = get_origin(annotation) is tuple and arguments[1:] == (Ellipsis,)
    optional = get_origin(annotation) in (Union, UnionType)
    candidates = (arguments[0],) if many else arguments if optional else (annotation,)
    entities = [kind for kind in candidates if isinstance(kind, type) and issubclass(kind, Entity)]
    if len(entities) != 1:
        message = f"{result_class.__name__}.{name} must be an entity, an optional entity, or a tuple of entities."
        raise ModelError(message, owner=result_class, hint="Write tasks: tuple[Task, ...].")
    return Slot(name, schema_of(entities[0]), many, optional=type(None) in candidates)
