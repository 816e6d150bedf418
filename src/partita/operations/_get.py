"""Reading one item by its key."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from msgspec.structs import replace
from pydantic import BaseModel

from partita.expressions import Projection
from partita.model import EntitySchema
from partita.operations._operation import Context, Operation, Requests
from partita.store import GetItem, ItemResponse
from partita.values import Item

M = TypeVar("M", bound=BaseModel)


class Get(Operation[M | None], Generic[M], frozen=True):
    """Read one item; None if there is none or it has expired. A get of an entity also names the item for a write."""

    sends = (GetItem,)
    listed_as = "get"

    schema: EntitySchema[Any]
    key: Item
    values: tuple[Any, ...]
    """The values of the primary key's fields, in the order of `schema.primary.inputs`."""
    is_consistent: bool = False
    view: type[M] | None = None
    """The view of the entity that the item becomes; None for the entity itself."""
    projection: Projection | None = None

    def consistent(self) -> Get[M]:
        """The same read, but strongly consistent, at twice the cost."""
        return replace(self, is_consistent=True)

    def default_name(self) -> str:
        """The name if no access pattern was declared."""
        return f"{self.schema.name}.get"

    def request(self) -> GetItem:
        """The request to send."""
        return GetItem(self.schema.table.name, self.key, self.is_consistent, self.projection)

    def result(self, item: Item | None, context: Context) -> M | None:
        """The entity in the response, or the view of it."""
        schema = self.schema
        if item is None or (schema.expires is not None and not schema.live(item, context.clock())):
            return None
        if schema.tag is not None and not schema.owns(item):
            return None
        return schema.entity(item) if self.view is None else schema.entity_as(self.view, item)

    def requests(self, context: Context) -> Requests[M | None]:
        """Send the request, and return the entity in the response."""
        response: ItemResponse = yield self.request()
        return self.result(response.item, context)
