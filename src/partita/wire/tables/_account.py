"""The limits of an account, and operations with a fixed response."""

from __future__ import annotations

from typing import Final

from partita.store import Json
from partita.wire._parameters import Operation, Parameters, Requests


def fixed(body: Json) -> Operation:
    """Return an operation that always has this response."""

    def operation(_: Parameters) -> Requests[Json]:
        return body
        yield  # a generator that makes no requests

    return operation


LIMITS: Final = {
    "AccountMaxReadCapacityUnits": 80_000,
    "AccountMaxWriteCapacityUnits": 80_000,
    "TableMaxReadCapacityUnits": 40_000,
    "TableMaxWriteCapacityUnits": 40_000,
}
