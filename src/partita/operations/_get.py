"""Reading one item by its key."""

from __future__ import annotations

from typing import Any, TypeVar

from msgspec.structs import replace

from partita.model import Entity, EntitySchema
from partita.operations._operation import Context, Operation, Requests
from partita.store import GetItem, ItemResponse
from partita.values import Item

E = TypeVar("E", bound=Entity)


class Get(Operation[E | None], frozen=True):
    """Read one item; None where there is none or it has expired. It also names the item for a write."""

    sends = (GetItem,)

    schema: EntitySchema[E]
    key: Item
    values: tuple[Any, ...]
    """The values of the primary key's fields, in the order of `schema.primary.inputs`."""
    is_consistent: bool = False

    def consistent(self) -> Get[E]:
        """The same read, strongly consistent, at twice the cost."""
        return replace(self, is_consistent=True)

    def default_name(self) -> str:
        """The name where no access pattern was declared."""
        return f"{self.schema.name}.get"

    def request(self) -> GetItem:
        """The request that is sent."""
        return GetItem(self.schema.table.name, self.key, self.is_consistent)

    def result(self, item: Item | None, context: Context) -> E | None:
        """The entity in the response."""
        schema = self.schema
        if item is None or (schema.expires is not None and not schema.live(item, context.clock())):
            return None
        if schema.tag is not None and not schema.owns(item):
            return None
        return schema.entity(item)

    def requests(self, context: Context) -> Requests[E | None]:
        """Send the request, and return the entity in the response."""
        response: ItemResponse = yield self.request()
        return self.result(response.item, context)
