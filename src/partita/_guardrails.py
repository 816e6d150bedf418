"""Guardrails: what a request must not be, checked before it is sent.

A guardrail is a function of the operation and its request that raises a `GuardrailError`. Each is listed under
the kind of request that it looks at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from partita.errors import LimitExceeded, ScanRefused
from partita.operations._operation import Operation
from partita.store._requests import QueryTable, ScanTable

Guardrail: TypeAlias = Callable[[Operation[Any], Any], None]
Guardrails: TypeAlias = Mapping[type, tuple[Guardrail, ...]]


def no_scan(operation: Operation[Any], request: ScanTable) -> None:
    """Refuse scans: a request path reads by key."""
    raise ScanRefused(f"{operation.name} scans the table {request.table!r}.")


def bounded_read(operation: Operation[Any], request: QueryTable | ScanTable) -> None:
    """Refuse a read of many items without a limit."""
    if request.limit is None:
        raise LimitExceeded(f"{operation.name} reads without a limit.", hint="Use page(), first(), walk() or count().")


REQUEST_PATH: Guardrails = MappingProxyType({QueryTable: (bounded_read,), ScanTable: (no_scan,)})
"""The guardrails of an ordinary session."""

MAINTENANCE: Guardrails = MappingProxyType({QueryTable: (bounded_read,), ScanTable: (bounded_read,)})
"""The guardrails of a maintenance session, which may scan."""
