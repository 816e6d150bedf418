"""One Delta table of the lake: every commit carries the positions that it brings the table to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, write_deltalake

_POSITIONS: Final = "partita.positions"
TIDY_EVERY: Final = 100


class LakeTable:
    """A Delta table that is made where there is none.

    delta-rs compares nothing before it writes, so whoever writes passes over what `positions` say is there.
    """

    def __init__(
        self, path: Path, schema: pa.Schema, partition_by: Sequence[str], *, tidy_every: int = TIDY_EVERY
    ) -> None:
        """Open the table.

        Args:
            path: its folder.
            schema: the columns of a new table; one that is there keeps its own.
            partition_by: the columns that say which folder a row is in.
            tidy_every: after so many commits small files are put together, and those of no use any more are removed.
        """
        self._delta = DeltaTable.create(path, schema, mode="ignore", partition_by=list(partition_by))
        self._tidy_every = tidy_every
        self._positions: dict[str, int] | None = None

    @property
    def positions(self) -> Mapping[str, int]:
        """Where it is; empty before the first load."""
        if self._positions is None:
            self._positions = _positions(self._delta)
        return self._positions

    @property
    def columns(self) -> dict[str, pa.DataType]:
        """The columns that it has now."""
        return {field.name: field.type for field in pa.schema(self._delta.schema())}

    def append(self, schema: pa.Schema, rows: Iterable[pa.RecordBatch], positions: Mapping[str, int]) -> None:
        """Add rows; columns that are new are added too."""
        self._write(schema, rows, positions, "append")

    def replace(self, schema: pa.Schema, rows: Iterable[pa.RecordBatch], positions: Mapping[str, int]) -> None:
        """Put rows in place of all that are there."""
        self._write(schema, rows, positions, "overwrite")

    def merge(self, rows: pa.Table, positions: Mapping[str, int]) -> None:
        """Put each row in place of the one with its key, or add it. No key may come twice."""
        merger = self._delta.merge(
            rows,
            "there._key = new._key",
            source_alias="new",
            target_alias="there",
            merge_schema=True,
            commit_properties=_carrying(positions),
        )
        # A row stays in the partition of the day on which it was first seen.
        merger.when_matched_update_all(except_cols=["date"]).when_not_matched_insert_all().execute()
        self._committed(positions)

    def rows(self, columns: Sequence[str]) -> list[dict[str, Any]]:
        """Some columns of all rows, for a small table."""
        found: list[dict[str, Any]] = self._delta.to_pyarrow_table(columns=list(columns)).to_pylist()
        return found

    def delete(self, condition: str) -> None:
        """Delete the rows for which a condition holds. Older versions still have them: see `purge`."""
        self._delta.delete(condition, commit_properties=_carrying(self.positions))

    def purge(self) -> None:
        """Remove all files that only older versions need, and their statistics in Delta's own log."""
        self._delta.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
        self._keep_log_for("interval 0 seconds")
        self._delta.create_checkpoint()
        self._delta.cleanup_metadata()
        self._keep_log_for("interval 30 days")

    def _keep_log_for(self, interval: str) -> None:
        properties = {"delta.logRetentionDuration": interval}
        self._delta.alter.set_table_properties(properties, commit_properties=_carrying(self.positions))

    def _write(
        self, schema: pa.Schema, rows: Iterable[pa.RecordBatch], positions: Mapping[str, int], mode: Any
    ) -> None:
        write_deltalake(
            self._delta,
            pa.RecordBatchReader.from_batches(schema, rows),
            mode=mode,
            schema_mode="merge",
            commit_properties=_carrying(positions),
        )
        self._committed(positions)

    def _committed(self, positions: Mapping[str, int]) -> None:
        self._positions = dict(positions)
        if self._delta.version() % self._tidy_every == 0:
            self._delta.optimize.compact(commit_properties=_carrying(positions))
            self._delta.vacuum(dry_run=False)


def positions_in(path: Path) -> dict[str, int]:
    """Where the Delta table at a path is; empty if there is none, or it was never loaded."""
    return _positions(DeltaTable(path)) if DeltaTable.is_deltatable(str(path)) else {}


def _positions(delta: DeltaTable) -> dict[str, int]:
    # Commits of other programs, such as an optimization, carry none.
    for entry in delta.history():
        if _POSITIONS in entry:
            return msgspec.json.decode(entry[_POSITIONS], type=dict[str, int])
    return {}


def _carrying(positions: Mapping[str, int]) -> CommitProperties:
    return CommitProperties(custom_metadata={_POSITIONS: msgspec.json.encode(positions).decode()})
