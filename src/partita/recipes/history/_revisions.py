"""The stored form of a thing's versions, and their comparison."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from msgspec import Struct

from partita.model import Entity

UNWRITTEN: Final = datetime(1, 1, 1, tzinfo=UTC)
"""The creation instant of a version that is not stored yet."""

OWN_FIELDS: Final = frozenset(
    ("number", "created", "expires", "deleted", "listed", "retired", "author", "reason", "written")
)
"""The fields of a version that only the history sets."""


class Revision(Entity):
    """One version of a thing. Subclass it with a table, a key whose sort key is `created`, and fields of your own."""

    number: int = 0
    """The number of the version, counted from 1; 0 means not stored yet."""
    created: datetime = UNWRITTEN
    """The instant from which it is valid; set by the history, and strictly increasing for each thing."""
    expires: datetime | None = None
    """The instant from which it is no longer valid; absent while the version is open."""
    deleted: bool = False
    listed: str | None = None
    """The result of `listing` while the version is open and not deleted: for the key of an index of current things."""

    retired: str | None = None
    """The result of `listing` while the version is open and deleted: for the key of an index of deleted things."""
    author: str | None = None
    """Who wrote it, if given."""
    reason: str | None = None
    """Why it was written, if given."""
    written: datetime | None = None
    """When it was written. It may be valid from an earlier instant if the history was imported."""

    def listing(self) -> str | None:
        """The string under which the version is listed in an index while it is open; None for no listing."""
        return None

    def holds_at(self, instant: datetime) -> bool:
        """Whether this version is valid at that instant."""
        return self.created <= instant and (self.expires is None or instant < self.expires)


class FieldDifference(Struct, frozen=True):
    """One field in which two versions differ."""

    field: str
    before: Any
    after: Any


def differences(before: Revision, after: Revision) -> tuple[FieldDifference, ...]:
    """The fields in which the content of two versions differs, apart from the fields that the history sets."""
    names = [name for name in type(before).model_fields if name not in OWN_FIELDS or name == "deleted"]
    pairs = [(name, getattr(before, name), getattr(after, name)) for name in names]
    return tuple(FieldDifference(name, old, new) for name, old, new in pairs if old != new)
