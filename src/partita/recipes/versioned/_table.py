"""Versioned tables: bookkeeping separate from domain data, optimistic locking, and lazy migrations.

A stored item is flat: the entity's own attributes and derived keys, and in addition

    data_version   the schema version of the attributes; older ones are migrated when they are read
    last_write     milliseconds since the epoch, strictly rising; every write is conditional on the previous value
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Generic, ParamSpec, Self, TypeVar
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from partita.errors import AlreadyExists, ConditionFailed, ModelError, OperationError, VersionConflict
from partita.expressions import both
from partita.model import Change, Entity, Table, schema_of
from partita.operations import Context, Get, Operation, Procedure, Put, Requests, check_changes, missing
from partita.patterns import Pattern, declare_operation
from partita.recipes.versioned._adjust import VersionedAdjust
from partita.recipes.versioned._form import Versioned, VersionedForm, milliseconds
from partita.recipes.versioned._migrations import Migrations, newer
from partita.store import DeleteItem, GetItem, ItemResponse, PutItem
from partita.values import Item

__all__ = [
    "Versioned",
    "VersionedDelete",
    "VersionedInsert",
    "VersionedRead",
    "VersionedTable",
    "VersionedUpdate",
    "versioned_tables",
]

P = ParamSpec("P")
E = TypeVar("E", bound=Entity)


class VersionedRead(Operation[Versioned[E] | None], Generic[E], frozen=True):
    """Read one versioned item; None if there is none."""

    sends = (GetItem,)

    form: VersionedForm[E]
    get: Get[E]

    def default_name(self) -> str:
        """The name if no access pattern was declared."""
        return f"{self.form.schema.name}.{'read_strong' if self.get.is_consistent else 'read'}"

    def requests(self, context: Context) -> Requests[Versioned[E] | None]:
        """Read the item, and migrate old data."""
        response: ItemResponse = yield self.get.request()
        return self.form.live(response.item, context)


class _VersionedWrite(Operation[Versioned[E]], Generic[E], frozen=True):
    sends = (PutItem,)

    form: VersionedForm[E]
    now: float | None = None
    """The time of the write; None for the session's clock when it runs."""

    def at(self, now: float) -> Self:
        """The same write at a given time, so that the stored item is known before a transaction runs."""
        return replace(self, now=now)

    def saved(self, now: float) -> Versioned[E]:
        """The stored data if it is written at that time."""
        raise NotImplementedError

    def action(self, context: Context) -> PutItem:
        """The request to send, alone or in a transaction."""
        raise NotImplementedError

    def explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        """The failed condition in terms of this write."""
        raise NotImplementedError

    def time(self, context: Context) -> float:
        """The time of the write."""
        return context.clock() if self.now is None else self.now

    def requests(self, context: Context) -> Requests[Versioned[E]]:
        """Send the request; the result is the stored data."""
        write = self.at(self.time(context))
        try:
            yield write.action(context)
        except ConditionFailed as error:
            raise write.explain(error, context) from error
        return write.saved(write.time(context))


class VersionedInsert(_VersionedWrite[E], Generic[E], frozen=True, kw_only=True):
    """Write data that must not be stored yet."""

    data: E

    def saved(self, now: float) -> Versioned[E]:
        """The stored data if it is written at that time."""
        return Versioned(self.data, self.form.data_version, milliseconds(now))

    def default_name(self) -> str:
        """The name if no access pattern was declared."""
        return f"{self.form.schema.name}.insert"

    def action(self, context: Context) -> PutItem:
        """The request to send, alone or in a transaction."""
        request = Put(self.form.schema, self.data, only_new=True).action(context)
        return replace(request, item=self.form.item(self.saved(self.time(context))))

    def explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        """The failed condition in terms of this write."""
        current = self.form.live(error.item, context)
        return AlreadyExists(f"This {self.form.schema.name} already exists.", item=error.item, current=current)


