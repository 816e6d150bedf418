"""Guardrails: checks of a request before it is sent.

A guardrail is a function of the operation and its request that raises a `GuardrailError`. Each is registered for the
type of request that it checks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, get_args

from partita.errors import GuardrailError, LimitExceeded, ScanRefused, UnclaimedItem
from partita.operations import Operation, UnclaimedItems
from partita.patterns import parts_of
from partita.store import DataRequest, QueryTable, Request, ScanTable, SearchVectors

Guardrail: TypeAlias = Callable[[Operation[Any], Any], None]
Guardrails: TypeAlias = Mapping[type, tuple[Guardrail, ...]]


def no_scan(operation: Operation[Any], request: ScanTable) -> None:
    """Refuse scans: ordinary requests read by key."""
    raise ScanRefused(f"{operation.name} scans the table {request.table!r}.")


def bounded_read(operation: Operation[Any], request: QueryTable | ScanTable) -> None:
    """Refuse a read of many items without a limit."""
    if request.limit is None:
        raise LimitExceeded(f"{operation.name} reads without a limit.", hint="Use page(), first(), walk() or count().")


def as_declared(operation: Operation[Any], request: Request[Any]) -> None:
    """Refuse a request that the access pattern does not declare: in production, its role would not allow it."""
    declared = operation.pattern.sends if operation.pattern is not None else None
    if not declared:
        return
    allowed = {(permission.action, permission.table.name, permission.index) for permission in declared}
    for part in parts_of(request):
        if (part.action, part.table, part.index) not in allowed:
            where = f"the index {part.index!r} of {part.table!r}" if part.index else f"{part.table!r}"
            message = f"{operation.name} sends a {part.action} to {where}, which it does not declare."
            raise GuardrailError(message, hint="Declare it with @pattern(via=…) or @pattern(writes=…).")


def no_unclaimed(operation: Operation[Any], found: UnclaimedItems) -> None:
    """Refuse items that no declared entity claims: the model does not cover everything that is stored."""
    message = f"{operation.name} found {found.count} items in {found.table!r} that no declared entity claims."
    raise UnclaimedItem(message, example=found.example)


REQUEST_PATH: Final[Guardrails] = {QueryTable: (bounded_read,), ScanTable: (no_scan,)}
"""The guardrails of an ordinary session."""

STRICT: Final[Guardrails] = {
    **{kind: (*REQUEST_PATH.get(kind, ()), as_declared) for kind in (*get_args(DataRequest), SearchVectors)},
    UnclaimedItems: (no_unclaimed,),
}
"""The guardrails of a strict session, as in tests."""

MAINTENANCE: Final[Guardrails] = {QueryTable: (bounded_read,), ScanTable: (bounded_read,)}
"""The guardrails of a maintenance session, which may scan."""
