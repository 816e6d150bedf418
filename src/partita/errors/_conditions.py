"""Errors of conditions that were false."""

from __future__ import annotations

import math
from typing import Any, Final, TypeAlias

from partita.errors._requests import RequestError

Item: TypeAlias = dict[str, Any] | None
"""The stored item, if the request asked for it."""

_SHORT: Final = 10
"""Shorter waits are told in tenths of a second."""


class ConditionFailed(RequestError, code="condition_failed"):
    """A condition was false, so nothing was written.

    `item` is the stored item as plain attributes, if the request asked for it;
    `current` is the same item as an entity, if the operation knows its entity.
    """

    def __init__(
        self, message: str = "The conditional request failed", *, item: Item = None, current: Any = None, hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.item = item
        self.current = current


class AlreadyExists(ConditionFailed, code="already_exists"):
    """The item to insert exists already."""


class UniqueTaken(AlreadyExists, code="unique_taken"):
    """Another item has the value of a unique field; `owner` identifies that item."""

    hint = "Choose another value."

    def __init__(self, field: str, value: str, *, owner: str | None, item: dict[str, Any] | None = None) -> None:
        super().__init__(f"The {field} {value!r} is taken.", item=item)
        self.field = field
        self.value = value
        self.owner = owner


class ItemMissing(ConditionFailed, code="item_missing"):
    """The item to update or check does not exist, or has expired."""


class LimitReached(ConditionFailed, code="limit_reached"):
    """A bounded counter would leave its bounds; `remaining` is how far it can still be moved."""

    def __init__(self, message: str, *, remaining: int, item: Item = None, current: Any = None) -> None:
        super().__init__(message, item=item, current=current)
        self.remaining = remaining


class RateLimited(ConditionFailed, code="rate_limited"):
    """More was requested than a rate allows; `retry_after` is the number of seconds until enough is available."""

    def __init__(self, message: str, *, retry_after: float, item: Item = None, current: Any = None) -> None:
        super().__init__(message, item=item, current=current)
        self.hint = f"Try again in {_seconds(retry_after)}."
        self.retry_after = retry_after


def _seconds(wait: float) -> str:
    """A time in words, rounded up: to tenths of a second below ten seconds, otherwise to seconds."""
    rounded = math.ceil(wait * 10) / 10 if wait <= _SHORT else math.ceil(wait)
    return "1 second" if rounded == 1 else f"{rounded:,.15g} seconds"


class VersionConflict(ConditionFailed, code="version_conflict"):
    """Another writer was first; `current` is what it wrote."""

    hint = "Read the item again, apply the change to it, and retry the write."


class IllegalTransition(ConditionFailed, code="illegal_transition"):
    """The state of an item does not allow the transition; `current` is the item."""


class LeaseHeld(ConditionFailed, code="lease_held"):
    """Someone else holds the lease; `current` is the lease."""

    hint = "Try again after the lease has expired."


class LeaseLost(ConditionFailed, code="lease_lost"):
    """The lease was released, or someone else has it now; `current` is the lease."""

    hint = "Stop the work, and acquire the lease again."
