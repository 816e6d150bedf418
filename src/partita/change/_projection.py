"""Projections: tables of your own in a SQLite file, kept up to date from a change stream.

A batch, the positions and the set-aside changes are committed in one transaction, so each change counts exactly once.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeAlias

import apsw
import msgspec
from msgspec import Struct

from partita._sqlite import erase_log, make_private, open_database, read_header, reserve, translating
from partita.change._change import ItemChange
from partita.change._sink import Advance, further
from partita.change._snapshot import Snapshot
from partita.errors import FieldSealed, InvalidItem, ModelError, StoreDamaged
from partita.runtime import chunks
from partita.store import plain_item, wire_item
from partita.values import is_sealed

Apply: TypeAlias = Callable[[apsw.Connection, ItemChange], object]
"""Applies one change to the projection's tables."""

_TOGETHER: Final = 500
"""The number of changes that are applied together, or one by one if one of them does not fit its entity."""
_CACHE_KILOBYTES: Final = 8 * 1024
_BUSY_MILLISECONDS: Final = 60_000

_OWN_TABLES: Final = """
    CREATE TABLE IF NOT EXISTS partita_declaration (version INTEGER NOT NULL, tables TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS partita_positions (shard TEXT PRIMARY KEY, sequence TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS partita_fences (shard TEXT PRIMARY KEY, fence INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS partita_set_aside (
        shard TEXT NOT NULL, sequence TEXT NOT NULL, kind TEXT NOT NULL, keys TEXT NOT NULL, at REAL NOT NULL,
        reason TEXT NOT NULL
    );
"""
_OWN_NAMES: Final = {"partita_declaration", "partita_positions", "partita_fences", "partita_set_aside"}
_NOT_OWN: Final = (
    "SELECT type, name FROM sqlite_schema WHERE type IN ('table', 'view') "
    "AND name NOT LIKE 'partita\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
    "ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC"  # a virtual table takes its shadow tables with it
)
_FULL_TEXT: Final = "SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE % USING fts5%'"


@contextmanager
def _translating(path: str) -> Iterator[None]:
    """Raise the library's errors, with a hint for projections, which need no backup."""
    try:
        with translating(path):
            yield
    except StoreDamaged as error:
        error.hint = "Delete the file; it is rebuilt from the table."
        raise


class SetAside(Struct, frozen=True):
    """A change that could not be applied because an item does not fit its entity."""

    kind: str
    keys: dict[str, Any]
    at: float
    reason: str
    shard: str
    sequence: int


