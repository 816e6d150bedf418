"""The file of a store: its tables, its format, and how it is made and opened."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import apsw

from partita import _sqlite
from partita.errors import StoreDamaged, StoreError, StoreNewer

APPLICATION_ID: Final = 0x50415254  # "PART"
FORMAT_VERSION: Final = 3
"""The newest that this version knows. 1 had no hashes of partitions (`upkeep/_upgrade.py`)."""
PLAIN_FORMAT: Final = 2
"""Of a file without vector indexes, which earlier versions can go on writing."""
VECTOR_FORMAT: Final = 3
"""Of a file that has had a vector index: whoever writes an item has to keep its vectors."""

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
    PRAGMA user_version = {PLAIN_FORMAT};
"""


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
    return False


def create(path: str) -> None:
    """Make an empty store. Until it is complete, the file is not a store to any process."""
    connection = connect(path, durable=True)
    connection.pragma("synchronous", "extra")  # also the journal's end: it must not come back after power loss
    try:
        create_schema(connection)
        # Only now: in the file itself, not in the log, the header tells whose file it is.
        connection.pragma("journal_mode", "wal")
    finally:
        connection.close()


def create_schema(connection: apsw.Connection) -> None:
    """Write the empty catalog, unless another process was first."""
    connection.execute("BEGIN IMMEDIATE")
    with connection:
        if connection.pragma("user_version") == 0:
            connection.execute(_SCHEMA)
    connection.execute("COMMIT")


def connect(path: str, *, durable: bool) -> apsw.Connection:
    """A connection to a store."""
    return _sqlite.connect(path, durable=durable)
