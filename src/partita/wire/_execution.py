"""Selects the store of a call by its region, and checks policies before each request."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from partita.store import Request, Store
from partita.store.embedded import READS
from partita.wire._access import PolicyGuard
from partita.wire._faults import Fault
from partita.wire._parameters import DEFAULT_REGION, Requests

RegionStore: TypeAlias = Callable[[str], Store]
"""Opens the store of a region that has not been used before."""

MAX_REGIONS: Final = 64
_REAL_REGION: Final = re.compile(r"[a-z]{2,3}(-[a-z]+)+-\d{1,2}")


class RegionStores:
    """One store per region, opened at its first use; the default region uses the store passed to the constructor."""

    def __init__(self, home: Store, open_store: RegionStore) -> None:
        self._open = open_store
        self._stores: dict[str, Store] = {DEFAULT_REGION: home}

    def of(self, region: str) -> Store:
        """The store of a region.

        Raises:
            Fault: the region does not exist, or too many are open.
        """
        if region not in self._stores:
            if not _REAL_REGION.fullmatch(region):
                raise Fault("UnrecognizedClientException", f"There is no region {region} here.")
            if len(self._stores) >= MAX_REGIONS:
                raise Fault("LimitExceededException", f"This server has {MAX_REGIONS} regions open, and opens no more.")
            self._stores[region] = self._open(region)
        return self._stores[region]

    def close(self) -> None:
        """Close the stores that were opened here."""
        for region, store in self._stores.items():
            if region != DEFAULT_REGION:
                store.close()


class LocatedRequest(Request[Any], frozen=True):
    """A request, with the store that executes it."""

    store: Any
    request: Any


class Execution:
    """Executes the requests of one call: reads immediately; writes are yielded to the caller, which awaits them."""

    __slots__ = ("_guard", "_operation", "_region", "_store")

    def __init__(self, store: Store, guard: PolicyGuard | None, region: str, operation: str) -> None:
        self._store = store
        self._guard = guard
        self._region = region
        self._operation = operation

    def __call__(self, request: Request[Any]) -> Requests[Any]:
        """Execute a read; yield a write with its store."""
        if self._guard is not None:
            self._guard.check(self._store, self._region, self._operation, request)
        if type(request) in READS:
            return self._store.execute(request)
        return (yield LocatedRequest(self._store, request))
