"""The vectors of a store's indexes in memory: loaded by the first search, and updated by each search.

A search holds the lock of its index from before its snapshot to its end, so the vectors in memory are never newer than
its snapshot. An older snapshot that already exists gets its own vectors.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import apsw

from partita.errors import ExtraMissing
from partita.store.embedded.vectors._index import VectorIndex
from partita.store.embedded.vectors._rows import SQL_STATE

if TYPE_CHECKING:
    from partita.store.embedded.vectors._matrix import Matrix

MAX_INDEXES: Final = 32
"""The maximum number of indexes in memory; beyond it, the least recently searched index is dropped."""
_CHUNK: Final = 4_096


class VectorCache:
    """The vectors of the indexes that were searched, for all threads of a store."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[int, _Held] = {}

    @property
    def memory_bytes(self) -> int:
        """The memory in bytes that the vectors and their metadata take."""
        with self._lock:
            return sum(held.matrix.memory_bytes for held in self._held.values() if held.matrix is not None)

    @contextmanager
    def of(self, connection: apsw.Connection, index: VectorIndex) -> Iterator[Matrix]:
        """The vectors of an index as of the connection's snapshot, while the block runs.

        Raises:
            ExtraMissing: NumPy is not installed.
        """
        held = self._of(index)
        with held.lock:
            if connection.in_transaction:  # a snapshot of the caller, which may be older than the cached vectors
                yield _as_of(connection, index, held)
                return
            connection.execute("BEGIN")
            try:
                yield _as_of(connection, index, held)
            finally:
                connection.execute("COMMIT")

    def _of(self, index: VectorIndex) -> _Held:
        with self._lock:
            held = self._held.pop(index.number, None) or _Held()
            self._held[index.number] = held
            while len(self._held) > MAX_INDEXES:
                del self._held[next(iter(self._held))]
            return held


class _Held:
    """The vectors of one index, and the lock to hold while reading or changing them."""

    __slots__ = ("lock", "matrix")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.matrix: Matrix | None = None


def _as_of(connection: apsw.Connection, index: VectorIndex, held: _Held) -> Matrix:
    version, count = connection.execute(SQL_STATE, (index.number,)).get
    matrix = held.matrix
    if matrix is None or matrix.version > version:
        matrix = _empty(index)
        if held.matrix is None:
            held.matrix = matrix
    if matrix.version != version:
        try:
            _bring_up(connection, index, matrix, count)
        except BaseException:
            held.matrix = None  # it may be a mixture of two versions
            raise
        matrix.version = version
    return matrix


def _empty(index: VectorIndex) -> Matrix:
    try:
        from partita.store.embedded.vectors._matrix import Matrix  # noqa: PLC0415 - NumPy is an extra
    except ImportError as error:
        message = "A vector search in the embedded store needs NumPy."
        raise ExtraMissing(message, extra="vectors") from error
    return Matrix(index.dimensions, index.schema.distance, len(index.parts))


def _bring_up(connection: apsw.Connection, index: VectorIndex, matrix: Matrix, count: int) -> None:
    """Load the rows that are newer than the matrix, and remove those that no longer exist."""
    columns = "".join(f"{column}, " for column in index.columns)
    table = f"vectors_{index.number}"
    matrix.reserve(count)
    newer: Any = connection.execute(f"SELECT id, {columns}vector FROM {table} WHERE version > ?", (matrix.version,))
    while rows := list(islice(newer, _CHUNK)):
        matrix.put(rows)
    if len(matrix) > count:
        there: Any = connection.execute(f"SELECT id FROM {table} ORDER BY version").fetchall()
        matrix.keep([row_id for (row_id,) in there])
