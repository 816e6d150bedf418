"""Upserts: creating or changing an item by one request, including every derived key and the version."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from partita.errors import ConditionFailed, OperationError
from partita.expressions import Compare, Condition, Missing, Or, Path, SetAction, Value, apply_update, both, evaluate
from partita.expressions import Update as UpdateExpression
from partita.model import Change, Entity, EntitySchema
from partita.operations._get import Get
from partita.operations._operation import Context, Requests
from partita.operations.writes._images import Images, UpsertImages
from partita.operations.writes._index_keys import check_changes
from partita.operations.writes._stored import bumped, condition_false, live_entity, own, version_of
from partita.operations.writes._update import MAX_REWRITES, Update
from partita.operations.writes._upsert_plan import UpsertPlan, plan_upsert, start_of_entity, start_of_key
from partita.operations.writes._write import Write, given_schema
from partita.store import Returns, UpdateItem, WriteResponse
from partita.values import Item

E = TypeVar("E", bound=Entity)


class Upsert(Write[E], Generic[E], frozen=True):
    """Change one item, or create it with the changes if there is none; the result is the item after that.

    This takes one request. It takes two if the stored item has expired, or lacks an index key that it should have:
    the first request fails, and the second writes the correct item, based on the item returned with the failure.
    """

    sends = (UpdateItem,)

    schema: EntitySchema[E]
    key: Item
    known: Mapping[str, Any]
    """Values of the primary key's fields."""
    plan: UpsertPlan[E]

    def default_name(self) -> str:
        """The name if no access pattern was declared."""
        return f"{self.schema.name}.upsert"

    @property
    def created(self) -> E:
        """The item that is stored if there was none, before its version is incremented."""
        return self.plan.created

    def images(self) -> UpsertImages[E]:
        """The same upsert, whose result is the item before and after it."""
        return UpsertImages(self, pattern=self.pattern, label=self.label)

    def action(self, context: Context) -> UpdateItem:
        """The request to send, alone or in a transaction."""
        condition = both(self._guard(context), self.condition)
        table = self.schema.table.name
        return UpdateItem(table, self.key, self.plan.update, condition, on_failure_item=condition is not None)

    def _guard(self, context: Context) -> Condition | None:
        """The condition that there is no item, or one for which this update is correct."""
        stored = both(both(own(self.schema), self.schema.unexpired(context.clock())), self.plan.consistent)
        return None if stored is None else Or((Missing(Path(self.schema.primary.hash_names)), stored))

    def _explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        current = live_entity(self.schema, error.item, context)
        if error.item is None or not self._may_write(error.item, context):
            return condition_false(self.schema, error.item, current)
        if current is None:
            message = f"This {self.schema.name} has expired and is still stored, so a transaction cannot upsert it."
            return ConditionFailed(message, item=error.item, hint="Run the upsert outside a transaction.")
        message = f"This {self.schema.name} is stored without an index key that it should have."
        hint = "Read it and put() it, which writes every key."
        return ConditionFailed(message, item=error.item, current=current, hint=hint)

    def _may_write(self, item: Item, context: Context) -> bool:
        """Whether the caller's own condition allows a write over this item."""
        if self.schema.tag is not None and not self.schema.owns(item):
            return False
        seen = item if self.schema.live(item, context.clock()) else {}
        return self.condition is None or evaluate(self.condition, seen)

    def requests(self, context: Context) -> Requests[E]:
        """Send the request; if the stored item does not allow it, write the correct item instead."""
        return (yield from self._write(context, "ALL_NEW")).new

    def images_requests(self, context: Context) -> Requests[Images[E | None, E]]:
        """The same, but the request returns the old item."""
        return self._write(context, "ALL_OLD")

    def _write(self, context: Context, returns: Returns) -> Requests[Images[E | None, E]]:
        tries = MAX_REWRITES
        while True:
            try:
                return (yield from self._send_once(context, returns))
            except ConditionFailed as error:
                tries -= 1
                if not tries or error.item is None or not self._may_write(error.item, context):
                    raise self.explain(error, context) from error
                item = error.item
            with suppress(ConditionFailed):  # another writer was first: start again
                return (yield from self._write_over(item, context))

    def _send_once(self, context: Context, returns: Returns) -> Requests[Images[E | None, E]]:
        request = replace(self.action(context), returns=returns)
        response: WriteResponse = yield request
        if returns == "ALL_NEW":
            return Images(None, self.schema.entity(response.attributes or {}))
        new = apply_update(request.update, response.attributes or {}) | self.key
        return Images(live_entity(self.schema, response.attributes, context), self.schema.entity(new))

    def _write_over(self, item: Item, context: Context) -> Requests[Images[E | None, E]]:
        """Write the correct change for an item for which the planned update is not correct."""
        current = live_entity(self.schema, item, context)
        if current is None:
            return self._replace_expired(item)
        update = Update(self.schema, self.key, self.known, self.plan.changes, current, condition=self.condition)
        return update.images_requests(context)

    def _replace_expired(self, item: Item) -> Requests[Images[E | None, E]]:
        """Overwrite an expired item with the new one. This is an update too, because a role may not allow a put."""
        new = self.created if self.schema.version is None else bumped(self.schema, self.created)
        attributes = self.schema.item(new)
        sets = tuple(SetAction(Path((name,)), Value(each)) for name, each in attributes.items() if name not in self.key)
        removes = tuple(Path((name,)) for name in item if name not in attributes)
        expires = self.schema.expires or ""
        same = Compare("=", Path((expires,)), Value(item[expires]))
        yield UpdateItem(self.schema.table.name, self.key, UpdateExpression(sets, removes), same)
        return Images(None, new)


def upsert(at: E | Get[E], *changes: Change) -> Upsert[E]:
    """Change an item, or create it with the changes if there is none, in one request.

    `upsert(cart_of("ada"), f(Cart.cents).add(250))`: a new item starts with the fields of its key and the defaults.
    `upsert(Cart(user_id="ada", currency="EUR"), f(Cart.cents).add(250))`: a new item starts with this entity.

    A field that the stored item lacks also gets the value that a new item would start with.

    Raises:
        OperationError: a new item would lack fields, or an index key cannot be computed without reading the item.
    """
    if isinstance(at, Get):
        schema, key = at.schema, at.key
        known = dict(zip(schema.primary.inputs, at.values, strict=True))
        start = start_of_key(schema, known)
    else:
        schema = given_schema(at, "upsert")
        version = version_of(schema, at)
        if version:
            hint = "Use update() or put()."
            raise OperationError(f"This {schema.name} has version {version}, so it is already stored.", hint=hint)
        key, start = schema.key(at), start_of_entity(schema, at)
        known = {field: getattr(at, field) for field in schema.primary.inputs}
    if changes:
        check_changes(schema, changes)
    return Upsert(schema, key, known, plan_upsert(schema, key, start, changes))
