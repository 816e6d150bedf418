"""What a request is executed with: a connection and the catalog that goes with it."""

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
    """A connection with the catalog as this connection may see it, and the time."""

    __slots__ = ("catalog", "clock", "connection", "vectors")

    def __init__(self, connection: apsw.Connection, clock: Clock, vectors: VectorCache | None = None) -> None:
        self.connection = connection
        self.clock = clock
        self.catalog = EMPTY
        self.vectors = VectorCache() if vectors is None else vectors

    def table(self, name: str) -> Table:
        """The table of that name, or TableNotFound."""
        return self.catalog.tables[name]

    def refresh(self) -> None:
        """Read the catalog again if it has changed in the file."""
        if _catalog.generation(self.connection) != self.catalog.generation:
            with self.connection:  # one snapshot
                self.catalog = _catalog.load(self.connection)


class Writer(Reader):
    """The one connection that writes; its catalog is a draft until the batch is committed."""

    __slots__ = ("_version",)

    def __init__(self, connection: apsw.Connection, clock: Clock) -> None:
        super().__init__(connection, clock)
        self._version = _UNKNOWN

    def refresh(self) -> None:
        """Read the catalog again if it has changed in the file; in a transaction, which sees what others wrote."""
        if self.connection.data_version("main") != self._version:
            super().refresh()

    def committed(self) -> None:
        """Note what was committed: until another connection writes, the catalog is as it is known here."""
        self._version = self.connection.data_version("main")

    def catalog_changed(self) -> None:
        """Record that the catalog in the file was changed by this batch."""
        self.catalog = _catalog.changed(self.connection)

    def forget(self) -> None:
        """Drop the draft after a rollback."""
        self.catalog = EMPTY
        self._version = _UNKNOWN
