"""Unique fields: a claim on each value, kept consistent by the transaction that writes its owner.

class UniqueClaim(Claim, table=TABLE):
    primary: ClassVar = Key("UNIQUE#{field}#{value}", "CLAIM")

@get(UniqueClaim, budget=Rcu(0.5))
def claim_on(field: str, value: str) -> None: ...

EMAIL = Unique(claim_on, User, f(User.email), owner=f(User.user_id), fold=str.casefold)
USERS = UniqueFields(EMAIL)

db.run(USERS.insert(user).run())                                 # UniqueTaken if another user has the address
db.run(USERS.update(user, f(User.email).set("…")).run())         # releases the old address and takes the new one
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, Generic, TypeVar

from msgspec import Struct

from partita.errors import ConditionFailed, ModelError, UniqueTaken, VersionConflict
from partita.expressions import Condition
from partita.model import Change, Entity, EntitySchema, Ref, all_of, any_of, f, schema_of
from partita.operations import Action, Context, Get, Put, bumped, delete, insert, update
from partita.recipes.idempotency import Plan
from partita.store import TransactAction

__all__ = ["Claim", "Release", "Take", "Unique", "UniqueFields"]

E = TypeVar("E", bound=Entity)

_UNCHANGED_OWNER: Final = "Name a field of its primary key, which never changes."


class Claim(Entity):
    """The owner of one value of one field. Subclass it with a table and a key of `field` and `value`."""

    field: str
    value: str
    owner: str | None = None
    """None: the value has been free since `freed`."""
    freed: datetime | None = None


class Unique(Generic[E]):
    """A field whose value no two items of the entity share."""

    def __init__(
        self,
        claim_on: Callable[[str, str], Get[Any]],
        entity: type[E],
        field: Ref[str] | Ref[str | None],
        *,
        owner: Ref[str],
        fold: Callable[[str], str] = str,
    ) -> None:
        """Declare a unique field.

        Args:
            claim_on: the declared `@get` of a subclass of `Claim`.
            entity: the entity of the field.
            field: the field. None does not count as a value: any number of items may have it.
            owner: the field of its primary key that identifies the item in the claim.
            fold: normalizes values for the comparison, such as `str.casefold`.

        Raises:
            ModelError: a field is of another entity, the owner could change, or the claim is not a `Claim`.
        """
        schema = schema_of(entity)
        claims = claim_on("field", "value").schema
        if not issubclass(claims.cls, Claim) or set(claims.primary.fields) != {"field", "value"}:
            message = f"{claims.name} is not a Claim with a key of field and value."
            raise ModelError(message, hint="Declare class UniqueClaim(Claim, table=TABLE) with a Key of both.")
        self.field = _field_name(schema, field)
        self._owner = _field_name(schema, owner)
        if self._owner not in schema.primary.fields:
            message = f"{schema.name}.{self._owner} could change, so it cannot name the owner of a claim."
            raise ModelError(message, owner=entity, hint=_UNCHANGED_OWNER)
        self.schema = schema
        self._claim_on = claim_on
        self._fold = fold

    def value(self, entity: E) -> str | None:
        """The entity's value, normalized for the comparison."""
        value = getattr(entity, self.field)
        return None if value is None else self._fold(value)

    def claim(self, value: str) -> Get[Any]:
        """A read of the claim on a value, which names its owner."""
        return self._claim_on(self.field, self._fold(value))

    def take(self, entity: E, *, at: datetime | None = None) -> tuple[Action, ...]:
        """The actions that take the entity's value. With an instant, also a value that was freed before it."""
        value = self.value(entity)
        return () if value is None else (Take(self._claim_on(self.field, value), getattr(entity, self._owner), at),)

    def release(self, entity: E, *, at: datetime | None = None) -> tuple[Action, ...]:
        """The actions that free the entity's value. With an instant, the claim is kept and stores the instant."""
        value = self.value(entity)
        return () if value is None else (Release(self._claim_on(self.field, value), getattr(entity, self._owner), at),)

    def move(self, before: E, after: E, *, at: datetime | None = None) -> tuple[Action, ...]:
        """The actions on the claims after a change of the entity; none if the value stays the same."""
        if self.value(before) == self.value(after):
            return ()
        return (*self.release(before, at=at), *self.take(after, at=at))


