"""Copying one table: first its items, then its changes, so that the target never returns to an older state.

    positions   scan                        the stream's end after the scan
        |---------|-------------------|-----------|----------------------->
        |         items as they are   |  the last image of each item that    then every change,
        |         found, in any order |  changed since `positions`, once     in its order

The scan reads each item at a different instant. The positions are recorded before the scan. Every item that has changed
since then is set to its last image, which is not older than the image that the scan has read. So the target is exactly
the source at the stream's end.

Last images are applied in any order, and may be applied twice. Before they are written, a checkpoint records the
positions up to which they go. A run that resumes after a kill reads at least that far before it writes, so it never
writes an older image. When changes are followed, they are written together with their position, so each is applied
once.

A table without a stream is read from one snapshot if the store has snapshots; if interrupted, it is read again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from partita.change import Batch, ChangeStream, Lag
from partita.errors import CopyRefused, RebuildRequired
from partita.expressions import Path
from partita.runtime import Pace, chunks
from partita.store import BatchGetItem, DeleteItem, DescribeTable, GetItem, ScanTable, Store, TableDescription
from partita.transfer._changes import COMPLETE, ChangeStage, reached, stream_of
from partita.transfer._checkpoint import Checkpoint, CopyState, Segment
from partita.transfer._following import ChangeWriter, transactions
from partita.transfer._sides import Outside, PatientStore, Side
from partita.transfer._tables import ensure_table, is_empty, table_differences
from partita.transfer._writing import ItemWriter
from partita.values import Item

PAGE: Final = 1_000
"""The number of items in a page of a scan; the progress of a segment is saved after each page."""
CHANGES: Final = 1_000
"""About how many changes are read at once."""
MAX_GETS: Final = 100
_NO_STREAM: Final = "no stream with new and old images"


class CopyOptions(Struct, frozen=True):
    """Options for copying a table."""

    segments: int = 4
    workers: int = 8
    wcu: float | None = None
    """The limit for write units per second."""
    replace: bool = False
    """Delete items that only the target has, if it is not empty when the copy begins."""
    changes_only: bool = False
    """Copy only changes, because both sides are equal now."""
    restart: bool = False
    """Start over, regardless of what was copied before."""
    still: bool = False
    """Nobody writes to the source during the copy, so it needs no stream."""


class TableCopy:
    """Copies one table from the source to the target, and keeps the copy up to date."""

    def __init__(
        self,
        source: Side,
        target: Side,
        table: str,
        *,
        owner: str,
        options: CopyOptions | None = None,
        outside: Outside | None = None,
        on_written: Callable[[int, float], object] = lambda _items, _units: None,
    ) -> None:
        """Set up a copy; nothing is read yet.

        Args:
            source: the store that has the table.
            target: the store that it is copied to.
            table: the name of the table.
            owner: an identifier of this run that no other run has.
            options: how to copy.
            outside: clock, pauses and patience.
            on_written: called with the number of written items and the units that they consumed.
        """
        self.table = table
        self._options = options or CopyOptions()
        self._outside = outside or Outside()
        self._stop = threading.Event()
        self._source_side = source
        self._target_side = target
        self._source = PatientStore(source.store, self._outside, self._stop)
        self._target = PatientStore(target.store, self._outside, self._stop)
        self._checkpoint = Checkpoint(self._target, table, owner)
        self._on_written = on_written
        self._saving = threading.Lock()
        self._opened = ExitStack()
        self._stream: ChangeStream | None = None
        self._unsaved = False
        self.notes: tuple[str, ...] = ()
        """Differences of the target's table from that of the source."""

    def prepare(self) -> None:
        """Create the target's table if it is missing, and find out where to resume.

        Raises:
            CopyRefused: the table cannot be copied with these options.
        """
        described = self._source.execute(DescribeTable(self.table))
        self.schema = described.schema
        if self.schema.stream == COMPLETE and not self._options.still:
            self._stream = stream_of(self._source, self.schema)
        made = ensure_table(self._target, self.schema)
        self.notes = tuple(table_differences(self.schema, made.schema))
        pace = Pace(self._options.wcu, pause=self._outside.pause)
        self._writer = self._opened.enter_context(
            ItemWriter(
                self._target,
                self.schema,
                pace=pace,
                workers=self._options.workers,
                pause=self._outside.pause,
                on_written=self._on_written,
                loader=self._target_side.loader(self.table, self._outside, self._stop),
            )
        )
        self._changes = ChangeWriter(
            self._target, self.schema, self._checkpoint, pace=pace, on_written=self._on_written
        )
        self._state = self._resumed(self._checkpoint.take(), _identity(described), _identity(made))
        self._checkpoint.save(self._state)

    def _resumed(self, saved: CopyState | None, source: str, target: str) -> CopyState:
        if saved is None or saved.target != target or self._options.restart:
            is_ours = saved is not None and saved.target == target
            return self._begun(source, target, sweeps=not is_empty(self._target, self.table), is_ours=is_ours)
        if saved.source != source:
            hint = "Use --restart to start over from this table."
            raise CopyRefused(f"{self.table} was copied from another table of that name.", hint=hint)
        if saved.positions is None:
            if self._options.still and saved.phase != "changes":
                return saved
            return self._begun(source, target, sweeps=True, is_ours=True)  # changes since then are unknown
        if self._stream is None:
            hint = "Omit --still." if self._options.still else "Use --restart to start over."
            raise CopyRefused(f"The copy of {self.table} follows a stream, which is not used any more.", hint=hint)
        return saved

    def _begun(self, source: str, target: str, *, sweeps: bool, is_ours: bool) -> CopyState:
        options = self._options
        if self._stream is None and not (options.still or self._source_side.has_snapshots):
            hint = f"Enable a stream ({COMPLETE}), or use --still if nobody writes to the table."
            raise CopyRefused(f"The table {self.table} has no stream with the changes during the copy.", hint=hint)
        positions = None if self._stream is None else _texts(self._stream.end())
        if options.changes_only:
            if positions is None:
                raise CopyRefused(f"The table {self.table} has {_NO_STREAM}, so there are no changes to copy.")
            return CopyState(source, target, "changes", positions=positions)
        if sweeps and not (options.replace or is_ours):
            hint = "Use --replace to make it equal to the source: items that only the target has are deleted."
            raise CopyRefused(f"The table {self.table} of the target is not empty.", hint=hint)
        segments = (Segment(),) * options.segments
        return CopyState(source, target, "scan", segments, positions=positions, sweeps=sweeps)

    @property
    def is_exact(self) -> bool:
        """Whether the target equals the source at one position in its stream, so that every later change can follow."""
        return self._state.phase == "changes" and self._state.intended is None

    @property
    def copied(self) -> int:
        """The number of items of the scan that were copied, including those of earlier runs."""
        return self._state.copied

    @property
    def follows(self) -> bool:
        """Whether changes can be followed."""
        return self._stream is not None

    def load(self) -> None:
        """Copy the items that are not copied yet, and delete those that only the target has, if that is requested.

        Raises:
            CopyRefused: the target refuses an item. StoreError: a store kept failing for too long.
        """
        if self._state.phase == "scan":
            with self._readable() as store:
                self._scan(store)
            self._save(replace(self._state, phase="sweep", segments=()))
        if self._state.phase == "sweep":
            if self._state.sweeps:
                self._sweep()
            self._save(replace(self._state, phase="changes", sweeps=False, intended=self._state.positions))

    @contextmanager
    def _readable(self) -> Iterator[Store]:
        """Yield the store to scan: with a stream the live store, so that its log stays short; else one snapshot."""
        if self._stream is not None:
            yield self._source
            return
        with self._source_side.frozen() as store:
            yield PatientStore(store, self._outside, self._stop)

    def _scan(self, store: Store) -> None:
        count = len(self._state.segments)
        with ThreadPoolExecutor(count, thread_name_prefix="partita-scan") as pool:
            futures = [pool.submit(self._scan_segment, store, number) for number in range(count)]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                self._stop.set()
                raise

    def _scan_segment(self, store: Store, number: int) -> None:
        count = len(self._state.segments)
        while not self._state.segments[number].done and not self._stop.is_set():
            start = self._state.segments[number].last
            page = store.execute(
                ScanTable(self.table, limit=PAGE, start=start, segment=number, segments=count, consistent=True)
            )
            self._writer.put(page.items)
            self._save_segment(number, Segment(page.last_key, done=page.last_key is None), page.count)

    def _save_segment(self, number: int, segment: Segment, copied: int) -> None:
        with self._saving:
            segments = list(self._state.segments)
            segments[number] = segment
            self._state = replace(self._state, segments=tuple(segments), copied=self._state.copied + copied)
            self._checkpoint.save(self._state)

    def _save(self, state: CopyState) -> None:
        with self._saving:
            self._state = state
            self._checkpoint.save(state)
            self._unsaved = False

    def _sweep(self) -> None:
        """Delete items that the source does not have. If it gets one again meanwhile, the changes will include that."""
        names = tuple(attribute.name for attribute in self.schema.key)
        projection = tuple(Path((name,)) for name in names)
        start: Item | None = None
        while True:
            page = self._target.execute(
                ScanTable(self.table, projection=projection, limit=PAGE, start=start, consistent=True)
            )
            absent = [key for keys in chunks(page.items, MAX_GETS) for key in self._absent(keys)]
            self._writer.write([DeleteItem(self.table, key) for key in absent])
            start = page.last_key
            if start is None:
                return

    def _absent(self, keys: tuple[Item, ...]) -> Iterator[Item]:
        projection = tuple(Path((attribute.name,)) for attribute in self.schema.key)
        gets = tuple(GetItem(self.table, key, consistent=True, projection=projection) for key in keys)
        while gets:
            response = self._source.execute(BatchGetItem(gets))
            for get, item in zip(gets, response.items, strict=True):
                if item is None and get not in response.unprocessed:
                    yield get.key
            gets = response.unprocessed

    def catch_up(self, until: Mapping[str, int] | None = None) -> int:
        """Set each item to its last image at the end of the stream, or at `until`; return how many items changed.

        Raises:
            RebuildRequired: the stream no longer has all changes since.
        """
        if self._stream is None:
            return 0
        if self._source_side.settle:
            self._outside.pause(self._source_side.settle)  # a record may arrive after the scan has read its write
        wanted = _numbers(self._state.intended or {})
        with ChangeStage(self.table) as stage:
            positions = self._stage(self._stream, stage, wanted, until)
            if positions == self._positions and self.is_exact:
                return 0
            self._save(replace(self._state, intended=_texts(positions)))
            for writes in chunks(stage.writes(), PAGE):
                self._writer.write(writes)
            self._save(replace(self._state, positions=_texts(positions), intended=None))
            return len(stage)

    def _stage(
        self,
        stream: ChangeStream,
        stage: ChangeStage,
        wanted: Mapping[str, int],
        until: Mapping[str, int] | None,
    ) -> dict[str, int]:
        positions = self._positions
        if until is None and stream.delivers_at_once():
            until = stream.end()  # without an end, this might never finish while others write
        while True:
            batch = _read(stream, positions)
            cut = {shard: min(at, (until or {}).get(shard, at)) for shard, at in batch.positions.items()}
            stage.add(change for change in batch.changes if change.sequence <= cut[change.shard])
            positions = cut
            if (not batch.more or (until is not None and reached(positions, until))) and reached(positions, wanted):
                return positions

    @property
    def _positions(self) -> dict[str, int]:
        return _numbers(self._state.positions or {})

    def step(self) -> bool:
        """Apply some changes in the order of the stream; return whether more may be available at once.

        Raises:
            RebuildRequired: the stream no longer has all changes since. CopyRefused: the target refuses a change.
        """
        if self._stream is None:
            raise CopyRefused(f"The table {self.table} has {_NO_STREAM}, so there are no changes to follow.")
        if not self.is_exact:  # the changes could be older than the items that the target already has
            self.load()
            self.catch_up()
        batch = _read(self._stream, self._positions)
        for changes in transactions(batch.changes):
            self._state = self._changes.write(changes, self._state)
            self._unsaved = False
        if self._positions != batch.positions:  # a shard has ended, or another has begun
            self._state = replace(self._state, positions=_texts(batch.positions))
            self._unsaved = True
        if not batch.changes:
            self.rest()
        return batch.more

    def rest(self) -> None:
        """Save the progress if it was not saved yet."""
        if self._unsaved:
            self._save(self._state)

    def end(self) -> dict[str, int] | None:
        """Return the current end of the stream; None if there is no stream."""
        return None if self._stream is None else self._stream.end()

    def lag(self) -> Lag:
        """Return the lag of the target."""
        if self._stream is None:
            return Lag(0, 0.0)
        return self._stream.lag(self._positions, self._outside.clock())

    def close(self) -> None:
        """Stop the threads. The next run continues what was not finished."""
        self._stop.set()
        self._opened.close()


def _read(stream: ChangeStream, positions: Mapping[str, int]) -> Batch:
    try:
        return stream.read(positions, CHANGES)
    except RebuildRequired as error:
        raise RebuildRequired(error.message, hint="Start the copy over with --restart.") from error


def _identity(description: TableDescription) -> str:
    return repr(description.created_at)


def _texts(positions: Mapping[str, int]) -> dict[str, str]:
    return {shard: str(sequence) for shard, sequence in positions.items()}


def _numbers(positions: Mapping[str, str]) -> dict[str, int]:
    return {shard: int(sequence) for shard, sequence in positions.items()}