class VersionedUpdate(_VersionedWrite[E], Generic[E], frozen=True, kw_only=True):
    """Write data over the version that was read. Never retries."""

    versioned: Versioned[E]

    def saved(self, now: float) -> Versioned[E]:
        """The stored data if it is written at that time."""
        last_write = max(milliseconds(now), self.versioned.last_write + 1)
        return replace(self.versioned, data_version=self.form.data_version, last_write=last_write)

    def default_name(self) -> str:
        """The name if no access pattern was declared."""
        return f"{self.form.schema.name}.update"

    def action(self, context: Context) -> PutItem:
        """The request to send, alone or in a transaction."""
        item = self.form.item(self.saved(self.time(context)))
        condition = both(self.form.follows(self.versioned.last_write), self.form.schema.unexpired(context.clock()))
        return PutItem(self.form.schema.table.name, item, condition, on_failure_item=True)

    def explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        """The failed condition in terms of this write."""
        return self.form.failure(error, context)


class VersionedDelete(Operation[None], Generic[E], frozen=True):
    """Delete the version that was read."""

    sends = (DeleteItem,)

    form: VersionedForm[E]
    key: Item
    last_write: int

    def default_name(self) -> str:
        """The name if no access pattern was declared."""
        return f"{self.form.schema.name}.delete"

    def action(self, context: Context) -> DeleteItem:
        """The request to send, alone or in a transaction."""
        condition = both(self.form.follows(self.last_write), self.form.schema.unexpired(context.clock()))
        return DeleteItem(self.form.schema.table.name, self.key, condition, on_failure_item=True)

    def explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        """The failed condition in terms of this delete."""
        return self.form.failure(error, context)

    def requests(self, context: Context) -> Requests[None]:
        """Send the request."""
        try:
            yield self.action(context)
        except ConditionFailed as error:
            raise self.explain(error, context) from error