class UniqueFields(Generic[E]):
    """Writes an entity together with the claims of all its unique fields."""

    def __init__(self, first: Unique[E], *others: Unique[E]) -> None:
        """Declare all unique fields of one entity.

        Raises:
            ModelError: the entity has no version, so a change from an outdated copy would not be detected.
        """
        self.fields = (first, *others)
        schema = first.schema
        if schema.version is None:
            raise ModelError(f"{schema.name} has no version.", owner=schema.cls, hint="Add version: Version = 0.")
        self._schema = schema

    def insert(self, entity: E) -> Plan[E]:
        """Write a new entity and take its values."""
        write: Put[E] = insert(entity)
        return Plan(write.saved, write, *(action for field in self.fields for action in field.take(entity)))

    def update(self, entity: E, *changes: Change) -> Plan[E]:
        """Change a stored entity, free its old values and take the new ones."""
        after = entity.with_changes(*changes)
        claims = (action for field in self.fields for action in field.move(entity, after))
        return Plan(bumped(self._schema, after), update(entity, *changes), *claims)

    def delete(self, entity: E) -> Plan[E]:
        """Delete a stored entity and free its values."""
        return Plan(entity, delete(entity), *(action for field in self.fields for action in field.release(entity)))


class Take(Struct, frozen=True):
    """Part of a transaction: the owner takes a value."""

    claim: Get[Any]
    owner: str
    at: datetime | None = None

    def action(self, context: Context) -> TransactAction:
        """The put to send, on the condition that the value is free."""
        field, value = _named(self.claim)
        claimed: type[Claim] = self.claim.schema.cls
        return Put(
            self.claim.schema, claimed(field=field, value=value, owner=self.owner), condition=self._free(claimed)
        ).action(context)

    def _free(self, claimed: type[Claim]) -> Condition:
        unknown = f(claimed.field).missing()
        if self.at is None:
            return unknown
        return any_of(unknown, all_of(f(claimed.owner).missing(), f(claimed.freed).lt(self.at)))

    def explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:  # noqa: ARG002 - one signature
        """The error that names the owner of the value, or states that it became free only at a later instant."""
        field, value = _named(self.claim)
        current: Claim | None = None if error.item is None else self.claim.schema.entity(error.item)
        if current is not None and current.owner is None:
            return VersionConflict(f"The {field} {value!r} was freed just now.", item=error.item, current=current)
        return UniqueTaken(field, value, owner=current.owner if current else None, item=error.item)


class Release(Struct, frozen=True):
    """Part of a transaction: a value becomes free."""

    claim: Get[Any]
    owner: str
    at: datetime | None = None

    def action(self, context: Context) -> TransactAction:
        """The delete to send, or the update that keeps the claim with the instant of its release."""
        claimed: type[Claim] = self.claim.schema.cls
        held = f(claimed.owner).eq(self.owner)
        if self.at is None:
            return delete(self.claim).when(held).action(context)
        freed = update(self.claim, f(claimed.owner).remove(), f(claimed.freed).set(self.at))
        return freed.when(held).action(context)

    def explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:  # noqa: ARG002 - one signature
        """The error if another writer changed the owner's value in the meantime."""
        field, value = _named(self.claim)
        return VersionConflict(f"The {field} is no longer {value!r}.", item=error.item)


def _named(claim: Get[Any]) -> tuple[str, str]:
    values = dict(zip(claim.schema.primary.inputs, claim.values, strict=True))
    return values["field"], values["value"]


def _field_name(schema: EntitySchema[Any], ref: Ref[Any]) -> str:
    name = schema.fields.get(str(ref.path.parts[0]))
    if name is None or len(ref.path.parts) > 1:
        raise ModelError(f"{schema.name} has no field {ref}.", owner=schema.cls, hint="Name a field of the entity.")
    return name
