"""Leases: one holder at a time, for a time, with a number that rises whenever the holder changes.

class WorkerLease(LeaseRecord, table=TABLE):
    primary: ClassVar = Key("LEASE#{name}", "LEASE")

LEASES = Leases(WorkerLease)

lease = db.run(LEASES.acquire("sweeper", owner="worker-1", duration=timedelta(seconds=30)))
db.transact(update(task, …), LEASES.check(lease))     # only while nobody else has the lease
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Final, Generic, TypeVar

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
"""The clocks of two machines may differ by so much, or by the longest lease, if that is shorter."""

L = TypeVar("L", bound="LeaseRecord")


class LeaseRecord(Entity):
    """Who holds a lease. Subclass it with a table and a key of `name`. It is kept, so that its number never falls."""

    name: str
    owner: str | None = None
    """Who holds it: something that no two holders share. None when it was released."""
    fence: int = 0
    """One more with every acquisition; who has a lower number has been overtaken."""
    until_ms: int = 0
    """When it runs out, in milliseconds since the epoch."""


class Leases(Generic[L]):
    """Leases kept in an entity of the user's."""

    def __init__(self, record: type[L], *, longest: timedelta = LONGEST) -> None:
        """Declare that leases are kept in `record`.

        Args:
            record: the entity.
            longest: no lease may be held for longer at a time. One that ends further ahead, and by more than clocks
                may differ (an hour, or `longest` again), was taken while a clock was wrong: anybody may take it.

        Raises:
            ModelError: the key is not the name, or a lease could expire by TTL and start again at number 1.
        """
        self._schema = schema_of(record)
        self._longest = longest
        check_complete(self._schema, LeaseRecord)
        _check_kept(self._schema)
        self._by_name: Callable[[str], Get[L]] = get(
            record, name=f"{snake(self._schema.name)}_by_name", doc="Who holds a lease.", parameters=["name"]
        )
        declare_operation(self._schema, "acquire", "A lease is taken.", UpdateItem)
        declare_operation(self._schema, "renew", "A lease is held for longer.", UpdateItem)
        declare_operation(self._schema, "release", "A lease is given back.", UpdateItem)
        declare_operation(self._schema, "check", "A lease is still its holder's.", ConditionCheck)

    def acquire(self, name: str, *, owner: str, duration: timedelta) -> Acquire[L]:
        """Take a lease that nobody holds, or whose time has run out. An owner may take its own again.

        Raises:
            LeaseHeld: someone else has it, and its time has not run out. OperationError: the time is too long.
        """
        self._check_length(duration)
        return Acquire(self._schema, self._by_name(name), name, owner, duration, self._longest)

    def renew(self, lease: L, *, duration: timedelta) -> Renew[L]:
        """Hold a lease for longer, from now on.

        Raises:
            LeaseLost: someone else has it now. OperationError: the time is too long.
        """
        self._check_length(duration)
        return Renew(self._schema, self._by_name(lease.name), lease, duration)

    def _check_length(self, duration: timedelta) -> None:
        if duration > self._longest:
            hint = "Renew it in time, or say `longest` where the leases are declared."
            raise OperationError(f"A lease can be held for {self._longest} at a time, not {duration}.", hint=hint)

    def release(self, lease: L) -> Update[L]:
        """Give a lease back before its time.

        Raises:
            LeaseLost: someone else has it now.
        """
        record = self._schema.cls
        change = update(self._by_name(lease.name), f(record.owner).remove(), f(record.until_ms).set(0))
        return change.when(_held_as(lease)).labelled(f"{self._schema.name}.release").failing_as(_lost)

    def check(self, lease: L) -> Check:
        """Part of a transaction: nobody else has taken the lease, and it was not released."""
        return check(self._by_name(lease.name), _held_as(lease)).failing_as(_lost)

    def holder(self, name: str) -> Get[L]:
        """Who holds a lease; None where nobody ever did. Look at `owner` and `until_ms`."""
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
        """The name where no access pattern was declared."""
        return f"{self.schema.name}.acquire"

    def requests(self, context: Context) -> Requests[L]:
        """One update, which makes the item where there is none."""
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
    """Hold a lease for longer."""

    schema: EntitySchema[L]
    at: Get[L]
    lease: L
    duration: timedelta

    def default_name(self) -> str:
        """The name where no access pattern was declared."""
        return f"{self.schema.name}.renew"

    def requests(self, context: Context) -> Requests[L]:
        """One update, if the lease is still the holder's."""
        until = _milliseconds(context.clock()) + _length(self.duration)
        change = update(self.at, f(self.schema.cls.until_ms).set(until)).when(_held_as(self.lease))
        return (yield from change.failing_as(_lost).requests(context))


def _held_as(lease: LeaseRecord) -> Condition:
    # The number alone would still be right after a release, and the owner alone after it acquired again.
    if lease.owner is None:
        raise LeaseLost("The lease was released.", current=lease)
    record = type(lease)
    return all_of(f(record.owner).eq(lease.owner), f(record.fence).eq(lease.fence))


def _lost(error: ConditionFailed) -> LeaseLost:
    return LeaseLost("The lease is not yours any more.", item=error.item, current=error.current)


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000)


def _length(duration: timedelta) -> int:
    return duration // timedelta(milliseconds=1)


def _check_kept(schema: EntitySchema[L]) -> None:
    if schema.expires is not None:
        message = f"{schema.name} has the TTL {schema.expires!r}, but a lease is kept for good."
        raise ModelError(message, owner=schema.cls, hint="A new item would start again at number 1.")
    if schema.secondary or schema.version is not None:
        raise ModelError(f"{schema.name} is found by its name alone, without index or version.", owner=schema.cls)
