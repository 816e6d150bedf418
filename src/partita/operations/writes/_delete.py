"""Deleting one item."""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec.structs import replace

from partita.errors import ConditionFailed
from partita.expressions import both
from partita.model import Entity, EntitySchema
from partita.operations._get import Get
from partita.operations._operation import Context, Requests
from partita.operations.writes._images import DeleteImages, Images
from partita.operations.writes._stored import (
    condition_false,
    conflict,
    fitting_entity,
    live_entity,
    missing,
    not_foreign,
    stored_version,
    version_is,
    version_of,
)
from partita.operations.writes._write import Write, given_schema
from partita.store import DeleteItem
from partita.values import Item

E = TypeVar("E", bound=Entity)


class Delete(Write[E | None], Generic[E], frozen=True):
    """Delete an item; the result is the deleted entity, or None if there was none or it did not fit the entity."""

    sends = (DeleteItem,)

    schema: EntitySchema[E]
    key: Item
    expected: int | None = None

    def default_name(self) -> str:
        """The name if no access pattern was declared."""
        return f"{self.schema.name}.delete"

    def action(self, context: Context) -> DeleteItem:  # noqa: ARG002 - one signature for all writes
        """The request to send, alone or in a transaction."""
        guard = None if self.expected is None else version_is(self.schema, self.expected)
        condition = both(both(guard, not_foreign(self.schema)), self.condition)
        return DeleteItem(self.schema.table.name, self.key, condition, on_failure_item=condition is not None)

    def _explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        current = live_entity(self.schema, error.item, context)
        if current is None:
            return missing(self.schema, error.item)
        if self.expected is not None and stored_version(self.schema, error.item) != self.expected:
            return conflict(self.schema, error.item, current)
        return condition_false(self.schema, error.item, current)

    def requests(self, context: Context) -> Requests[E | None]:
        """Send the request, which returns the old item."""
        response = yield from self._send(replace(self.action(context), returns="ALL_OLD"), context)
        return fitting_entity(self.schema, response.attributes, context)

    def images(self) -> DeleteImages[E]:
        """The same delete, whose result is the item before and after it."""
        return DeleteImages(self, pattern=self.pattern, label=self.label)

    def images_requests(self, context: Context) -> Requests[Images[E | None, None]]:
        """Send the request, which returns the old item."""
        return Images((yield from self.requests(context)), None)


def delete(at: E | Get[E]) -> Delete[E]:
    """Delete a stored item, named by an entity (guarded by its version) or by a get pattern."""
    if isinstance(at, Get):
        return Delete(at.schema, at.key)
    schema = given_schema(at, "delete")
    return Delete(schema, schema.key(at), version_of(schema, at))
