"""Guardrails: what a request must not be, checked before it is sent.

A guardrail is a function of the operation and its request that raises a `GuardrailError`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from partita.errors import LimitExceeded, ScanRefused
from partita.operations._operation import Operation
from partita.store._requests import QueryTable, Request, ScanTable

Guardrail: TypeAlias = Callable[[Operation[Any], Request[Any]], None]


def no_scan(operation: Operation[Any], request: Request[Any]) -> None:
    """Refuse scans: a request path reads by key."""
    if type(request) is ScanTable:
        raise ScanRefused(f"{operation.name} scans the table {request.table!r}.")


def bounded_read(operation: Operation[Any], request: Request[Any]) -> None:
    """Refuse a query without a limit."""
    if type(request) is QueryTable and request.limit is None:
        raise LimitExceeded(f"{operation.name} reads without a limit.", hint="Use page(), first(), walk() or count().")


REQUEST_PATH: tuple[Guardrail, ...] = (no_scan, bounded_read)
"""The guardrails of an ordinary session."""

MAINTENANCE: tuple[Guardrail, ...] = (bounded_read,)
"""The guardrails of a maintenance session, which may scan."""
