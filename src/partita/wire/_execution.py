"""Which store executes the requests of a call, and who may make them: by region, and by policy."""

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
"""Opens the store of a region that was not asked for before."""

MAX_REGIONS: Final = 64
_REAL_REGION: Final = re.compile(r"[a-z]{2,3}(-[a-z]+)+-\d{1,2}")


class RegionStores:
    """One store for each region, opened when it is first asked for; the default region has the first."""

    def __init__(self, home: Store, open_store: RegionStore) -> None:
        self._open = open_store
        self._stores: dict[str, Store] = {DEFAULT_REGION: home}

    def of(self, region: str) -> Store:
        """The store of a region.

        Raises:
            Fault: there is no region of that name, or too many are open.
        """
        if region not in self._stores:
            if not _REAL_REGION.fullmatch(region) or len(self._stores) >= MAX_REGIONS:
                raise Fault("UnrecognizedClientException", f"There is no region {region} here.")
            self._stores[region] = self._open(region)
        return self._stores[region]

    def close(self) -> None:
        """Close what was opened here."""
        for region, store in self._stores.items():
            if region != DEFAULT_REGION:
                store.close()


class LocatedRequest(Request[Any], frozen=True):
    """A request together with the store that is to execute it."""

    store: Any
    request: Any


class Execution:
    """Executes the requests of one call: reads at once, and writes by those who await them."""

    __slots__ = ("_guard", "_operation", "_region", "_store")

    def __init__(self, store: Store, guard: PolicyGuard | None, region: str, operation: str) -> None:
        self._store = store
        self._guard = guard
        self._region = region
        self._operation = operation

    def __call__(self, request: Request[Any]) -> Requests[Any]:
        """Execute a read; pass a write on with its store."""
        if self._guard is not None:
            self._guard.check(self._store, self._region, self._operation, request)
        if type(request) in READS:
            return self._store.execute(request)
        return (yield LocatedRequest(self._store, request))
