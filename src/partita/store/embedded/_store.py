"""The embedded store: DynamoDB's semantics over one SQLite file."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Self, TypeVar

import apsw

from partita import _sqlite
from partita._sqlite import GroupCommit, NoLock, ProcessLock
from partita.errors import StoreClosed, StoreDamaged, StoreError, TableNotFound
from partita.runtime import Clock, in_thread, system_clock, try_disk
from partita.store import _requests as requests
from partita.store import _vector_requests as vector_requests
from partita.store._requests import Request
from partita.store.embedded import _file, _ttl, points, tables, upkeep
from partita.store.embedded._catalog import EMPTY, Catalog
from partita.store.embedded._connection import Reader, Writer
from partita.store.embedded._handlers import BY_LOOP, READS, WRITES, Read
from partita.store.embedded._table import MissingIndex
from partita.store.embedded.vectors import VectorCache

R = TypeVar("R")


class EmbeddedStore:
    """A store in one SQLite file, or in memory with the path ":memory:".

    `durable=False` is for tests and rebuildable data: it is faster, but a power loss may lose or damage the file.
    With `sweep_every`, a thread deletes expired items at this interval in seconds; without it, call `sweep`.

    Raises:
        StoreError: the file cannot be opened; it is left unchanged.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        clock: Clock = system_clock,
        durable: bool = True,
        sweep_every: float | None = None,
    ) -> None:
        self.path = _sqlite.path_text(path)
        self._durable = durable
        self._catalog: Catalog = EMPTY
        self._vectors = VectorCache()
        self._local = threading.local()
        self._connections: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._opening = threading.RLock()
        self._closed = threading.Event()
        self._is_forked = False
        self.failed_sweeps = 0
        with _sqlite.translating(self.path):
            self._open(clock)
        _sqlite.leave_to_parent_at_fork(self)
        if sweep_every is not None:
            threading.Thread(target=self._keep_sweeping, args=(sweep_every,), daemon=True).start()

    def _open(self, clock: Clock) -> None:
        in_memory = self.path == _sqlite.MEMORY
        _sqlite.refuse_if_in_use_at_fork(self.path)
        is_new = in_memory or _file.is_new(self.path)
        self._process_lock = None if in_memory else ProcessLock(Path(self.path))
        lock = self._process_lock or NoLock()
        try:
            with lock:
                if not in_memory:
                    _sqlite.make_private(self.path)
                    if is_new:
                        _file.create(self.path)
                self._open_writer(clock)
        except BaseException:
            if self._process_lock is not None:
                self._process_lock.close()
            raise
        self._commit = GroupCommit(
            self._writer, WRITES, path=self.path, process_lock=lock, after_commit=self._publish, by_loop=BY_LOOP
        )

    def _open_writer(self, clock: Clock) -> None:
        self._writer = Writer(self._connect(), clock)
        try:
            if self.path == _sqlite.MEMORY:
                _file.create_schema(self._writer.connection)
            self._writer.refresh()
            if self._durable and self._process_lock is not None:  # without syncs, a crash may lose any frames
                _sqlite.refuse_cut_log(self._writer.connection, self.path)
            if upkeep.upgrade(self._writer.connection):
                self._writer.refresh()
            if self._process_lock is not None and _file.add_checksums(self._writer.connection, self.path):
                self._writer = Writer(self._connect(), clock)
                self._writer.refresh()
        except Exception as error:
            _sqlite.close_untouched(self._writer.connection)
            # An SQLError in our own statement: a table or column is missing. Any other error: the content is invalid.
            if isinstance(error, apsw.SQLError) or not isinstance(error, apsw.Error | StoreError):
                raise StoreDamaged(f"The catalog of the store {self.path} is damaged ({error}).") from error
            raise
        self._catalog = self._writer.catalog
        self._file_number = _sqlite.file_number(self.path)

    def _connect(self) -> apsw.Connection:
        connection = _file.connect(self.path, durable=self._durable)
        self._connections.add(connection)
        return connection

    def _publish(self) -> None:
        self._writer.committed()
        self._catalog = self._writer.catalog

    def execute(self, request: Request[R]) -> R:
        """Execute the request; a write is durable when this returns.

        Raises:
            RequestError: the request was refused and changed nothing. StoreError: the store itself failed.
        """
        read = READS.get(type(request))
        if read is None:
            if type(request) in WRITES:
                return self._commit.run(request)  # type: ignore[no-any-return]
            return self._execute_long(request)
        if self._process_lock is not None:
            return self._read(read, request)
        lock = self._commit.holding_lock()  # a store in memory has only one connection
        try:
            next(lock)
            return self._read(read, request)
        finally:
            next(lock, None)

    async def execute_async(self, request: Request[R]) -> R:
        """Execute the request in a task: reads in this thread, searches in another, writes by `GroupCommit`."""
        if isinstance(request, vector_requests.SearchVectors):
            return await in_thread(lambda: self.execute(request))  # type: ignore[return-value, arg-type]
        if type(request) in READS:
            return self.execute(request)
        if type(request) in WRITES:
            return await self._commit.run_async(request)  # type: ignore[no-any-return]
        return await in_thread(lambda: self._execute_long(request))

    def _execute_long(self, request: Request[R]) -> R:
        """Execute a request that consists of several reads and writes."""
        if isinstance(request, requests.CreateIndex):
            return tables.create_index(self._commit.run, self._private_connection, request)  # type: ignore[return-value]
        if isinstance(request, requests.DeleteIndex):
            return tables.delete_index(self._commit.run, request)  # type: ignore[return-value]
        return self.history.execute(request)

    def _read(self, read: Read, request: Request[R]) -> R:
        try:
            reader = self._local.reader
        except AttributeError:
            reader = self._new_reader()
        reader.catalog = self._catalog
        try:
            return read(reader, request)  # type: ignore[no-any-return]
        except (TableNotFound, MissingIndex, apsw.SQLError) as error:
            return self._read_again(read, reader, request, error)
        except _sqlite.DATABASE_ERRORS as error:
            raise _sqlite.translated(error, self.path) from error

    def _new_reader(self) -> Reader:
        with self._opening, _sqlite.translating(self.path):
            self._check_open()
            self._check_place()
            connection = self._writer.connection if self._process_lock is None else self._connect()
            reader = self._local.reader = Reader(connection, self._writer.clock, self._vectors)
        return reader

    def _check_place(self) -> None:
        if self._process_lock is not None and _sqlite.file_number(self.path) != self._file_number:
            raise _sqlite.moved(self.path)

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise (_sqlite.opened_before_fork if self._is_forked else _sqlite.closed)(self.path)

    def _read_again(self, read: Read, reader: Reader, request: Request[R], error: Exception) -> R:
        """Retry the read if another process has changed the catalog; otherwise raise the error."""
        with _sqlite.translating(self.path):
            known = reader.catalog
            reader.refresh()
            if reader.catalog is known:
                raise error
            self._catalog = reader.catalog
            return read(reader, request)  # type: ignore[no-any-return]

    def why_unwritable(self) -> StoreError | None:
        """Why writes fail: the error of the last write that the disk refused, if it still refuses data; else None."""
        if self._commit.refused is not None:
            try:
                try_disk(Path(self.path).parent)
            except OSError:
                return self._commit.refused
            self._commit.refused = None
        return None

    def sweep(self) -> int:
        """Delete expired items, trim streams and tokens, and truncate the log. Return the number of deleted items."""
        deleted = 0
        while batch := self._commit.run(_ttl.DeleteExpired()):
            deleted += batch
        while self._commit.run(_ttl.TrimHistory()):
            pass
        with self._commit.exclusively(), _sqlite.translating(self.path):
            if not self._closed.is_set():  # `close` cannot close the files while this lock is held
                self._erase_log()
        return deleted

    def split_shard(self, table: str, shard: str, parts: int = 2) -> tuple[str, ...]:
        """Split an open shard of a table's stream, so that several workers can read it. Return the new shards.

        Raises:
            TableNotFound: there is no such open shard. ValidationFailed: it cannot be split into so many parts.
        """
        return self._commit.run(upkeep.SplitShard(table, shard, parts))  # type: ignore[no-any-return]

    def merge_shards(self, table: str, first: str, second: str) -> str:
        """Merge two adjacent open shards and return the new shard.

        Raises:
            TableNotFound: there is no such open shard. ValidationFailed: the shards are not adjacent.
        """
        return self._commit.run(upkeep.MergeShards(table, first, second))  # type: ignore[no-any-return]

    def compact(self, progress: upkeep.Progress | None = None) -> None:
        """Rewrite the file without free pages: it shrinks, and no deleted data remains in it.

        This needs free disk space of the size of the file. Writers wait meanwhile, readers do not. `progress` receives
        the pages written and the total.

        Raises:
            StoreError: the new file cannot be written; the store is unchanged.
        """
        with self._commit.exclusively(), _sqlite.translating(self.path):
            self._check_open()
            with self._process_lock or NoLock():
                upkeep.compact(self._writer.connection, self.path, progress)
            self._erase_log()

    def _erase_log(self, *, blocking: bool = True) -> None:
        if self._process_lock is not None and self._process_lock.acquire(blocking=blocking):
            try:
                _sqlite.erase_log(self._writer.connection)
            finally:
                self._process_lock.release()

    def backup(self, target: Path, progress: upkeep.Progress | None = None) -> None:
        """Copy the current state of the store while it is in use. `progress` receives the pages copied and the total.

        Raises:
            StoreError: the target exists or cannot be written.
        """
        with self._private_connection() as connection:
            upkeep.back_up(connection, Path(target), progress)

    @contextmanager
    def snapshot(self) -> Iterator[upkeep.StoreSnapshot]:
        """A snapshot of the current state, for long reads while others write. The log grows until the block ends.

        Raises:
            StoreError: the file cannot be read.
        """
        with self._private_connection() as connection:
            connection.execute("BEGIN")
            try:
                yield upkeep.StoreSnapshot(self._refreshed(connection), READS)
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def _one_state(self) -> Iterator[Reader]:
        """A snapshot with every write that has read the clock; in memory, only this thread can write meanwhile."""
        with self._commit.exclusively(), self._process_lock or NoLock():
            self._check_open()
        with self._private_connection() as connection:
            if self._process_lock is not None:
                connection.execute("BEGIN")
            yield self._refreshed(connection)

    def _refreshed(self, connection: apsw.Connection) -> Reader:
        reader = Reader(connection, self._writer.clock, self._vectors)
        reader.refresh()
        return reader

    @property
    def history(self) -> points.StoreHistory:
        """The past states of tables with continuous backups."""
        access = points.StoreAccess(self._one_state, self.execute, self._writer.clock, self.path, self._check_open)
        return points.StoreHistory(access, READS, lambda path: EmbeddedStore(path, clock=access.clock, durable=False))

    def as_of(self, instant: float) -> points.PastStore:
        """The store as it was at an instant, for reading; see `StoreHistory.as_of`."""
        return self.history.as_of(instant)

    def verify(self, progress: upkeep.Progress | None = None) -> None:
        """Check the file, each row, and streams against tables. `progress` receives the rows done and the total.

        Raises:
            StoreDamaged: damage was found; the message says what.
        """
        with self._private_connection() as connection, _sqlite.translating(self.path):
            upkeep.verify(connection, self.path, progress)

    @contextmanager
    def _private_connection(self) -> Iterator[apsw.Connection]:
        """A separate connection for long reads; in memory, the store's only connection."""
        self._check_open()
        self._check_place()
        try:
            if self._process_lock is None:
                with self._commit.exclusively():
                    yield self._writer.connection
                return
            with _sqlite.translating(self.path):
                connection = _file.connect(self.path, durable=self._durable)
            with closing(connection):
                yield connection
        except apsw.Error as error:  # other errors, such as those of files, come from the caller's block
            raise _sqlite.translated(error, self.path) from error

    def _keep_sweeping(self, every: float) -> None:
        while not self._closed.wait(every):
            try:
                self.sweep()
            except StoreClosed:
                return
            except StoreError:
                self.failed_sweeps += 1

    def close(self) -> None:
        """Finish the current commit, reject waiting writes, and release the file.

        Raises:
            StoreBusy: this thread is executing a write; the store stays open.
        """
        self._commit.refuse_reentry()
        with self._opening:  # from here on, no thread can open a connection or find its own
            if self._closed.is_set():
                return
            self._closed.set()
            self._local = threading.local()
        self._commit.close()
        if self._commit.commits:
            with suppress(apsw.Error):  # acknowledged writes stay in the log
                self._erase_log(blocking=False)
        for connection in list(self._connections):
            with suppress(apsw.ThreadingViolationError):  # in use: it is closed when its reader releases it
                connection.close()
        if self._process_lock is not None:
            self._process_lock.close()

    def leave_to_parent(self) -> None:
        """Close the store in a forked child process, without touching anything that its parent uses."""
        self._is_forked = True
        self._closed = threading.Event()  # locks of the old one may be held by threads that the child does not have
        self._closed.set()
        self._opening = threading.RLock()
        self._local = threading.local()
        self._commit.leave_to_parent()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
