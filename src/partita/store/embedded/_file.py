"""The file of a store: its tables and format, and how it is created and opened."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import apsw

from partita import _sqlite
from partita.errors import StoreDamaged, StoreError, StoreNewer

APPLICATION_ID: Final = 0x50415254  # "PART"
FORMAT_VERSION: Final = 5
"""Version 4 is the same without page checksums. `upkeep/_upgrade.py` says what earlier versions had."""
WITHOUT_CHECKSUMS: Final = 4
_WITH_CHECKSUMS: Final = (3, FORMAT_VERSION)

_SCHEMA: Final = f"""
    CREATE TABLE store (generation INTEGER NOT NULL);
    INSERT INTO store VALUES (1);
    CREATE TABLE tables (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        definition TEXT NOT NULL,
        created_at REAL NOT NULL
    );
    CREATE TABLE indexes (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        table_id INTEGER NOT NULL,
        name TEXT NOT NULL
    );
    CREATE TABLE streams (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        table_id INTEGER NOT NULL,
        label TEXT NOT NULL,
        view TEXT NOT NULL,
        complete INTEGER NOT NULL,
        trimmed INTEGER NOT NULL DEFAULT 0,
        closed_at REAL
    );
    CREATE TABLE tokens (
        token TEXT NOT NULL PRIMARY KEY,
        digest BLOB NOT NULL,
        at REAL NOT NULL
    ) WITHOUT ROWID;
    PRAGMA application_id = {APPLICATION_ID};
"""


def has_table(connection: apsw.Connection, name: str) -> bool:
    """Whether a file contains a table that is only created when it is first needed."""
    return connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (name,)).get is not None


def is_new(path: str) -> bool:
    """Whether there is no store at the path yet. This never changes the file.

    Raises:
        StoreDamaged: the file is not a store. StoreNewer: a newer version wrote the store.
        StoreError: the path is a folder, or its parent folder does not exist.
    """
    if not Path(path).parent.is_dir():
        raise StoreError(f"The folder of {path} does not exist.", hint="Create it first.")
    if Path(path).is_dir():
        raise StoreError(f"The path {path} is a folder.", hint="Use the path of a file in it.")
    header = _sqlite.read_header(path) if Path(path).exists() else None
    if header is None:
        return True
    if header.application_id != APPLICATION_ID:
        raise StoreDamaged(f"The file {path} is not a Partita store.", hint="Choose another path.")
    if header.user_version > FORMAT_VERSION:
        message = f"The store {path} has format {header.user_version}; this version supports {FORMAT_VERSION}."
        raise StoreNewer(message)
    if header.user_version in _WITH_CHECKSUMS and not header.has_checksums:
        raise StoreDamaged(f"The header of {path} is damaged: it does not enable page checksums.")
    return False


def create(path: str) -> None:
    """Create an empty store. Until it is complete, no process accepts the file as a store."""
    connection = connect(path, durable=True)
    connection.pragma("synchronous", "extra")  # also sync the journal's deletion: it must not reappear after power loss
    try:
        create_schema(connection, FORMAT_VERSION if _sqlite.reserve(connection) else WITHOUT_CHECKSUMS)
        # WAL mode only now, so that the header with the application id is in the file itself and not in the log.
        connection.pragma("journal_mode", "wal")
    finally:
        connection.close()


def create_schema(connection: apsw.Connection, version: int = WITHOUT_CHECKSUMS) -> None:
    """Create the empty catalog, unless another process has already done it."""
    connection.execute("BEGIN IMMEDIATE")
    with connection:
        if connection.pragma("user_version") == 0:
            connection.execute(f"{_SCHEMA} PRAGMA user_version = {version};")
    connection.execute("COMMIT")


def add_checksums(connection: apsw.Connection, path: str) -> bool:
    """Add page checksums to a store without them. If this returns True, it did so and closed the connection."""
    return _sqlite.add_checksums(connection, Path(path), FORMAT_VERSION)


def connect(path: str, *, durable: bool) -> apsw.Connection:
    """A connection to a store."""
    return _sqlite.connect(path, durable=durable)
