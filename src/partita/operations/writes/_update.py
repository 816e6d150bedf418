"""Changing fields of one stored item, and with them every derived key and the version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from partita.errors import ConditionFailed, InvalidKey, OperationError, VersionConflict
from partita.expressions import apply_update, both, evaluate
from partita.model import Change, Entity, EntitySchema
from partita.operations._get import Get
from partita.operations._operation import Context, Requests
from partita.operations.writes._images import Images, UpdateImages
from partita.operations.writes._index_keys import UpdatePlan, check_changes, plan_update
from partita.operations.writes._stored import condition_false, conflict, joined, live_entity, missing, present
from partita.operations.writes._write import Write, given_schema
from partita.store import ItemResponse, Returns, UpdateItem, WriteResponse
from partita.values import Item

E = TypeVar("E", bound=Entity)

MAX_REWRITES = 5


class Update(Write[E], Generic[E], frozen=True):
    """Change fields of one stored item; the result is the item after the change.

    Every index key that depends on a changed field changes with it. If its new value follows from the key,
    the changes and, if an entity was given, its other fields, one request is sent. Otherwise the item is
    read first, and written under the condition that the values read are still stored.
    """

    sends = (UpdateItem,)

    schema: EntitySchema[E]
    key: Item
    known: Mapping[str, Any]
    """Values of the primary key's fields."""
    changes: tuple[Change, ...]
    entity: E | None = None

    def default_name(self) -> str:
        """The name if no access pattern was declared."""
        return f"{self.schema.name}.update"

    def plan(self) -> UpdatePlan | None:
        """The update with its index keys; None if the item must be read first.

        Raises:
            InvalidKey: a changed value does not fit into an index key, and `failure` does not explain why.
        """
        try:
            return plan_update(self.schema, self.known, self.changes, self.entity)
        except InvalidKey as error:
            if self.entity is None or self.failure is None:
                raise
            failed = ConditionFailed(item=self.schema.item(self.entity), current=self.entity)
            explained = self.failure(failed)
            if explained is failed:
                raise
            raise explained from error

    def action(self, context: Context) -> UpdateItem:
        """The request to send, alone or in a transaction.

        Raises:
            OperationError: an index key cannot be computed without reading the item.
        """
        plan = self.plan()
        if plan is None:
            message = f"{self.name}: an index key depends on fields that this update does not know."
            raise OperationError(message, hint="Read the item and pass it: update(task, …).")
        return self._request(plan, context)

    def _request(self, plan: UpdatePlan, context: Context) -> UpdateItem:
        condition = joined(both(present(self.schema, context), plan.guard), self.condition)
        return UpdateItem(self.schema.table.name, self.key, plan.update, condition, on_failure_item=True)

    def _explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        current = live_entity(self.schema, error.item, context)
        if current is None or error.item is None:
            return missing(self.schema, error.item)
        plan = self.plan()
        if plan is not None and plan.guard is not None and not evaluate(plan.guard, error.item):
            return conflict(self.schema, error.item, current)
        return condition_false(self.schema, error.item, current)

    def images(self) -> UpdateImages[E]:
        """The same update, whose result is the item before and after it."""
        return UpdateImages(self, pattern=self.pattern, label=self.label)

    def requests(self, context: Context) -> Requests[E]:
        """Send one request, or read the item first if an index key cannot be computed."""
        _, response = yield from self._write(context, "ALL_NEW")
        return self.schema.entity(response.attributes or {})

    def images_requests(self, context: Context) -> Requests[Images[E, E]]:
        """The same, but the request returns the old item; the new one is computed from it and the update."""
        request, response = yield from self._write(context, "ALL_OLD")
        old = response.attributes or {}
        return Images(self.schema.entity(old), self.schema.entity(apply_update(request.update, old)))

    def _write(self, context: Context, returns: Returns) -> Requests[tuple[UpdateItem, WriteResponse]]:
        plan = self.plan()
        if plan is None:
            return (yield from self._read_then_write(context, returns))
        request = replace(self._request(plan, context), returns=returns)
        return request, (yield from self._send(request, context))

    def _read_then_write(self, context: Context, returns: Returns) -> Requests[tuple[UpdateItem, WriteResponse]]:
        read: Get[E] = Get(self.schema, self.key, (), is_consistent=True)
        tries = MAX_REWRITES
        while True:
            response: ItemResponse = yield read.request()
            current = read.result(response.item, context)
            if current is None:
                raise missing(self.schema, response.item)
            try:
                return (yield from replace(self, entity=current)._write(context, returns))  # noqa: SLF001 - the same
            except VersionConflict:
                # Another writer changed fields that the index key depends on: use its item instead.
                tries -= 1
                if not tries:
                    raise


def update(at: E | Get[E], *changes: Change) -> Update[E]:
    """Change fields of a stored item, named by an entity (guarded by its version) or by a get pattern.

    `update(task, f(Task.title).set("…"))` or `update(task_by_id("u1", "t1"), f(Task.title).set("…"))`
    """
    if isinstance(at, Get):
        known = dict(zip(at.schema.primary.inputs, at.values, strict=True))
        operation = Update(at.schema, at.key, known, changes)
    else:
        schema = given_schema(at, "update")
        known = {field: getattr(at, field) for field in schema.primary.inputs}
        operation = Update(schema, schema.key(at), known, changes, at)
    check_changes(operation.schema, changes)
    return operation
