"""Rate limits: a token bucket for each caller, stored so that all processes share it.

class CallerBucket(RateBucket, table=TABLE):
    primary: ClassVar = Key("RATE#{caller}", "BUCKET")

LIMITS = RateLimits(CallerBucket, Rate(burst=600, per_second=100))

db.run(LIMITS.take("ann"))     # RateLimited if the bucket does not contain enough

A bucket is one number: the time at which it will be full again. Taking tokens moves that time forward, and it may be no
further ahead than the time to fill an empty bucket. So nothing has to be read first, and takes of several processes
add up.

    empty ──────────────── full              the bucket of a caller that took 200 of 600, at 100 per second:
    now ── full_at ─────── now + 6 s         full_at is 2 s ahead, and up to 4 s more can be taken
"""

from __future__ import annotations

import math
from copy import copy
from typing import Any, ClassVar, Final, Generic, Self, TypeVar

from msgspec import Struct

from partita.errors import ConditionFailed, ModelError, OperationError, RateLimited
from partita.expressions import Condition
from partita.model import Budget, Change, Entity, EntitySchema, Wcu, any_of, f, schema_of, to_update
from partita.operations import Context, Operation, Requests
from partita.patterns import declare_operation
from partita.recipes.records import check_complete, check_expires
from partita.store import UpdateItem

__all__ = ["Rate", "RateBucket", "RateLimits", "Take"]

B = TypeVar("B", bound="RateBucket")

_SECOND: Final = 1_000_000
"""Instants are in microseconds, so that high rates are exact enough."""


class Rate(Struct, frozen=True):
    """The allowed rate: `burst` tokens at once, and `per_second` in the long run."""

    burst: int
    per_second: float

    def __post_init__(self) -> None:
        """Refuse a rate that allows nothing.

        Raises:
            ModelError: one of the numbers is not positive, or not finite.
        """
        if self.burst < 1 or not 0 < self.per_second < math.inf:
            raise ModelError(f"A rate needs a burst of 1 or more, and more than 0 per second, not {self}.")

    def __str__(self) -> str:
        return f"{self.burst}/{self.per_second:g}"

    def microseconds(self, tokens: int) -> int:
        """The time in which this many tokens are refilled."""
        return math.ceil(tokens * _SECOND / self.per_second)


class RateBucket(Entity):
    """The bucket of one caller. Subclass it with a table that has a TTL, and a key of `caller`."""

    in_lake: ClassVar = False

    caller: str
    full_at: int
    """When it is full again, in microseconds since the epoch."""
    ttl: int


class RateLimits(Generic[B]):
    """Buckets stored in an entity of the application, all with the same rate."""

    def __init__(self, record: type[B], rate: Rate) -> None:
        """Declare that buckets are stored in `record`.

        Raises:
            ModelError: the key is not the caller alone, or the item would not expire.
        """
        self.rate = rate
        self._schema = schema_of(record)
        check_complete(self._schema, RateBucket)
        check_expires(self._schema)
        _check_key(self._schema)
        declare_operation(self._schema, "take", "Take tokens from a caller's bucket.", UpdateItem)

    def at(self, rate: Rate) -> Self:
        """The same buckets with another rate."""
        other = copy(self)
        other.rate = rate
        return other

    def take(self, caller: str, tokens: int = 1) -> Take[B]:
        """Take tokens from a caller's bucket, all or none.

        Raises:
            RateLimited: the bucket does not contain enough; `retry_after` is the number of seconds until it does.
            OperationError: the number is less than 1, or more than the burst of the rate.
        """
        if not 1 <= tokens <= self.rate.burst:
            raise OperationError(f"1 to {self.rate.burst} tokens can be taken at once, not {tokens}.")
        return Take(self._schema, self.rate, caller, tokens)


class Take(Operation[None], Generic[B], frozen=True):
    """Take tokens from a caller's bucket."""

    schema: EntitySchema[B]
    rate: Rate
    caller: str
    tokens: int

    def default_name(self) -> str:
        """The name in metrics and policies."""
        return f"{self.schema.name}.take"

    def default_budget(self) -> Budget:
        """The budget of writing one small item."""
        return Wcu(1)

    def requests(self, context: Context) -> Requests[None]:
        """Send one update for a full bucket; if the bucket is not full, send another that adds to `full_at`."""
        record, now = self.schema.cls, int(context.clock() * _SECOND)
        cost = self.rate.microseconds(self.tokens)
        latest = now + self.rate.microseconds(self.rate.burst) - cost
        is_full = any_of(f(record.full_at).missing(), f(record.full_at).le(now))
        has_enough = any_of(f(record.full_at).missing(), f(record.full_at).le(latest))
        try:
            yield self._update(now, f(record.full_at).set(now + cost), is_full)
        except ConditionFailed as taken:
            if _full_at(taken, self.schema, now) > latest:
                raise self._refused(taken, latest) from taken
            try:
                yield self._update(now, f(record.full_at).add(cost), has_enough)
            except ConditionFailed as overtaken:
                raise self._refused(overtaken, latest) from overtaken

    def _update(self, now: int, change: Change, condition: Condition) -> UpdateItem:
        """The update of the bucket, with an expiry after the time at which it is certainly full."""
        record = self.schema.cls
        expires = (now + self.rate.microseconds(self.rate.burst)) // _SECOND + 1
        changes = (f(record.caller).set(self.caller), f(record.ttl).set(expires), change)
        key = self.schema.key(record(caller=self.caller, full_at=now, ttl=expires))
        return UpdateItem(self.schema.table.name, key, to_update(changes), condition, on_failure_item=True)

    def _refused(self, failed: ConditionFailed, latest: int) -> RateLimited:
        wait = _full_at(failed, self.schema, latest + self.rate.microseconds(self.tokens)) - latest
        return RateLimited(
            f"That is more than {self.rate.burst} at once, or {self.rate.per_second:g} a second.",
            retry_after=wait / _SECOND,
            item=failed.item,
        )


def _full_at(failed: ConditionFailed, schema: EntitySchema[Any], unknown: int) -> int:
    """The time at which the bucket in the failure is full again."""
    return int((failed.item or {}).get(schema.attribute("full_at"), unknown))


def _check_key(schema: EntitySchema[B]) -> None:
    if schema.primary.fields != ("caller",):
        message = f"{schema.name}: its key must be the caller alone, not {schema.primary}."
        raise ModelError(message, owner=schema.cls, hint='Declare Key("RATE#{caller}", "BUCKET").')
    if schema.secondary or schema.version is not None:
        raise ModelError(f"{schema.name} must have neither indexes nor a version.", owner=schema.cls)
