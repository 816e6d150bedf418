"""Leases: one holder at a time, for a limited time, with a fencing number that rises when the holder changes.

class WorkerLease(LeaseRecord, table=TABLE):
    primary: ClassVar = Key("LEASE#{name}", "LEASE")

LEASES = Leases(WorkerLease)

lease = db.run(LEASES.acquire("sweeper", owner="worker-1", duration=timedelta(seconds=30)))
db.transact(update(task, …), LEASES.check(lease))     # only while no other owner has the lease
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import ClassVar, Final, Generic, TypeVar

from partita.errors import ConditionFailed, LeaseHeld, LeaseLost, ModelError, OperationError
from partita.expressions import Condition
from partita.model import Entity, EntitySchema, all_of, any_of, f, schema_of, snake, to_update
from partita.operations import Check, Context, Get, Operation, Requests, Update, check, update
from partita.patterns import declare_operation, get
from partita.recipes.records import check_complete
from partita.store import ConditionCheck, UpdateItem, WriteResponse

__all__ = ["Acquire", "LeaseRecord", "Leases", "Renew"]

LONGEST: Final = timedelta(hours=12)
SKEW: Final = timedelta(hours=1)
"""The clocks of two machines may differ by this much, or by the longest lease if that is shorter."""

L = TypeVar("L", bound="LeaseRecord")


class LeaseRecord(Entity):
    """The holder of a lease. Subclass it with a table and a key of `name`. It is kept, so `fence` never decreases."""

    in_lake: ClassVar = False

    name: str
    owner: str | None = None
    """The holder, by an identifier that no two holders share. None if it was released."""
    fence: int = 0
    """Incremented by every acquisition; a holder with a lower number has been superseded."""
    until_ms: int = 0
    """When it expires, in milliseconds since the epoch."""


class Leases(Generic[L]):
    """Leases stored in an entity of the application."""

    def __init__(self, record: type[L], *, longest: timedelta = LONGEST) -> None:
        """Declare that leases are stored in `record`.

        Args:
            record: the entity.
            longest: the longest duration of a lease. A lease that ends later than this from now, by more than clocks
                may differ (an hour, or `longest` again), was acquired while a clock was wrong: any owner may take it.

        Raises:
            ModelError: the key is not the name, or a lease could expire by TTL and start again at number 1.
        """
        self._schema = schema_of(record)
        self._longest = longest
        check_complete(self._schema, LeaseRecord)
        _check_kept(self._schema)
        self._by_name: Callable[[str], Get[L]] = get(
            record, name=f"{snake(self._schema.name)}_by_name", doc="The holder of a lease.", parameters=["name"]
        )
        declare_operation(self._schema, "acquire", "Take a lease.", UpdateItem)
        declare_operation(self._schema, "renew", "Extend a lease.", UpdateItem)
        declare_operation(self._schema, "release", "Release a lease.", UpdateItem)
        declare_operation(self._schema, "check", "Check that a lease still has its holder.", ConditionCheck)

    def acquire(self, name: str, *, owner: str, duration: timedelta) -> Acquire[L]:
        """Take a lease that is free or has expired. An owner may take its own lease again.

        Raises:
            LeaseHeld: another owner has it, and it has not expired. OperationError: the duration is too long.
        """
        self._check_length(duration)
        return Acquire(self._schema, self._by_name(name), name, owner, duration, self._longest)

    def renew(self, lease: L, *, duration: timedelta) -> Renew[L]:
        """Extend a lease by a duration from now.

        Raises:
            LeaseLost: another owner has it now. OperationError: the duration is too long.
        """
        self._check_length(duration)
        return Renew(self._schema, self._by_name(lease.name), lease, duration)

    def _check_length(self, duration: timedelta) -> None:
        if duration > self._longest:
            hint = "Renew it in time, or set `longest` in the declaration of the leases."
            raise OperationError(f"A lease can be held for {self._longest} at a time, not {duration}.", hint=hint)

    def release(self, lease: L) -> Update[L]:
        """Release a lease before it expires.

        Raises:
            LeaseLost: another owner has it now.
        """
        record = self._schema.cls
        change = update(self._by_name(lease.name), f(record.owner).remove(), f(record.until_ms).set(0))
        return change.when(_held_as(lease)).labelled(f"{self._schema.name}.release").failing_as(_lost)

    def check(self, lease: L) -> Check:
        """Part of a transaction: no other owner has taken the lease, and it was not released."""
        return check(self._by_name(lease.name), _held_as(lease)).failing_as(_lost)

    def holder(self, name: str) -> Get[L]:
        """The holder of a lease, in `owner` and `until_ms`; None if it was never taken."""
        return self._by_name(name)


class Acquire(Operation[L], Generic[L], frozen=True):
    """Take a lease, and raise its number."""

    schema: EntitySchema[L]
    at: Get[L]
    lease: str
    owner: str
    duration: timedelta
    longest: timedelta

    def default_name(self) -> str:
        """The name if no access pattern was declared."""
        return f"{self.schema.name}.acquire"

    def requests(self, context: Context) -> Requests[L]:
        """Send one update, which creates the item if there is none."""
        record, now = self.schema.cls, _milliseconds(context.clock())
        changes = (
            f(record.name).set(self.lease),
            f(record.owner).set(self.owner),
            f(record.until_ms).set(now + _length(self.duration)),
            f(record.fence).add(1),
        )
        impossible = now + _length(self.longest + min(self.longest, SKEW))
        free = any_of(
            f(record.name).missing(),
            f(record.until_ms).le(now),
            f(record.until_ms).gt(impossible),
            f(record.owner).eq(self.owner),
        )
        request = UpdateItem(
            self.schema.table.name, self.at.key, to_update(changes), free, returns="ALL_NEW", on_failure_item=True
        )
        try:
            response: WriteResponse = yield request
        except ConditionFailed as error:
            current = self.schema.entity(error.item or {})
            message = f"{current.owner} holds the lease {self.lease!r}."
            raise LeaseHeld(message, item=error.item, current=current) from error
        return self.schema.entity(response.attributes or {})


class Renew(Operation[L], Generic[L], frozen=True):
    """Extend a lease."""

    schema: EntitySchema[L]
    at: Get[L]
    lease: L
    duration: timedelta

    def default_name(self) -> str:
        """The name if no access pattern was declared."""
        return f"{self.schema.name}.renew"

    def requests(self, context: Context) -> Requests[L]:
        """Send one update, conditional on the lease still having its holder."""
        until = _milliseconds(context.clock()) + _length(self.duration)
        change = update(self.at, f(self.schema.cls.until_ms).set(until)).when(_held_as(self.lease))
        return (yield from change.failing_as(_lost).requests(context))


def _held_as(lease: LeaseRecord) -> Condition:
    # The number alone would still match after a release, and the owner alone after it acquired the lease again.
    if lease.owner is None:
        raise LeaseLost("The lease was released.", current=lease)
    record = type(lease)
    return all_of(f(record.owner).eq(lease.owner), f(record.fence).eq(lease.fence))


def _lost(error: ConditionFailed) -> LeaseLost:
    return LeaseLost("Another owner has the lease now, or it was released.", item=error.item, current=error.current)


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000)


def _length(duration: timedelta) -> int:
    return duration // timedelta(milliseconds=1)


def _check_kept(schema: EntitySchema[L]) -> None:
    if schema.expires is not None:
        message = f"{schema.name} has the TTL {schema.expires!r}, but leases must never expire."
        raise ModelError(message, owner=schema.cls, hint="Remove the TTL: a new item would start again at number 1.")
    if schema.secondary or schema.version is not None:
        raise ModelError(f"{schema.name} must have neither indexes nor a version.", owner=schema.cls)
