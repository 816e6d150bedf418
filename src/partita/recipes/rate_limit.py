"""Rate limits: a token bucket for each caller, kept in the store, so that all processes share it.

class CallerBucket(RateBucket, table=TABLE):
    primary: ClassVar = Key("RATE#{caller}", "BUCKET")

LIMITS = RateLimits(CallerBucket, Rate(burst=600, per_second=100))

db.run(LIMITS.take("ann"))     # RateLimited where the bucket has not enough left

A bucket is one number: when it will be full again. To take tokens moves that time on, and it may lie no further ahead
than filling an empty bucket takes. So nothing has to be read before, and takes of several processes add up.

    empty ──────────────── full              the bucket of a caller who has taken 200 of 600, at 100 a second:
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
"""Instants are in microseconds, so that rates of many a second are exact enough."""


class Rate(Struct, frozen=True):
    """How much may be taken: `burst` at once, and `per_second` in the long run."""

    burst: int
    per_second: float

    def __post_init__(self) -> None:
        """Refuse a rate that lets nothing through.

        Raises:
            ModelError: one of the figures is not above zero, or not finite.
        """
        if self.burst < 1 or not 0 < self.per_second < math.inf:
            raise ModelError(f"A rate has a burst of 1 or more, and more than 0 per second, not {self}.")

    def __str__(self) -> str:
        return f"{self.burst}/{self.per_second:g}"

    def microseconds(self, tokens: int) -> int:
        """How long it takes until so many tokens have come back."""
        return math.ceil(tokens * _SECOND / self.per_second)


class RateBucket(Entity):
    """What one caller has taken. Subclass it with a table that has a TTL, and a key of `caller`."""

    in_lake: ClassVar = False

    caller: str
    full_at: int
    """When it is full again, in microseconds since the epoch."""
    ttl: int


class RateLimits(Generic[B]):
    """Buckets kept in an entity of the user's, all of one rate."""

    def __init__(self, record: type[B], rate: Rate) -> None:
        """Declare that buckets are kept in `record`.

        Raises:
            ModelError: the key is not the caller alone, or the item would not expire.
        """
        self.rate = rate
        self._schema = schema_of(record)
        check_complete(self._schema, RateBucket)
        check_expires(self._schema)
        _check_key(self._schema)
        declare_operation(self._schema, "take", "Tokens are taken from a caller's bucket.", UpdateItem)

    def at(self, rate: Rate) -> Self:
        """The same buckets with another rate."""
        other = copy(self)
        other.rate = rate
        return other

    def take(self, caller: str, tokens: int = 1) -> Take[B]:
        """Take tokens from a caller's bucket, all or none.

        Raises:
            RateLimited: the bucket has not enough left; `retry_after` says in how many seconds it has.
            OperationError: no bucket of this rate ever has so many, or none were asked for.
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
        """One small item is written."""
        return Wcu(1)

    def requests(self, context: Context) -> Requests[None]:
        """One update of a bucket that is full, or else another one that adds to what is missing."""
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
        """A change of the bucket, which expires once it is sure to be full."""
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
    """When the bucket that was met is full again."""
    return int((failed.item or {}).get(schema.attribute("full_at"), unknown))


def _check_key(schema: EntitySchema[B]) -> None:
    if schema.primary.fields != ("caller",):
        message = f"{schema.name} is found by its caller alone, not by {schema.primary}."
        raise ModelError(message, owner=schema.cls, hint='Declare Key("RATE#{caller}", "BUCKET").')
    if schema.secondary or schema.version is not None:
        raise ModelError(f"{schema.name} has neither indexes nor a version.", owner=schema.cls)
