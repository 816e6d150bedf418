"""Planning a new version: the instant from which it is valid, and the writes of its transaction."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Generic, TypeVar

from msgspec import Struct

from partita.errors import AlreadyExists, ConditionFailed, OperationError
from partita.model import EntitySchema, f
from partita.operations import (
    Action,
    Context,
    Get,
    Operation,
    Procedure,
    Requests,
    Transaction,
    Update,
    conflict,
    insert,
    update,
)
from partita.recipes.history._revisions import Revision, differences
from partita.recipes.idempotency import Plan
from partita.recipes.unique import Claim, Take, Unique
from partita.store import ItemResponse, TransactAction

V = TypeVar("V", bound=Revision)

_TICK: Final = timedelta(microseconds=1)


class Planning(Operation[Plan[V]], Generic[V], frozen=True):
    """Compute a new version and its writes. This reads the claims on values that change owners, but writes nothing."""

    schema: EntitySchema[V]
    claim_on: Callable[[str, str], Get[Any]]
    unique: tuple[Unique[V], ...]
    write: Callable[[Plan[V]], Transaction]
    previous: V | None
    content: V
    at: datetime | None = None
    """The instant from which the version is valid, if not now: for imported histories."""
    author: str | None = None
    reason: str | None = None

    def default_name(self) -> str:
        """The name if no access pattern was declared."""
        return f"{self.schema.name}.plan"

    def run(self) -> Procedure[V]:
        """Plan the version and write it.

        Raises:
            VersionConflict: another writer was first.
            AlreadyExists: the thing to create already has a version.
            UniqueTaken: another thing has a unique value.
        """
        plan = yield from self
        return (yield from plan.run())

    def requests(self, context: Context) -> Requests[Plan[V]]:
        """Read the claims to take, and choose an instant after all earlier versions and claims."""
        previous = self.previous
        if previous is not None and differences(previous, self.content) == ():
            return Plan(previous)
        instant = self._not_before(context)
        for claim in self._to_take():
            response: ItemResponse = yield claim.request()
            found = claim.result(response.item, context)
            if found is not None and found.freed is not None:
                instant = max(instant, found.freed + _TICK)
        return self._written(instant, datetime.fromtimestamp(context.clock(), UTC))

    def _not_before(self, context: Context) -> datetime:
        now = datetime.fromtimestamp(context.clock(), UTC)
        if self.at is not None and self.at > now:
            raise OperationError(f"{self.at.isoformat()} is in the future; a version is valid from now or earlier.")
        wanted = self.at or now
        return wanted if self.previous is None else max(wanted, self.previous.created + _TICK)

    def _to_take(self) -> list[Get[Claim]]:
        after, before = self._current(self.content), self._current(self.previous)
        if after is None:
            return []
        changed = [field for field in self.unique if before is None or field.value(before) != field.value(after)]
        values = [(field, field.value(after)) for field in changed]
        return [field.claim(value).consistent() for field, value in values if value is not None]

    def _current(self, version: V | None) -> V | None:
        return None if version is None or version.deleted else version

    def _written(self, instant: datetime, now: datetime) -> Plan[V]:
        listing, is_gone = self.content.listing(), self.content.deleted
        settled = {
            "number": 1 if self.previous is None else self.previous.number + 1,
            "created": instant,
            "expires": None,
            "listed": None if is_gone else listing,
            "retired": listing if is_gone else None,
            "author": self.author,
            "reason": self.reason,
            "written": now,
        }
        version = self.content.model_copy(update=settled)
        first = self._opening(version) if self.previous is None else self._closing(self.previous, instant)
        planned = Plan(version, first, insert(version), *self._claims(instant))
        return Plan(version, self.write(planned))

    def _opening(self, version: V) -> Action:
        key = str(self.schema.key(version)[self.schema.primary.hash_names[0]])
        return _Begin(Take(self.claim_on(self.schema.name, key), key), self.schema.name)

    def _closing(self, previous: V, instant: datetime) -> Action:
        cls = self.schema.cls
        closed = update(previous, f(cls.expires).set(instant), f(cls.listed).remove(), f(cls.retired).remove())
        return _Close(closed.when(f(cls.expires).missing()))

    def _claims(self, instant: datetime) -> list[Action]:
        before, after = self._current(self.previous), self._current(self.content)
        claims: list[Action] = []
        for field in self.unique:
            if before is not None and after is not None:
                claims += field.move(before, after, at=instant)
            elif before is not None:
                claims += field.release(before, at=instant)
            elif after is not None:
                claims += field.take(after, at=instant)
        return claims


class _Begin(Struct, frozen=True):
    """Part of a transaction: a thing has its first version."""

    take: Take
    name: str

    def action(self, context: Context) -> TransactAction:
        """The put of the claim."""
        return self.take.action(context)

    def explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:  # noqa: ARG002 - one signature
        """The error if the thing was already created."""
        return AlreadyExists(f"This {self.name} already exists.", item=error.item, hint="Revise or restore it.")


class _Close(Struct, Generic[V], frozen=True):
    """Part of a transaction: the previous version is closed."""

    update: Update[V]

    def action(self, context: Context) -> TransactAction:
        """The update to send, on the condition that the version is still open."""
        return self.update.action(context)

    def explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:  # noqa: ARG002 - one signature
        """The error if another writer closed the version first; `current` is the closed version."""
        schema = self.update.schema
        return conflict(schema, error.item, None if error.item is None else schema.entity(error.item))
