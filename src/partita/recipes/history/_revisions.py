"""Versions of a thing, as they are stored and compared."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from msgspec import Struct

from partita.model import Entity

UNWRITTEN: Final = datetime(1, 1, 1, tzinfo=UTC)
"""When a version was created that is not stored yet."""

OWN_FIELDS: Final = frozenset(
    ("number", "created", "expires", "deleted", "listed", "retired", "author", "reason", "written")
)
"""The fields of a version that the history sets, and nobody else."""


class Revision(Entity):
    """One version of something. Subclass it with a table and a key whose sort key is `created`, all else its own."""

    number: int = 0
    """Which version of the thing it is, counted from 1; 0 means not stored yet."""
    created: datetime = UNWRITTEN
    """The instant from which it holds; given by the history, and strictly rising for each thing."""
    expires: datetime | None = None
    """The instant from which it does not hold any more; absent while the version is open."""
    deleted: bool = False
    listed: str | None = None
    """What `listing` gives, while the version is open and not deleted: for the key of an index of what is current."""

    retired: str | None = None
    """What `listing` gives, while the version is open and deleted: for the key of an index of what is gone."""
    author: str | None = None
    """Who wrote it, where that was said."""
    reason: str | None = None
    """Why, where that was said."""
    written: datetime | None = None
    """When it was written. It may hold from an earlier instant, where the history comes from elsewhere."""

    def listing(self) -> str | None:
        """The text under which the version is listed while it is open; None where there is no such index."""
        return None

    def holds_at(self, instant: datetime) -> bool:
        """Whether this is the version of that instant."""
        return self.created <= instant and (self.expires is None or instant < self.expires)


class FieldDifference(Struct, frozen=True):
    """One field in which two versions differ."""

    field: str
    before: Any
    after: Any


def differences(before: Revision, after: Revision) -> tuple[FieldDifference, ...]:
    """The fields in which the content of two versions differs, instants aside."""
    names = [name for name in type(before).model_fields if name not in OWN_FIELDS or name == "deleted"]
    pairs = [(name, getattr(before, name), getattr(after, name)) for name in names]
    return tuple(FieldDifference(name, old, new) for name, old, new in pairs if old != new)
