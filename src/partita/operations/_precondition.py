"""Requirements of a caller on the version that a write replaces."""

from __future__ import annotations

from msgspec import Struct


class Precondition(Struct, frozen=True):
    """Which versions of an item a write may replace, according to its caller.

    Precondition(frozenset({3, 4}))              version 3 or 4
    Precondition(frozenset({3}), negated=True)   any but version 3; also if there is no item yet
    Precondition()                               any version, as long as there is an item
    Precondition(negated=True)                   only if there is no item yet
    """

    versions: frozenset[int] | None = None
    """The named versions; None: every version that an item can have."""
    negated: bool = False
    """Whether the item must have none of these versions instead of one of them."""

    def allows(self, version: int | None) -> bool:
        """Whether a write may replace this version; None stands for an item that does not exist."""
        is_named = version is not None and (self.versions is None or version in self.versions)
        return is_named is not self.negated
