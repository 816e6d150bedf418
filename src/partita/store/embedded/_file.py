"""The file of a store: its tables, its format, and how it is made and opened."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import apsw

from partita import _sqlite
from partita.errors import StoreDamaged, StoreError, StoreNewer

APPLICATION_ID: Final = 0x50415254  # "PART"
FORMAT_VERSION: Final = 3
"""1 had no hashes of partitions (`upkeep/_upgrade.py`), 2 has no checksums of pages."""
WITHOUT_CHECKSUMS: Final = 2

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
    """Whether a file has one of the tables that are made when they are needed."""
    return connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (name,)).get is not None


def is_new(path: str) -> bool:
    """Whether a store is still to be made at the path; what else is there is left as it is.

    Raises:
        StoreDamaged: the file is not a store. StoreNewer: it is a store of a newer version.
    """
    if not Path(path).parent.is_dir():
        raise StoreError(f"The folder of {path} does not exist.", hint="Create it first.")
    if Path(path).is_dir():
        raise StoreError(f"The path {path} is a folder.", hint="Name a file in it.")
    header = _sqlite.read_header(path) if Path(path).exists() else None
    if header is None:
        return True
    if header.application_id != APPLICATION_ID:
        raise StoreDamaged(f"The file {path} is not a Partita store.", hint="Choose another path.")
    if header.user_version > FORMAT_VERSION:
        message = f"The store {path} has format {header.user_version}; this version knows {FORMAT_VERSION}."
        raise StoreNewer(message)
    if header.user_version == FORMAT_VERSION and not header.has_checksums:
        raise StoreDamaged(f"The header of {path} is damaged: its pages should have checksums.")
    return False


def create(path: str) -> None:
    """Make an empty store. Until it is complete, the file is not a store to any process."""
    connection = connect(path, durable=True)
    connection.pragma("synchronous", "extra")  # also the journal's end: it must not come back after power loss
    try:
        create_schema(connection, FORMAT_VERSION if _sqlite.reserve(connection) else WITHOUT_CHECKSUMS)
        # Only now: in the file itself, not in the log, the header tells whose file it is.
        connection.pragma("journal_mode", "wal")
    finally:
        connection.close()


def create_schema(connection: apsw.Connection, version: int = WITHOUT_CHECKSUMS) -> None:
    """Write the empty catalog, unless another process was first."""
    connection.execute("BEGIN IMMEDIATE")
    with connection:
        if connection.pragma("user_version") == 0:
            connection.execute(f"{_SCHEMA} PRAGMA user_version = {version};")
    connection.execute("COMMIT")


def add_checksums(connection: apsw.Connection, path: str) -> bool:
    """Write a store that has no checksums again, with them; True if that was done, and the connection closed."""
    return _sqlite.add_checksums(connection, Path(path), FORMAT_VERSION)


def connect(path: str, *, durable: bool) -> apsw.Connection:
    """A connection to a store."""
    return _sqlite.connect(path, durable=durable)
