"""Table names by stage or tenant: a model declares `orders`, the store holds `dev-orders`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from partita.errors import OperationError

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{3,255}")
_PREFIX: Final = re.compile(r"[A-Za-z0-9_.-]{0,252}")


class TableNames(Struct, frozen=True):
    """The names of the declared tables in a store. No two tables ever share a name there.

    | created with | `orders` is stored as |
    | --- | --- |
    | `TableNames(prefix="dev-")` | `dev-orders` |
    | `TableNames({"orders": "orders-2024"})` | `orders-2024`; any other table is refused |
    | `TableNames({"users": "people"}, prefix="dev-")` | `dev-orders`; the prefix applies to tables without a mapping |
    """

    names: Mapping[str, str] = {}
    """The stored name of each declared table that has a mapping."""
    prefix: str | None = None
    """The prefix of the names of all other tables; `""` leaves their names unchanged, None refuses these tables."""

    def __post_init__(self) -> None:
        """Check the names.

        Raises:
            OperationError: no names are given, one is not valid in DynamoDB, or two tables would share a name.
        """
        _check(self.names, self.prefix)

    def stored(self, declared: str) -> str:
        """The name of a declared table in the store.

        Raises:
            OperationError: the table has no name there, or another table has that name.
        """
        own = self.names.get(declared)
        if own is not None:
            return own
        if self.prefix is None:
            hint = f"It contains {', '.join(self.names)}. Add the table, or set a prefix for all others."
            raise OperationError(f"The table {declared!r} is not in the mapping of names.", hint=hint)
        name = self.prefix + declared
        if name in self.names.values():
            raise _twins(declared, next(other for other, taken in self.names.items() if taken == name), name)
        return name

    def declared(self, stored: str) -> str | None:
        """The declared name of a stored table; None if no declared table is stored under that name."""
        for declared, name in self.names.items():
            if name == stored:
                return declared
        if self.prefix is None or not stored.startswith(self.prefix):
            return None
        declared = stored.removeprefix(self.prefix)
        return declared if declared and declared not in self.names else None

    @property
    def changes_nothing(self) -> bool:
        """Whether every table is stored under its declared name."""
        return self.prefix == "" and all(declared == stored for declared, stored in self.names.items())


def _check(names: Mapping[str, str], prefix: str | None) -> None:
    if not names and prefix is None:
        raise OperationError("Neither table names nor a prefix are given.", hint='Use TableNames(prefix="dev-").')
    if prefix is not None and not _PREFIX.fullmatch(prefix):
        raise OperationError(f"{prefix!r} is not a valid prefix of table names.", hint="Use A-Z, a-z, 0-9, _, - and .")
    owners: dict[str, str] = {}
    for declared, stored in names.items():
        if not _NAME.fullmatch(stored):
            hint = "Use 3 to 255 characters of A-Z, a-z, 0-9, _, - and ."
            raise OperationError(f"{stored!r} is not a valid name for the table {declared!r}.", hint=hint)
        if owners.setdefault(stored, declared) != declared:
            raise _twins(declared, owners[stored], stored)


def _twins(one: str, other: str, stored: str) -> OperationError:
    message = f"The tables {one!r} and {other!r} would both be stored as {stored!r}."
    return OperationError(message, hint="Give each table its own name.")
