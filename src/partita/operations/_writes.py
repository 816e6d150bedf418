"""Writing one item: put, insert, update and delete, with every derived key and the version kept right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from partita.errors import AlreadyExists, ConditionFailed, ItemMissing, OperationError, VersionConflict
from partita.expressions import And, Compare, Condition, Exists, Missing, Or, Path, Value, both, evaluate
from partita.model import Change, Entity, EntitySchema, schema_of
from partita.operations._get import Get
from partita.operations._index_keys import UpdatePlan, check_changes, plan_update
from partita.operations._operation import Context, Operation, Requests
from partita.store import ConditionCheck, DeleteItem, ItemResponse, PutItem, TransactAction, UpdateItem, WriteResponse
from partita.values import Item

E = TypeVar("E", bound=Entity)

MAX_REWRITES = 5


class Put(Operation[E], Generic[E], frozen=True):
    """Write a whole entity; the result is what was stored, with its new version."""

    sends = (PutItem,)

    schema: EntitySchema[E]
    entity: E
    expected: int | None = None
    """The version that must be stored now; 0 for none, None where the entity has no version."""
    only_new: bool = False
    condition: Condition | None = None

    @property
    def saved(self) -> E:
        """The entity as it will be stored."""
        return self.entity if self.expected is None else bumped(self.schema, self.entity)

    def when(self, condition: Condition) -> Put[E]:
        """The same write, only when the stored item satisfies the condition too."""
        self.schema.check_paths(condition)
        return replace(self, condition=both(self.condition, condition))

    def default_name(self) -> str:
        """The name where no access pattern was declared."""
        return f"{self.schema.name}.{'insert' if self.only_new else 'put'}"

    def action(self, context: Context) -> PutItem:
        """The request that is sent, alone or in a transaction."""
        condition = both(self._guard(context), self.condition)
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

    def explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        """The failed condition in terms of this write."""
        current = live_entity(self.schema, error.item, context)
        if self.only_new and current is not None:
            return AlreadyExists(f"This {self.schema.name} exists already.", item=error.item, current=current)
        if self.expected is not None and stored_version(self.schema, error.item) != self.expected:
            return conflict(self.schema, error.item, current)
        return ConditionFailed(item=error.item, current=current)

    def requests(self, context: Context) -> Requests[E]:
        """Send the request; a failed condition says what it means."""
        yield from send(self, self.action(context), context)
        return self.saved


class Delete(Operation[E | None], Generic[E], frozen=True):
    """Delete an item; the result is what was deleted, or None."""

    sends = (DeleteItem,)

    schema: EntitySchema[E]
    key: Item
    expected: int | None = None
    condition: Condition | None = None

    def when(self, condition: Condition) -> Delete[E]:
        """The same delete, only when the stored item satisfies the condition too."""
        self.schema.check_paths(condition)
        return replace(self, condition=both(self.condition, condition))

    def default_name(self) -> str:
        """The name where no access pattern was declared."""
        return f"{self.schema.name}.delete"

    def action(self, context: Context) -> DeleteItem:  # noqa: ARG002 - one signature for all writes
        """The request that is sent, alone or in a transaction."""
        guard = None if self.expected is None else version_is(self.schema, self.expected)
        condition = both(guard, self.condition)
        return DeleteItem(self.schema.table.name, self.key, condition, on_failure_item=condition is not None)

    def explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        """The failed condition in terms of this delete."""
        current = live_entity(self.schema, error.item, context)
        if current is None:
            return missing(self.schema, error.item)
        if self.expected is not None and stored_version(self.schema, error.item) != self.expected:
            return conflict(self.schema, error.item, current)
        return ConditionFailed(item=error.item, current=current)

    def requests(self, context: Context) -> Requests[E | None]:
        """Send the request, asking for the old item."""
        response = yield from send(self, replace(self.action(context), returns="ALL_OLD"), context)
        return live_entity(self.schema, response.attributes, context)


class Update(Operation[E], Generic[E], frozen=True):
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
    condition: Condition | None = None

    def when(self, condition: Condition) -> Update[E]:
        """The same update, only when the stored item satisfies the condition too."""
        self.schema.check_paths(condition)
        return replace(self, condition=both(self.condition, condition))

    def default_name(self) -> str:
        """The name where no access pattern was declared."""
        return f"{self.schema.name}.update"

    def plan(self) -> UpdatePlan | None:
        """The update with its index keys; None where the item must be read first."""
        return plan_update(self.schema, self.known, self.changes, self.entity)

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

    def explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        """The failed condition in terms of this update."""
        current = live_entity(self.schema, error.item, context)
        if current is None or error.item is None:
            return missing(self.schema, error.item)
        plan = self.plan()
        if plan is not None and plan.guard is not None and not evaluate(plan.guard, error.item):
            return conflict(self.schema, error.item, current)
        return ConditionFailed(item=error.item, current=current)

    def requests(self, context: Context) -> Requests[E]:
        """Send one request, or read first where an index key cannot be known."""
        if self.plan() is None:
            return (yield from self._read_then_write(context))
        request = replace(self.action(context), returns="ALL_NEW")
        response = yield from send(self, request, context)
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
                # Another writer changed what the index key depends on: take its item instead.
                tries -= 1
                if not tries:
                    raise


Write: TypeAlias = Put[Any] | Update[Any] | Delete[Any]


class Check(Struct, frozen=True):
    """Part of a transaction: an item must satisfy a condition."""

    schema: EntitySchema[Any]
    key: Item
    exists: bool
    condition: Condition | None = None

    def action(self, context: Context) -> TransactAction:
        """The action that is sent."""
        guard = present(self.schema, context) if self.exists else vacant(self.schema, context)
        condition = both(guard, self.condition) or guard
        return ConditionCheck(self.schema.table.name, self.key, condition, on_failure_item=True)

    def explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        """The failed condition in terms of this check."""
        current = live_entity(self.schema, error.item, context)
        return (
            missing(self.schema, error.item) if current is None else ConditionFailed(item=error.item, current=current)
        )


def put(entity: E) -> Put[E]:
    """Write a whole entity, whether or not it is stored already. With a version, only over the version it has."""
    schema = schema_of(type(entity))
    return Put(schema, entity, expected=version_of(schema, entity))


def insert(entity: E) -> Put[E]:
    """Write an entity that must not be stored yet."""
    schema = schema_of(type(entity))
    version = version_of(schema, entity)
    if version:
        raise OperationError(f"This {schema.name} has version {version}, so it is stored already.", hint="Use put().")
    return Put(schema, entity, expected=version, only_new=True)


def update(at: E | Get[E], *changes: Change) -> Update[E]:
    """Change fields of a stored item, named by an entity (guarded by its version) or by a get pattern.

    `update(task, f(Task.title).set("…"))` or `update(task_by_id("u1", "t1"), f(Task.title).set("…"))`
    """
    if isinstance(at, Get):
        known = dict(zip(at.schema.primary.fields, at.values, strict=True))
        operation = Update(at.schema, at.key, known, changes)
    else:
        schema = schema_of(type(at))
        known = {field: getattr(at, field) for field in schema.primary.fields}
        operation = Update(schema, schema.key(at), known, changes, at)
    check_changes(operation.schema, changes)
    return operation


def delete(at: E | Get[E]) -> Delete[E]:
    """Delete a stored item, named by an entity (guarded by its version) or by a get pattern."""
    if isinstance(at, Get):
        return Delete(at.schema, at.key)
    schema = schema_of(type(at))
    return Delete(schema, schema.key(at), version_of(schema, at))


def check(at: Get[Any], condition: Condition | None = None) -> Check:
    """Part of a transaction: the item must exist and satisfy the condition."""
    if condition is not None:
        at.schema.check_paths(condition)
    return Check(at.schema, at.key, exists=True, condition=condition)


def absent(at: Get[Any]) -> Check:
    """Part of a transaction: there must be no such item."""
    return Check(at.schema, at.key, exists=False)


def send(write: Write, request: PutItem | UpdateItem | DeleteItem, context: Context) -> Requests[WriteResponse]:
    """Send one write, and put a failed condition into its terms."""
    try:
        response: WriteResponse = yield request
    except ConditionFailed as error:
        raise write.explain(error, context) from error
    return response


def present(schema: EntitySchema[Any], context: Context) -> Condition:
    """The condition that the item exists and has not expired."""
    exists: Condition = Exists(Path((schema.primary.hash_attribute.name,)))
    return both(exists, schema.unexpired(context.clock())) or exists


def vacant(schema: EntitySchema[Any], context: Context) -> Condition:
    """The condition that there is no item; an expired one that is still stored does not count."""
    return _missing_or_expired(schema, schema.primary.hash_attribute.name, context)


def unversioned(schema: EntitySchema[Any], context: Context) -> Condition:
    """The condition that there is no item, or one from before its entity had a version."""
    return _missing_or_expired(schema, schema.attribute(schema.version or ""), context)


def _missing_or_expired(schema: EntitySchema[Any], attribute: str, context: Context) -> Condition:
    nothing: Condition = Missing(Path((attribute,)))
    expired = schema.expired(context.clock())
    return nothing if expired is None else Or((nothing, expired))


def version_of(schema: EntitySchema[Any], entity: Entity) -> int | None:
    """The version that an entity has; None where it has no version field."""
    return None if schema.version is None else getattr(entity, schema.version)


def bumped(schema: EntitySchema[E], entity: E) -> E:
    """The entity with its next version."""
    name = schema.version or ""
    return entity.model_copy(update={name: getattr(entity, name) + 1})


def version_is(schema: EntitySchema[Any], version: int) -> Condition:
    """The condition that the stored item has that version."""
    path = Path((schema.attribute(schema.version or ""),))
    if version:
        return Compare("=", path, Value(version))
    # 0 is what an item from before the field was declared reads as.
    return And((Exists(Path((schema.primary.hash_attribute.name,))), Missing(path)))


def stored_version(schema: EntitySchema[Any], item: Item | None) -> int:
    """The version of a stored item; 0 where there is none."""
    version = (item or {}).get(schema.attribute(schema.version or ""), 0)
    return version if isinstance(version, int) else 0


def live_entity(schema: EntitySchema[E], item: Item | None, context: Context) -> E | None:
    """The entity in a stored item, unless there is none or it has expired."""
    return None if item is None or not schema.live(item, context.clock()) else schema.entity(item)


def missing(schema: EntitySchema[Any], item: Item | None) -> ItemMissing:
    """The error for a write that needs an item where there is none."""
    return ItemMissing(f"There is no such {schema.name}.", item=item)


def conflict(schema: EntitySchema[Any], item: Item | None, current: Any) -> VersionConflict:
    """The error for a write that came second."""
    return VersionConflict(f"Another writer changed this {schema.name} first.", item=item, current=current)
