"""Writing one item: put, insert, update and delete, with every derived key and the version kept right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, Self, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from partita.errors import AlreadyExists, ConditionFailed, InvalidItem, InvalidKey, OperationError, VersionConflict
from partita.expressions import Condition, both, evaluate
from partita.model import Change, Entity, EntitySchema, schema_of
from partita.operations._get import Get
from partita.operations._index_keys import UpdatePlan, check_changes, plan_update
from partita.operations._operation import Context, Operation, Requests
from partita.operations._stored import (
    bumped,
    condition_false,
    conflict,
    live_entity,
    missing,
    not_foreign,
    present,
    stored_version,
    unversioned,
    vacant,
    version_is,
    version_of,
)
from partita.store import ConditionCheck, DeleteItem, ItemResponse, PutItem, TransactAction, UpdateItem, WriteResponse
from partita.values import Item

E = TypeVar("E", bound=Entity)
R_co = TypeVar("R_co", covariant=True)

MAX_REWRITES = 5


ExplainFailure: TypeAlias = Callable[[ConditionFailed], ConditionFailed]
"""Says in a recipe's terms what a failed condition means; what it does not know, it gives back as it is."""


class Write(Operation[R_co], Generic[R_co], frozen=True, kw_only=True):
    """What all writes of one item have in common: a condition, and what it means when that is false."""

    schema: EntitySchema[Any]
    condition: Condition | None = None
    failure: ExplainFailure | None = None

    def when(self, condition: Condition) -> Self:
        """The same write, only when the stored item satisfies the condition too."""
        self.schema.check_condition(condition)
        return replace(self, condition=both(self.condition, condition))

    def failing_as(self, failure: ExplainFailure) -> Self:
        """The same write, whose failed condition is explained in other terms."""
        return replace(self, failure=failure)

    def explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        """The failed condition in terms of this write."""
        explained = self._explain(error, context)
        return explained if self.failure is None else self.failure(explained)

    def _explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        raise NotImplementedError

    def _send(self, request: PutItem | UpdateItem | DeleteItem, context: Context) -> Requests[WriteResponse]:
        try:
            response: WriteResponse = yield request
        except ConditionFailed as error:
            raise self.explain(error, context) from error
        return response


class Put(Write[E], Generic[E], frozen=True):
    """Write a whole entity; the result is what was stored, with its new version."""

    sends = (PutItem,)

    schema: EntitySchema[E]
    entity: E
    expected: int | None = None
    """The version that must be stored now; 0 for none, None where the entity has no version."""
    only_new: bool = False

    @property
    def saved(self) -> E:
        """The entity as it will be stored."""
        return self.entity if self.expected is None else bumped(self.schema, self.entity)

    def default_name(self) -> str:
        """The name where no access pattern was declared."""
        return f"{self.schema.name}.{'insert' if self.only_new else 'put'}"

    def action(self, context: Context) -> PutItem:
        """The request that is sent, alone or in a transaction."""
        guard = self._guard(context)
        condition = both(guard if self.only_new else both(guard, not_foreign(self.schema)), self.condition)
        item = self.schema.item(self.entity)
        if self.schema.version is not None:
            item[self.schema.attribute(self.schema.version)] += 1
        return PutItem(self.schema.table.name, item, condition, on_failure_item=condition is not None)

    def _guard(self, context: Context) -> Condition | None:
        if self.only_new:
            return vacant(self.schema, context)
        if self.expected == 0:
            return unversioned(self.schema, context)
        return None if self.expected is None else version_is(self.schema, self.expected)

    def _explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        current = live_entity(self.schema, error.item, context)
        if self.only_new and current is not None:
            return AlreadyExists(f"This {self.schema.name} exists already.", item=error.item, current=current)
        if self.expected is not None and stored_version(self.schema, error.item) != self.expected:
            return conflict(self.schema, error.item, current)
        return condition_false(self.schema, error.item, current)

    def requests(self, context: Context) -> Requests[E]:
        """Send the request; a failed condition says what it means."""
        yield from self._send(self.action(context), context)
        return self.saved


class Delete(Write[E | None], Generic[E], frozen=True):
    """Delete an item; the result is what was deleted, or None: also where that did not fit its entity."""

    sends = (DeleteItem,)

    schema: EntitySchema[E]
    key: Item
    expected: int | None = None

    def default_name(self) -> str:
        """The name where no access pattern was declared."""
        return f"{self.schema.name}.delete"

    def action(self, context: Context) -> DeleteItem:  # noqa: ARG002 - one signature for all writes
        """The request that is sent, alone or in a transaction."""
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
        """Send the request, asking for the old item."""
        response = yield from self._send(replace(self.action(context), returns="ALL_OLD"), context)
        try:
            return live_entity(self.schema, response.attributes, context)
        except InvalidItem:  # it is gone all the same, which an error would not tell
            return None