class VersionedTable(Generic[P, E]):
    """Reads and writes of one entity whose items contain their schema version and the time of their last write.

    accounts = VersionedTable(account_by_pk, data_version=1, example=AccountData(pk="a1", name="Ada", balance=0))

    All of its operations are values, and all of its writes may be part of `transact()`.
    """

    def __init__(
        self,
        get: Callable[P, Get[E]],
        *,
        data_version: int,
        example: E,
        migrations: Migrations = Migrations(),  # noqa: B008 - a frozen value
    ) -> None:
        """Declare a versioned table.

        Args:
            get: the access pattern that reads one item.
            data_version: the current schema version of the entity; raise it if stored items would no longer fit.
            example: realistic data; its item is kept with the schema snapshot, to prove that it can always be read.
            migrations: the steps from every older data version to this one.

        Raises:
            ModelError: the migrations do not lead to the data version, or the entity has fields of the same names.
        """
        schema = schema_of(type(example))
        pattern = getattr(get, "pattern", None)
        if not isinstance(pattern, Pattern) or pattern.entity is not schema:
            hint = f"Pass the function that @get({schema.name}) decorates."
            raise ModelError(
                f"{get!r} is not an access pattern that gets a {schema.name}.", owner=schema.cls, hint=hint
            )
        self.form = VersionedForm(schema, data_version, migrations)
        self.example = example
        self._get = get
        declared = _DECLARED.setdefault(schema.table, [])
        if any(other.form.schema is schema for other in declared):
            hint = "Declare it once, and import it."
            raise ModelError(f"{schema.name} has two versioned tables.", owner=schema.cls, hint=hint)
        declared.append(self)
        declare_operation(schema, "read_strong", "Read an item that is being changed, again.", GetItem)
        declare_operation(schema, "update", "Write a changed item.", PutItem)

    def __repr__(self) -> str:
        return f"<versioned table of {self.form.schema.name}>"

    def read(self, *args: P.args, **kwargs: P.kwargs) -> VersionedRead[E]:
        """Read one item, eventually consistent."""
        get = self._get(*args, **kwargs)
        return VersionedRead(self.form, get, pattern=get.pattern)

    def read_strong(self, *args: P.args, **kwargs: P.kwargs) -> VersionedRead[E]:
        """Read one item, strongly consistent, at twice the cost."""
        get = self._get(*args, **kwargs)
        return VersionedRead(self.form, get.consistent())

    def insert(self, data: E) -> VersionedInsert[E]:
        """Write data that must not be stored yet; otherwise raise `AlreadyExists`.

        Raises:
            OperationError: the data is not of this table's entity.
        """
        self._check(data)
        return VersionedInsert(form=self.form, data=data)

    def update(self, versioned: Versioned[E]) -> VersionedUpdate[E]:
        """Write data over the version that was read; otherwise raise `VersionConflict` with the stored version.

        Raises:
            DataNewer: the data has a version that this code does not know.
            OperationError: the data is not of this table's entity.
        """
        self._check_versioned(versioned)
        self._check(versioned.data)
        if versioned.data_version > self.form.data_version:
            item = self.form.schema.item(versioned.data)
            raise newer(item, versioned.data_version, self.form.data_version)
        return VersionedUpdate(form=self.form, versioned=versioned)

    def _check_versioned(self, versioned: object) -> None:
        """Refuse data without its bookkeeping, and None from a read."""
        if not isinstance(versioned, Versioned):
            name = self.form.schema.name
            hint = "Pass what read() returns, or with_data(…) of it; read() returns None if there is no item."
            raise OperationError(f"{type(versioned).__name__} is not a Versioned[{name}].", hint=hint)

    def _check(self, data: object) -> None:
        """Refuse other data, such as None from a function that returns nothing, or an entity of another version."""
        if type(data) is not self.form.schema.cls:
            hint = 'Pass or return the entity, such as data.model_copy(update={"name": "Ada"}).'
            raise OperationError(f"{data!r:.60} is not data of {self.form.schema.name}.", hint=hint)

    def over(self, last_write: int, data: E) -> Versioned[E]:
        """Data to write over the version with this `last_write`, for a caller that knows it without a read."""
        return Versioned(data, self.form.data_version, last_write)

    def adjust(self, versioned: Versioned[E], *changes: Change, since: int | None = None) -> VersionedAdjust[E]:
        """Change fields relative to their stored values, such as adding an amount, whoever wrote the item last.

        Args:
            versioned: the item as it was read.
            changes: the changes to the stored item.
            since: the first data version in which the fields have their current meaning; by default the current one.
                An item stored in an older version is refused (`ConditionFailed`).

        Raises:
            OperationError: there is no change, a key field would change, or a field is of another entity.
        """
        schema = self.form.schema
        self._check_versioned(versioned)
        check_changes(schema, changes)
        in_keys = {schema.attribute(field) for key in schema.keys.values() for field in key.fields}
        for change in changes:
            if change.path.parts[0] in in_keys:
                message = f"{schema.name}.{change.path.parts[0]} is part of a key."
                raise OperationError(message, hint="Read the item, and write it with update().")
        first = self.form.data_version if since is None else since
        return VersionedAdjust(self.form, schema.key(versioned.data), versioned.last_write, changes, first)

    def delete(self, versioned: Versioned[E]) -> VersionedDelete[E]:
        """Delete the version that was read; otherwise raise `VersionConflict` with the stored version."""
        self._check_versioned(versioned)
        return VersionedDelete(self.form, self.form.schema.key(versioned.data), versioned.last_write)

    def delete_at(self, last_write: int, *args: P.args, **kwargs: P.kwargs) -> VersionedDelete[E]:
        """Delete an item by key without reading it, if `last_write` still has this value."""
        return VersionedDelete(self.form, self._get(*args, **kwargs).key, last_write)

    def change(self, mutate: Callable[[E], E], *args: P.args, **kwargs: P.kwargs) -> Procedure[Versioned[E]]:
        """Read, apply a function to the data, and write. If another writer was first, try once more on its version.

        Raises:
            ItemMissing: there is no item to change.
            VersionConflict: other writers were first both times; `current` is the stored version.
        """
        versioned = yield from self.read(*args, **kwargs)
        if versioned is not None:
            try:
                return (yield from self.update(versioned.with_data(mutate(versioned.data))))
            except VersionConflict:
                pass  # the version that was read is outdated
        versioned = yield from self.read_strong(*args, **kwargs)
        if versioned is None:
            raise missing(self.form.schema, None)
        return (yield from self.update(versioned.with_data(mutate(versioned.data))))


_DECLARED: Final[WeakKeyDictionary[Table, list[VersionedTable[..., Any]]]] = WeakKeyDictionary()


def versioned_tables(table: Table) -> tuple[VersionedTable[..., Any], ...]:
    """The versioned tables that were declared for entities of a table."""
    return tuple(_DECLARED.get(table, ()))
