"""One Delta table of the lake. Every commit contains the positions that the table reaches with it.

A commit names the version that it builds on, and is refused if another writer was faster (`CommitConflict`). So the
positions that were read are always those of the version that the commit builds on, even if others write:

    reads version 7, positions 100 ──── writes files ──── commits version 8: refused, another did so meanwhile
    reads version 8, positions 120 ──── skips changes up to 120 ──── commits version 9, positions 150
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

import msgspec
import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, WriterProperties, write_deltalake
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from msgspec import Struct

from partita.change.lake._location import LakeLocation
from partita.errors import (
    AccessDenied,
    BucketNotFound,
    PartitaError,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)

_POSITIONS: Final = "partita.positions"
_FENCES: Final = "partita.fences"
_TRIES: Final = 50
"""How often a commit is tried. Each refused one means that another writer succeeded, so all writers make progress."""
_RECENT: Final = 20
_ROW_GROUP: Final = 50_000
"""How many rows of a file are in memory until they are written."""
TIDY_EVERY: Final = 100
ORPHAN_HOURS: Final = 168
"""Files that no commit refers to belong to an unfinished write, which is abandoned after this time (a week)."""

_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m")
_FULL: Final = ("No space left", "os error 28", "disk quota")
_REFUSED: Final = ("AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "403 Forbidden")


class CommitConflict(Exception):
    """Another writer has committed since the table was read; the table was read again."""


class TableState(Struct, frozen=True):
    """What a table has reached: the position in each shard, and the highest fence under which the shard was written."""

    positions: Mapping[str, int] = {}
    fences: Mapping[str, int] = {}


Rows: TypeAlias = Iterable[pa.RecordBatch]


class LakeTable:
    """A Delta table, which is created if needed.

    Writers skip the changes that the table already has according to `reached`.
    """

    def __init__(
        self,
        location: LakeLocation,
        schema: pa.Schema,
        partition_by: Sequence[str],
        *,
        tidy_every: int = TIDY_EVERY,
    ) -> None:
        """Open the table.

        Args:
            location: the location of the table.
            schema: the columns of a new table; an existing table keeps its own.
            partition_by: the columns that determine the folder of a row.
            tidy_every: the number of commits after which small files are merged and unused files are removed.

        Raises:
            StoreError: the table cannot be opened.
        """
        self._location = location
        self._options = location.options()
        with translating(location):
            self._delta = DeltaTable.create(
                location.uri, schema, mode="ignore", partition_by=list(partition_by), storage_options=self._options
            )
        self._tidy_every = tidy_every
        self._reached: TableState | None = None

    @property
    def reached(self) -> TableState:
        """The positions and fences that the table has reached; empty before the first load."""
        if self._reached is None:
            with translating(self._location):
                self._reached = _reached(self._delta)
        return self._reached

    @property
    def positions(self) -> Mapping[str, int]:
        """The positions that the table has reached; empty before the first load."""
        return self.reached.positions

    @property
    def columns(self) -> dict[str, pa.DataType]:
        """The current columns of the table."""
        return {field.name: field.type for field in pa.schema(self._delta.schema())}

    def refresh(self) -> None:
        """Read what other writers have committed."""
        with translating(self._location):
            self._renew_access()
            version = self._delta.version()
            self._delta.update_incremental()
            if self._delta.version() != version:
                self._reached = None

    def append(self, schema: pa.Schema, rows: Rows, reached: TableState) -> None:
        """Add rows, and columns that the table does not have yet.

        Raises:
            CommitConflict: another writer was faster.
        """
        self._write(schema, rows, reached, "append")

    def replace(self, schema: pa.Schema, rows: Rows, reached: TableState) -> None:
        """Replace all rows of the table.

        Raises:
            CommitConflict: another writer was faster.
        """
        self._write(schema, rows, reached, "overwrite")

    def merge(self, rows: pa.Table, reached: TableState) -> None:
        """Replace the row with the same key, or add the row, for each row. No key may occur twice.

        Columns of the table that the rows do not have become null.

        Raises:
            CommitConflict: another writer was faster.
        """
        with self._committing(reached):
            merger = self._delta.merge(
                _widened(rows, self.columns),
                "there._key = new._key",
                source_alias="new",
                target_alias="there",
                merge_schema=True,
                commit_properties=_carrying(reached),
            )
            # A row stays in the partition of the day on which it was first seen.
            merger.when_matched_update_all(except_cols=["date"]).when_not_matched_insert_all().execute()

    def rows(self, columns: Sequence[str]) -> list[dict[str, Any]]:
        """Return some columns of all rows, for a small table."""
        with translating(self._location):
            self._renew_access()
            found: list[dict[str, Any]] = self._delta.to_pyarrow_table(columns=list(columns)).to_pylist()
        return found

    def delete(self, condition: str) -> None:
        """Delete the rows that match a condition. Older versions still have them: see `purge`.

        Raises:
            CommitConflict: another writer was faster.
        """
        with self._committing(self.reached):
            self._delta.delete(condition, commit_properties=_carrying(self.reached))

    def purge(self) -> None:
        """Remove all files that only older versions need, and their statistics in Delta's own log.

        Raises:
            CommitConflict: another writer was faster.
        """
        with translating(self._location):
            self._renew_access()
            self._delta.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
        self._keep_log_for("interval 0 seconds")
        with translating(self._location):
            self._delta.create_checkpoint()
            self._delta.cleanup_metadata()
        self._keep_log_for("interval 30 days")

    def _keep_log_for(self, interval: str) -> None:
        properties = {"delta.logRetentionDuration": interval}
        with self._committing(self.reached):
            self._delta.alter.set_table_properties(properties, commit_properties=_carrying(self.reached))

    def _write(self, schema: pa.Schema, rows: Rows, reached: TableState, mode: Any) -> None:
        with self._committing(reached):
            write_deltalake(
                self._delta,
                pa.RecordBatchReader.from_batches(schema, rows),
                mode=mode,
                schema_mode="merge",
                writer_properties=WriterProperties(max_row_group_size=_ROW_GROUP, compression="SNAPPY"),
                commit_properties=_carrying(reached),
            )
        if self._delta.version() % self._tidy_every == 0:
            self._tidy()

    def _tidy(self) -> None:
        # These commits contain no positions, because another writer may have committed newer ones meanwhile.
        with translating(self._location):
            self._delta.optimize.compact()
            self._delta.vacuum(dry_run=False)
            self._delta.vacuum(retention_hours=ORPHAN_HOURS, dry_run=False, full=True)

    @contextmanager
    def _committing(self, reached: TableState) -> Iterator[None]:
        """Commit on top of the version that was read, or not at all."""
        with translating(self._location):
            self._renew_access()
            version = self._delta.version()
            try:
                yield
            except CommitFailedError as error:
                self._reopen()
                if self._delta.version() == version:
                    raise
                raise CommitConflict from error
            except BaseException:
                self._reopen()  # the commit may have succeeded all the same
                raise
        self._reached = reached

    def _renew_access(self) -> None:
        """Reopen the table if the credentials were renewed, because Delta keeps those that it was opened with."""
        if self._location.options() != self._options:
            self._reopen()

    def _reopen(self) -> None:
        self._reached = None
        self._options = self._location.options()
        self._delta = DeltaTable(self._location.uri, storage_options=self._options)


def _widened(rows: pa.Table, columns: Mapping[str, pa.DataType]) -> pa.Table:
    """Return rows with nulls in columns that they lack, because a merge would keep the values of earlier rows there."""
    for name, kind in columns.items():
        if name not in rows.column_names:
            rows = rows.append_column(name, pa.nulls(len(rows), kind))
    return rows


def reached_in(location: LakeLocation) -> TableState:
    """Return the state of the Delta table at a location; empty if there is none, or if it was never loaded.

    Raises:
        StoreError: the table cannot be read.
    """
    with translating(location):
        try:
            return _reached(DeltaTable(location.uri, storage_options=location.options()))
        except TableNotFoundError:
            return TableState()


def retry_commit(location: LakeLocation, commit: Callable[[], None]) -> None:
    """Commit; if another writer was faster, commit again on top of its version.

    Raises:
        StoreBusy: other writers were faster on every try.
    """
    for _ in range(_TRIES):
        try:
            return commit()
        except CommitConflict:
            continue
    raise StoreBusy(f"Too many writers fill the lake {location} at once.", hint="Run fewer of them.")


@contextmanager
def translating(location: LakeLocation) -> Iterator[None]:
    """Raise the library's errors, in one line, instead of Delta's."""
    try:
        yield
    except CommitConflict:
        raise
    except (DeltaError, OSError) as error:
        raise _failure(location, error) from error


def _failure(location: LakeLocation, error: Exception) -> PartitaError:
    text = " ".join(_COLOURS.sub("", str(error)).split())
    lake = f"The lake {location}"
    if isinstance(error, PermissionError) or "Permission denied" in text:
        return StoreReadOnly(f"{lake} cannot be written ({text}).")
    if any(sign in text for sign in _FULL):
        return StoreFull(f"{lake} has no space left.")
    if "NoSuchBucket" in text:
        return BucketNotFound(f"There is no bucket for the lake {location}.")
    if any(sign in text for sign in _REFUSED):
        return AccessDenied(f"{lake} refuses the credentials.")
    if "s3://" in location.uri:
        return StoreUnavailable(f"{lake} returned an unexpected response: {text}")
    return StoreError(f"{lake} cannot be used: {text}")


def _reached(delta: DeltaTable) -> TableState:
    # Commits of other programs, such as an optimization, contain no positions.
    for limit in (_RECENT, None):
        for entry in delta.history(limit):
            if _POSITIONS in entry:
                return TableState(_numbers(entry[_POSITIONS]), _numbers(entry.get(_FENCES, "{}")))
    return TableState()


def _numbers(text: str) -> dict[str, int]:
    return msgspec.json.decode(text, type=dict[str, int])


def _carrying(reached: TableState) -> CommitProperties:
    said = {_POSITIONS: msgspec.json.encode(reached.positions).decode()}
    if reached.fences:
        said[_FENCES] = msgspec.json.encode(reached.fences).decode()
    return CommitProperties(custom_metadata=said, max_commit_retries=0)
