"""The cost of a run on AWS, measured on an embedded store, which charges like AWS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeVar

from msgspec import Struct
from tests.fidelity._probe import Probe, run_probe
from tests.fidelity._targets import served

from partita import EmbeddedStore
from partita.store import Capacity, Request

R = TypeVar("R")

READ_DOLLARS: Final = 0.125e-6
WRITE_DOLLARS: Final = 0.625e-6
"""On-demand prices of a unit in us-east-1; some regions charge up to 1.6 times as much."""


class Cost(Struct, frozen=True):
    """The request units of a run, and the number of tables and calls."""

    read: float
    write: float
    tables: int
    calls: int

    @property
    def dollars(self) -> float:
        """The price of the request units."""
        return self.read * READ_DOLLARS + self.write * WRITE_DOLLARS


class _MeteredStore(EmbeddedStore):
    """A store in memory that adds up the capacity that its responses report."""

    def __init__(self) -> None:
        super().__init__(":memory:")
        self.read = self.write = 0.0
        self.tables = 0

    def execute(self, request: Request[R]) -> R:
        """Execute the request, and add up its capacity."""
        response = super().execute(request)
        self._add(request, response)
        return response

    async def execute_async(self, request: Request[R]) -> R:
        """Execute the request, and add up its capacity."""
        response = await super().execute_async(request)
        if type(request).__name__ not in _COUNTED_AS_READS:
            self._add(request, response)
        return response

    def _add(self, request: Request[Any], response: Any) -> None:
        self.tables += type(request).__name__ == "CreateTable"
        capacity = getattr(response, "capacity", ())
        for part in (capacity,) if isinstance(capacity, Capacity) else capacity:
            self.read += part.total_read
            self.write += part.total_write


_COUNTED_AS_READS: Final = ("GetItem", "BatchGetItem", "TransactGetItems", "QueryTable", "ScanTable")
"""Requests that `execute_async` passes to `execute`, which has counted them already."""


def forecast(probes: Sequence[Probe]) -> Cost:
    """Return the cost of these probes."""
    with _MeteredStore() as store:
        with served(store) as api:
            for each in probes:
                run_probe(each, api)
        return Cost(store.read, store.write, store.tables, api.calls)
