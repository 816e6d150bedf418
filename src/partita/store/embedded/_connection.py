"""The execution context of a request: a connection and its view of the catalog."""

from __future__ import annotations

from typing import Final

import apsw

from partita.runtime import Clock
from partita.store.embedded import _catalog
from partita.store.embedded._catalog import EMPTY
from partita.store.embedded._table import Table
from partita.store.embedded.vectors import VectorCache

_UNKNOWN: Final = -1


class Reader:
    """A connection with the catalog as seen by it, and a clock."""

    __slots__ = ("catalog", "clock", "connection", "vectors")

    def __init__(self, connection: apsw.Connection, clock: Clock, vectors: VectorCache | None = None) -> None:
        self.connection = connection
        self.clock = clock
        self.catalog = EMPTY
        self.vectors = VectorCache() if vectors is None else vectors

    def table(self, name: str) -> Table:
        """The table with that name; raises TableNotFound if it does not exist."""
        return self.catalog.tables[name]

    def refresh(self) -> None:
        """Reload the catalog if it has changed in the file."""
        if _catalog.generation(self.connection) != self.catalog.generation:
            with self.connection:  # so that all is read from one snapshot
                self.catalog = _catalog.load(self.connection)


class Writer(Reader):
    """The only connection that writes; changes of its catalog are visible to readers after the batch is committed."""

    __slots__ = ("_version",)

    def __init__(self, connection: apsw.Connection, clock: Clock) -> None:
        super().__init__(connection, clock)
        self._version = _UNKNOWN

    def refresh(self) -> None:
        """Reload the catalog if another connection has changed it. Call this within the transaction of a batch."""
        if self.connection.data_version("main") != self._version:
            super().refresh()

    def committed(self) -> None:
        """Record a commit: until another connection writes, the catalog in memory is current."""
        self._version = self.connection.data_version("main")

    def catalog_changed(self) -> None:
        """Record that this batch changed the catalog in the file, and reload it."""
        self.catalog = _catalog.changed(self.connection)

    def forget(self) -> None:
        """Discard the catalog after a rollback."""
        self.catalog = EMPTY
        self._version = _UNKNOWN
