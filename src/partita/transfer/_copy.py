"""Copying one table: what is there, then what changes, so that the target is never behind what it has shown.

    positions   scan                        the stream's end after the scan
        |---------|-------------------|-----------|----------------------->
        |         items as they are   |  the last image of each item that    then every change,
        |         found, in any order |  changed since `positions`, once     in its order

Each item of a scan is at some instant of it. What changed since the positions that were noted before is then brought to
its last image, which is no older than what the scan has found. So the target is exactly the source at the stream's end.

Last images are applied in any order, and may be applied twice: what counts is that a checkpoint says before they are
written up to where they go. A run that goes on after a kill reads at least that far before it writes, so it writes
nothing older. Changes that are followed are written together with their place, so each is applied once.

A table without a stream is read in one snapshot, where the store has such; one that was cut off is read again.
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
"""Items of one page of a scan, after which a segment's place is saved."""
CHANGES: Final = 1_000
"""About so many changes are read at once."""
MAX_GETS: Final = 100


class CopyOptions(Struct, frozen=True):
    """How a table is copied."""

    segments: int = 4
    workers: int = 8
    wcu: float | None = None
    """Write units a second at most."""
    replace: bool = False
    """Delete what only the target has, where it is not empty when the copy begins."""
    changes_only: bool = False
    """Copy no items: both sides are equal now."""
    restart: bool = False
    """Begin again, whatever was copied before."""
    still: bool = False
    """Nobody writes to the source, so it needs no stream."""


class TableCopy:
    """Brings one table of the source to the target, and keeps it up to date."""

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
            source: where the table is.
            target: where it is copied to.
            table: its name.
            owner: tells this run from all others.
            options: how.
            outside: time and patience.
            on_written: hears of items that were written, and of the units that took.
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
        """What the target's table has otherwise."""

    def prepare(self) -> None:
        """Make the target's table where it is missing, and find out where to go on.

        Raises:
            CopyRefused: it cannot be copied as it was asked for.
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
            hint = "Say --restart to begin again from this one."
            raise CopyRefused(f"{self.table} was copied from another table of that name.", hint=hint)
        if saved.positions is None:
            if self._options.still and saved.phase != "changes":
                return saved
            return self._begun(source, target, sweeps=True, is_ours=True)  # nothing tells what has changed since
        if self._stream is None:
            hint = "Leave --still out." if self._options.still else "Say --restart to begin again."
            raise CopyRefused(f"The copy of {self.table} follows a stream, which is not used any more.", hint=hint)
        return saved

    def _begun(self, source: str, target: str, *, sweeps: bool, is_ours: bool) -> CopyState:
        options = self._options
        if self._stream is None and not (options.still or self._source_side.has_snapshots):
            hint = f"Switch one on ({COMPLETE}), or say --still where nobody writes to it."
            raise CopyRefused(f"The table {self.table} has no stream that tells what changes meanwhile.", hint=hint)
        positions = None if self._stream is None else _texts(self._stream.end())
        if options.changes_only:
            if positions is None:
                raise CopyRefused(f"The table {self.table} has no stream, so there are no changes to copy.")
            return CopyState(source, target, "changes", positions=positions)
        if sweeps and not (options.replace or is_ours):
            hint = "Say --replace to make it equal to the source: what only the target has is deleted."
            raise CopyRefused(f"The table {self.table} of the target is not empty.", hint=hint)
        segments = (Segment(),) * options.segments
        return CopyState(source, target, "scan", segments, positions=positions, sweeps=sweeps)

    @property
    def is_exact(self) -> bool:
        """Whether the target is what the source was at one place of its stream, and every change since can follow."""
        return self._state.phase == "changes" and self._state.intended is None

    @property
    def copied(self) -> int:
        """How many items of the scan earlier runs have copied."""
        return self._state.copied

    @property
    def follows(self) -> bool:
        """Whether changes can be followed."""
        return self._stream is not None

    def load(self) -> None:
        """Copy the items that are there, or the rest of them; and delete what only the target has, if that is asked.

        Raises:
            CopyRefused: the target refuses an item. StoreError: a store was in trouble for too long.
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
        """What the scan reads: with a stream the store itself, so that its log stays short; else one instant of it."""
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
        """Delete what the source has not. What it gets again meanwhile comes with the changes, which follow."""
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
        """Bring each item to its last image at the end of the stream, or at given positions; says how many changed.

        Raises:
            RebuildRequired: the stream has not kept all changes since.
        """
        if self._stream is None:
            return 0
        if self._source_side.settle:
            self._outside.pause(self._source_side.settle)  # a record may come later than what the scan has seen of it
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
            until = stream.end()  # else writers could keep it busy for ever
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
        """Apply some changes, each in its place of the stream; says whether there may be more at once.

        Raises:
            RebuildRequired: the stream has not kept all changes since. CopyRefused: the target refuses one.
        """
        if self._stream is None:
            raise CopyRefused(f"The table {self.table} has no stream, so there are no changes to follow.")
        if not self.is_exact:  # changes would be older than what it shows already
            self.load()
            self.catch_up()
        batch = _read(self._stream, self._positions)
        for changes in transactions(batch.changes):
            self._state = self._changes.write(changes, self._state)
            self._unsaved = False
        if self._positions != batch.positions:  # a shard has ended, or another begun
            self._state = replace(self._state, positions=_texts(batch.positions))
            self._unsaved = True
        if not batch.changes:
            self.rest()
        return batch.more

    def rest(self) -> None:
        """Save what was applied."""
        if self._unsaved:
            self._save(self._state)

    def end(self) -> dict[str, int] | None:
        """Where the stream ends now; None where there is none."""
        return None if self._stream is None else self._stream.end()

    def lag(self) -> Lag:
        """How far the target is behind."""
        if self._stream is None:
            return Lag(0, 0.0)
        return self._stream.lag(self._positions, self._outside.clock())

    def close(self) -> None:
        """End the threads. What was not finished is gone on with by the next run."""
        self._stop.set()
        self._opened.close()


def _read(stream: ChangeStream, positions: Mapping[str, int]) -> Batch:
    try:
        return stream.read(positions, CHANGES)
    except RebuildRequired as error:
        raise RebuildRequired(error.message, hint="Begin the copy again with --restart.") from error


def _identity(description: TableDescription) -> str:
    return repr(description.created_at)


def _texts(positions: Mapping[str, int]) -> dict[str, str]:
    return {shard: str(sequence) for shard, sequence in positions.items()}


def _numbers(positions: Mapping[str, str]) -> dict[str, int]:
    return {shard: int(sequence) for shard, sequence in positions.items()}
