"""Writing a whole entity: put and insert."""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec.structs import replace

from partita.errors import AlreadyExists, ConditionFailed, OperationError
from partita.expressions import Condition, both
from partita.model import Entity, EntitySchema
from partita.operations._operation import Context, Requests
from partita.operations.writes._images import Images, PutImages
from partita.operations.writes._stored import (
    bumped,
    condition_false,
    conflict,
    fitting_entity,
    live_entity,
    not_foreign,
    stored_version,
    unversioned,
    vacant,
    version_is,
    version_of,
)
from partita.operations.writes._write import Write, given_schema
from partita.store import PutItem

E = TypeVar("E", bound=Entity)


class Put(Write[E], Generic[E], frozen=True):
    """Write a whole entity; the result is the stored entity, with its new version."""

    sends = (PutItem,)

    schema: EntitySchema[E]
    entity: E
    expected: int | None = None
    """The version that must be stored now; 0 for none, None if the entity has no version."""
    only_new: bool = False

    @property
    def saved(self) -> E:
        """The entity as it will be stored."""
        return self.entity if self.expected is None else bumped(self.schema, self.entity)

    def default_name(self) -> str:
        """The name if no access pattern was declared."""
        return f"{self.schema.name}.{'insert' if self.only_new else 'put'}"

    def action(self, context: Context) -> PutItem:
        """The request to send, alone or in a transaction."""
        schema = self.schema
        condition = both(self._guard(context), self.condition)
        item = schema.item(self.entity)
        if schema.version is not None:
            item[schema.attribute(schema.version)] += 1
        return PutItem(schema.table.name, item, condition, on_failure_item=condition is not None)

    def _guard(self, context: Context) -> Condition | None:
        if self.only_new:
            return vacant(self.schema, context)
        guard: Condition | None = None
        if self.expected is not None:
            guard = version_is(self.schema, self.expected) if self.expected else unversioned(self.schema, context)
        return guard if self.schema.tag is None else both(guard, not_foreign(self.schema))

    def _explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        current = live_entity(self.schema, error.item, context)
        if self.only_new and current is not None:
            return AlreadyExists(f"This {self.schema.name} already exists.", item=error.item, current=current)
        if self.expected is not None and stored_version(self.schema, error.item) != self.expected:
            return conflict(self.schema, error.item, current)
        return condition_false(self.schema, error.item, current)

    def images(self) -> PutImages[E]:
        """The same write, whose result is the item before and after it."""
        return PutImages(self, pattern=self.pattern, label=self.label)

    def images_requests(self, context: Context) -> Requests[Images[E | None, E]]:
        """Send the request, which returns the old item."""
        response = yield from self._send(replace(self.action(context), returns="ALL_OLD"), context)
        return Images(fitting_entity(self.schema, response.attributes, context), self.saved)

    def requests(self, context: Context) -> Requests[E]:
        """Send the request; explain a failed condition."""
        try:  # inlined from `_send`, which would add a generator to every put
            yield self.action(context)
        except ConditionFailed as error:
            raise self.explain(error, context) from error
        return self.saved


def put(entity: E) -> Put[E]:
    """Write a whole entity, whether or not it is already stored. With a version, only over that same version."""
    schema = given_schema(entity, "put")
    return Put(schema, entity, expected=version_of(schema, entity))


def insert(entity: E) -> Put[E]:
    """Write an entity that must not be stored yet."""
    schema = given_schema(entity, "insert")
    version = version_of(schema, entity)
    if version:
        raise OperationError(f"This {schema.name} has version {version}, so it is already stored.", hint="Use put().")
    return Put(schema, entity, expected=version, only_new=True)