class SqliteProjection:
    """A sink with tables of your own, which are declared in SQL, filled by a function, and read with SQL.

    def apply(connection: apsw.Connection, change: ItemChange) -> None: ...

    TITLES = SqliteProjection("titles.db", tables="CREATE TABLE titles (…)", apply=apply)
    """

    def __init__(
        self, path: str | Path, *, tables: str, apply: Apply, version: int = 1, keys_only: bool = False
    ) -> None:
        """Open the file, and create it if needed.

        Args:
            path: the path of a file for this projection alone.
            tables: the statements that create its tables. When they change, the projection starts over.
            apply: applies one change to the tables. It may be called again for a change, after its writes were undone.
            version: increase it when `apply` changes, so that the projection starts over.
            keys_only: `apply` uses only the keys of changes, and needs none from before its start. Then a `KEYS_ONLY`
                stream is enough, and a new projection begins at the end of the stream, without a scan of the table.

        Raises:
            ModelError: `apply` is async, so calling it would do nothing.
            StoreError: the file cannot be opened.
        """
        if inspect.iscoroutinefunction(apply):
            hint = "Write def: it writes to the connection that it receives."
            raise ModelError(f"{apply.__name__} is async, so it would never run.", owner=apply, hint=hint)
        self.path = str(path)
        self._tables = tables
        self._apply = apply
        self._version = version
        self.keys_only = keys_only
        self._writing = threading.Lock()
        self._readers = threading.local()
        with _translating(self.path):
            make_private(self.path)
            self._connection = self._connect()
            # SQLite keeps a statement journal for each statement that fires a trigger. As a file, it would be most of
            # what a batch writes.
            self._connection.pragma("temp_store", "memory")
            if read_header(self.path) is None:
                reserve(self._connection)
            self._connection.pragma("journal_mode", "wal")
            if not self._is_current():
                self._declare()

    def positions(self) -> Mapping[str, int]:
        """Return its positions; empty before the first load, and after its declaration has changed."""
        rows = self.read("SELECT shard, sequence FROM partita_positions")
        return {shard: int(sequence) for shard, sequence in rows}

    def refresh(self) -> None:
        """Do nothing: writes of others are visible at once."""

    def fences(self) -> Mapping[str, int]:
        """Return the highest fence (number of a lease) under which each shard was written."""
        return dict(self.read("SELECT shard, fence FROM partita_fences"))

    def apply(self, batch: Sequence[ItemChange], positions: Mapping[str, int]) -> None:
        """Apply a batch in one transaction; changes that were applied before are skipped."""
        self._apply_batch(batch, lambda known: further(positions, known))

    def apply_fenced(self, batch: Sequence[ItemChange], advance: Advance) -> None:
        """Apply a batch of some shards in one transaction, which also compares their fences.

        Raises:
            LeaseLost: a shard was written under a higher fence.
        """
        self._apply_batch(batch, lambda known: self._advanced(advance, known))

    def _apply_batch(
        self, batch: Sequence[ItemChange], reaching: Callable[[Mapping[str, int]], Mapping[str, int]]
    ) -> None:
        with _translating(self.path), self._writing:
            with self._transaction():
                known = dict(self._positions())
                self._save_positions(reaching(known))
                self._apply_each(change for change in batch if change.sequence > known.get(change.shard, 0))
            if any(change.kind == "remove" for change in batch):
                erase_log(self._connection)

    def _advanced(self, advance: Advance, known: Mapping[str, int]) -> Mapping[str, int]:
        rows: list[Any] = self._connection.execute("SELECT shard, fence FROM partita_fences").fetchall()
        positions, fences = advance.after(known, dict(rows))
        self._connection.execute("DELETE FROM partita_fences")
        self._connection.executemany("INSERT INTO partita_fences VALUES (?, ?)", list(fences.items()))
        return positions

    def load(self, snapshot: Snapshot) -> None:
        """Empty the tables and fill them from the snapshot, in one transaction."""
        with _translating(self.path), self._writing:
            with self._transaction():
                self._start_over()
                self._apply_each(snapshot)
                self._save_positions(snapshot.positions)
            erase_log(self._connection)

    def read(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query, from any thread; this never waits for a batch that is being applied."""
        with _translating(self.path):
            return self._reader().execute(sql, tuple(values)).fetchall()

    def set_aside(self) -> list[SetAside]:
        """Return the changes that could not be applied, oldest first."""
        rows = self.read("SELECT kind, keys, at, reason, shard, sequence FROM partita_set_aside ORDER BY rowid")
        return [
            SetAside(kind, plain_item(msgspec.json.decode(keys)), at, reason, shard, int(sequence))
            for kind, keys, at, reason, shard, sequence in rows
        ]

    def close(self) -> None:
        """Close the file; the read connection of another thread is closed when that thread ends."""
        self._connection.close()
        if (reader := getattr(self._readers, "connection", None)) is not None:
            reader.close()

    def _connect(self) -> apsw.Connection:
        connection = open_database(self.path)
        connection.set_busy_timeout(_BUSY_MILLISECONDS)
        connection.pragma("synchronous", "normal")  # a lost batch is read again from the stream
        connection.pragma("secure_delete", True)  # as in the store that it is built from
        connection.pragma("cache_size", -_CACHE_KILOBYTES)
        return connection

    def _reader(self) -> apsw.Connection:
        try:
            connection: apsw.Connection = self._readers.connection
        except AttributeError:
            connection = self._readers.connection = self._connect()
            connection.pragma("query_only", True)
        return connection

    def _is_current(self) -> bool:
        """Whether opening needs no write, which could wait long for another process that loads the projection."""
        is_current = False
        with self._connection:  # one snapshot
            made = self._connection.execute("SELECT name FROM sqlite_schema WHERE name LIKE 'partita@_%' ESCAPE '@'")
            if {name for (name,) in made} >= _OWN_NAMES and self._declared() == (self._version, self._tables):
                indexes: list[tuple[Any, ...]] = self._connection.execute(_FULL_TEXT).fetchall()
                is_current = all(self._overwrites(name) for (name,) in indexes)
        return is_current

    def _overwrites(self, index: str) -> bool:
        """Whether words of deleted rows are removed from a full-text index."""
        sql = f"SELECT v FROM \"{index}_config\" WHERE k = 'secure-delete'"  # noqa: S608 - a name from the schema
        return bool(self._connection.execute(sql).get)

    def _declared(self) -> Any:
        return self._connection.execute("SELECT version, tables FROM partita_declaration").get

    def _declare(self) -> None:
        with self._transaction():
            self._connection.execute(_OWN_TABLES)
            if self._declared() != (self._version, self._tables):
                self._start_over()
            self._overwrite_words()  # also in indexes that an earlier version created

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def _start_over(self) -> None:
        found: list[tuple[Any, ...]] = self._connection.execute(_NOT_OWN).fetchall()
        for kind, name in found:
            self._connection.execute(f'DROP {kind} IF EXISTS "{name}"')
        self._connection.execute("DELETE FROM partita_set_aside; DELETE FROM partita_positions")
        self._connection.execute("DELETE FROM partita_declaration")
        self._connection.execute("INSERT INTO partita_declaration VALUES (?, ?)", (self._version, self._tables))
        self._connection.execute(self._tables)
        self._overwrite_words()

    def _overwrite_words(self) -> None:
        """Have words of deleted rows removed from full-text indexes, which otherwise only mark them as deleted."""
        indexes: list[tuple[Any, ...]] = self._connection.execute(_FULL_TEXT).fetchall()
        for (name,) in indexes:
            statement = f'INSERT INTO "{name}" ("{name}", rank) VALUES (?, 1)'  # noqa: S608 - a name from the schema
            self._connection.execute(statement, ("secure-delete",))

    def _apply_each(self, changes: Iterable[ItemChange]) -> None:
        """Apply changes in groups, because SQLite writes full-text indexes to the file at each savepoint."""
        for some in chunks(changes, _TOGETHER):
            try:
                with self._connection:
                    for change in some:
                        self._apply(self._connection, change)
            except InvalidItem:
                self._apply_one_by_one(some)

    def _apply_one_by_one(self, changes: Iterable[ItemChange]) -> None:
        """Apply the changes that fit, and set aside the others, which leave nothing in the tables."""
        for change in changes:
            try:
                with self._connection:
                    self._apply(self._connection, change)
            except InvalidItem as error:
                _refuse_unopened(error)
                self._set_aside(change, error.message)

    def _set_aside(self, change: ItemChange, reason: str) -> None:
        keys = msgspec.json.encode(wire_item(change.keys)).decode()
        row = (change.shard, str(change.sequence), change.kind, keys, change.at, reason)
        self._connection.execute("INSERT INTO partita_set_aside VALUES (?, ?, ?, ?, ?, ?)", row)

    def _positions(self) -> list[tuple[str, int]]:
        rows: list[Any] = self._connection.execute("SELECT shard, sequence FROM partita_positions").fetchall()
        return [(shard, int(sequence)) for shard, sequence in rows]

    def _save_positions(self, positions: Mapping[str, int]) -> None:
        self._connection.execute("DELETE FROM partita_positions")
        rows = [(shard, str(sequence)) for shard, sequence in positions.items()]
        self._connection.executemany("INSERT INTO partita_positions VALUES (?, ?)", rows)


def _refuse_unopened(error: InvalidItem) -> None:
    """Stop at an encrypted field that nobody tried to open: this is a mistake in `apply`, not in one of the items.

    Raises:
        FieldSealed: the field is as it is stored.
    """
    if isinstance(error, FieldSealed) and any(map(is_sealed, error.item.values())):
        error.hint = "Open the change first: change.opened_by(FieldKeys(provider, clock)), from partita.encryption."
        raise error