class Update(Write[E], Generic[E], frozen=True):
    """Change fields of one stored item; the result is the item after the change.

    Every index key that depends on a changed field changes with it. Where its new value follows from the key,
    the changes and, if an entity was given, its other fields, that is one request. Where it does not, the item is
    read first and written under the condition that what was read still holds.
    """

    sends = (UpdateItem,)

    schema: EntitySchema[E]
    key: Item
    known: Mapping[str, Any]
    """Values of the primary key's fields."""
    changes: tuple[Change, ...]
    entity: E | None = None

    def default_name(self) -> str:
        """The name where no access pattern was declared."""
        return f"{self.schema.name}.update"

    def plan(self) -> UpdatePlan | None:
        """The update with its index keys; None where the item must be read first.

        Raises:
            InvalidKey: an index key has no room for a changed value, and `failure` does not know why.
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
        """The request that is sent, alone or in a transaction.

        Raises:
            OperationError: an index key cannot be known without reading the item.
        """
        plan = self.plan()
        if plan is None:
            message = f"{self.name}: an index key depends on fields that this update does not know."
            raise OperationError(message, hint="Read the item and pass it: update(task, …).")
        return self._request(plan, context)

    def _request(self, plan: UpdatePlan, context: Context) -> UpdateItem:
        condition = both(both(present(self.schema, context), plan.guard), self.condition)
        return UpdateItem(self.schema.table.name, self.key, plan.update, condition, on_failure_item=True)

    def _explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        current = live_entity(self.schema, error.item, context)
        if current is None or error.item is None:
            return missing(self.schema, error.item)
        plan = self.plan()
        if plan is not None and plan.guard is not None and not evaluate(plan.guard, error.item):
            return conflict(self.schema, error.item, current)
        return condition_false(self.schema, error.item, current)

    def requests(self, context: Context) -> Requests[E]:
        """Send one request, or read first where an index key cannot be known."""
        if self.plan() is None:
            return (yield from self._read_then_write(context))
        request = replace(self.action(context), returns="ALL_NEW")
        response = yield from self._send(request, context)
        return self.schema.entity(response.attributes or {})

    def _read_then_write(self, context: Context) -> Requests[E]:
        read = Get(self.schema, self.key, (), is_consistent=True)
        tries = MAX_REWRITES
        while True:
            response: ItemResponse = yield read.request()
            current = read.result(response.item, context)
            if current is None:
                raise missing(self.schema, response.item)
            try:
                return (yield from replace(self, entity=current).requests(context))
            except VersionConflict:
                # Another writer changed what the index key depends on: use its item instead.
                tries -= 1
                if not tries:
                    raise


class Check(Struct, frozen=True):
    """Part of a transaction: an item must satisfy a condition."""

    schema: EntitySchema[Any]
    key: Item
    exists: bool
    condition: Condition | None = None
    failure: ExplainFailure | None = None

    def failing_as(self, failure: ExplainFailure) -> Check:
        """The same check, whose failed condition is explained in other terms."""
        return replace(self, failure=failure)

    def action(self, context: Context) -> TransactAction:
        """The action that is sent."""
        guard = present(self.schema, context) if self.exists else vacant(self.schema, context)
        condition = both(guard, self.condition) or guard
        return ConditionCheck(self.schema.table.name, self.key, condition, on_failure_item=True)

    def explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        """The failed condition in terms of this check."""
        current = live_entity(self.schema, error.item, context)
        failed = condition_false(self.schema, error.item, current)
        explained = missing(self.schema, error.item) if current is None else failed
        return explained if self.failure is None else self.failure(explained)


def put(entity: E) -> Put[E]:
    """Write a whole entity, whether or not it is stored already. With a version, only over the version it has."""
    schema = _schema_of(entity, "put")
    return Put(schema, entity, expected=version_of(schema, entity))


def insert(entity: E) -> Put[E]:
    """Write an entity that must not be stored yet."""
    schema = _schema_of(entity, "insert")
    version = version_of(schema, entity)
    if version:
        raise OperationError(f"This {schema.name} has version {version}, so it is stored already.", hint="Use put().")
    return Put(schema, entity, expected=version, only_new=True)


def update(at: E | Get[E], *changes: Change) -> Update[E]:
    """Change fields of a stored item, named by an entity (guarded by its version) or by a get pattern.

    `update(task, f(Task.title).set("…"))` or `update(task_by_id("u1", "t1"), f(Task.title).set("…"))`
    """
    if isinstance(at, Get):
        known = dict(zip(at.schema.primary.inputs, at.values, strict=True))
        operation = Update(at.schema, at.key, known, changes)
    else:
        schema = _schema_of(at, "update")
        known = {field: getattr(at, field) for field in schema.primary.inputs}
        operation = Update(schema, schema.key(at), known, changes, at)
    check_changes(operation.schema, changes)
    return operation


def delete(at: E | Get[E]) -> Delete[E]:
    """Delete a stored item, named by an entity (guarded by its version) or by a get pattern."""
    if isinstance(at, Get):
        return Delete(at.schema, at.key)
    schema = _schema_of(at, "delete")
    return Delete(schema, schema.key(at), version_of(schema, at))


def _schema_of(entity: E, verb: str) -> EntitySchema[E]:
    if entity is None:
        hint = "A get gives None where there is no item."
        raise OperationError(f"There is nothing to {verb}: None was given.", hint=hint)
    return schema_of(type(entity))


def check(at: Get[Any], condition: Condition | None = None) -> Check:
    """Part of a transaction: the item must exist and satisfy the condition."""
    if condition is not None:
        at.schema.check_condition(condition)
    return Check(at.schema, at.key, exists=True, condition=condition)


def absent(at: Get[Any]) -> Check:
    """Part of a transaction: there must be no such item."""
    return Check(at.schema, at.key, exists=False)
