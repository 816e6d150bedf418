"""Names of tables by stage or tenant: a model declares `orders`, a store holds `dev-orders`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from partita.errors import OperationError

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{3,255}")
_PREFIX: Final = re.compile(r"[A-Za-z0-9_.-]{0,252}")


class TableNames(Struct, frozen=True):
    """What the declared tables are called in a store. No two of them ever have one name there.

    | made with | `orders` is stored as |
    | --- | --- |
    | `TableNames(prefix="dev-")` | `dev-orders` |
    | `TableNames({"orders": "orders-2024"})` | `orders-2024`; any other table is refused |
    | `TableNames({"users": "people"}, prefix="dev-")` | `dev-orders`; the prefix is for all that are not named |
    """

    names: Mapping[str, str] = {}
    """The stored name of each declared one."""
    prefix: str | None = None
    """What stands before the names of all other tables; `""` leaves them as they are, None refuses them."""

    def __post_init__(self) -> None:
        """Check the names.

        Raises:
            OperationError: there are none, one cannot be a name in DynamoDB, or two tables would have one name.
        """
        _check(self.names, self.prefix)

    def stored(self, declared: str) -> str:
        """What a declared table is called in the store.

        Raises:
            OperationError: it has no name there, or another table has that name.
        """
        own = self.names.get(declared)
        if own is not None:
            return own
        if self.prefix is None:
            hint = f"It names {', '.join(self.names)}. Add it there, or give a prefix for all others."
            raise OperationError(f"The table {declared!r} is not in the mapping of names.", hint=hint)
        name = self.prefix + declared
        if name in self.names.values():
            raise _twins(declared, next(other for other, taken in self.names.items() if taken == name), name)
        return name

    def declared(self, stored: str) -> str | None:
        """The declared table that has a name in the store; None where it is not one of these."""
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
        raise OperationError("Neither names of tables nor a prefix are given.", hint='Write TableNames(prefix="dev-").')
    if prefix is not None and not _PREFIX.fullmatch(prefix):
        raise OperationError(f"{prefix!r} cannot begin the name of a table.", hint="Use A-Z, a-z, 0-9, _, - and .")
    owners: dict[str, str] = {}
    for declared, stored in names.items():
        if not _NAME.fullmatch(stored):
            hint = "Use 3 to 255 of A-Z, a-z, 0-9, _, - and ."
            raise OperationError(f"{stored!r} is not a name for the table {declared!r}.", hint=hint)
        if owners.setdefault(stored, declared) != declared:
            raise _twins(declared, owners[stored], stored)


def _twins(one: str, other: str, stored: str) -> OperationError:
    message = f"The tables {one!r} and {other!r} would both be stored as {stored!r}."
    return OperationError(message, hint="Give each table a name of its own.")
