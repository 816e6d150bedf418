"""The load itself: it writes records in large transactions, each together with the progress of the load.

    read 2,000 records ── one transaction: items, index entries, stream records, lines of reports, progress ── next

A process that is killed has committed all of a transaction or nothing of it. A process that resumes the load skips the
records that the journal counts, so no condition is evaluated again against items that the load itself wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from partita.bulk._journal import BulkJournal, Progress
from partita.bulk._reports import CONDITION, ERROR, rejected_line, unreadable_line, write_parts
from partita.errors import ConditionFailed
from partita.runtime import Pace, chunks
from partita.store import PutItem, Store
from partita.store.embedded import BulkPut, LoadItems, LoadResponse

CHUNK: Final = 2_000
"""The number of records that are written at once, while other writers wait."""


class Unreadable(Struct, frozen=True):
    """A record that cannot be parsed, or the rest of an input if it cannot be read further."""

    message: str
    text: bytes = b""


Record: TypeAlias = BulkPut | Unreadable
"""One record of an input."""


class BulkInput(Protocol):
    """One input: a file, or an object of a bucket."""

    @property
    def name(self) -> str:
        """Its name in reports."""
        ...

    @property
    def size(self) -> int:
        """Its stored size in bytes."""
        ...

    @property
    def read_bytes(self) -> int:
        """The number of stored bytes read so far."""
        ...

    def records(self, skip: int) -> Iterator[Record]:
        """Its records, after skipping the first `skip`.

        Raises:
            PartitaError: the input cannot be read now, or has changed.
        """
        ...


class BulkLoad:
    """Loads inputs into one table of an embedded store."""

    def __init__(
        self,
        store: Store,
        table: str,
        load: str,
        *,
        reports: Sequence[str] = (ERROR, CONDITION),
        chunk: int = CHUNK,
        pace: Pace | None = None,
        on_progress: Callable[[Progress], object] = lambda _: None,
    ) -> None:
        """Prepare a load.

        Args:
            store: an embedded store.
            table: an existing table.
            load: the name of the load in the journal; a load of the same name is resumed.
            reports: the kinds of report lines to keep.
            chunk: the number of records that are written at once.
            pace: limits the write units per second.
            on_progress: called after each transaction.
        """
        self._store = store
        self._table = table
        self._journal = BulkJournal(store, load)
        self._reports = reports
        self._pace = pace or Pace(None)
        self._chunk = max(1, min(chunk, int(self._pace.per_second or chunk)))
        self._on_progress = on_progress

    def progress(self) -> Progress:
        """The progress of the load so far."""
        return self._journal.progress()

    def run(self, inputs: Sequence[BulkInput], stop: Callable[[], bool] = lambda: False) -> bool:
        """Load the records that are not loaded yet. Return False if `stop` ended the load early.

        Raises:
            TableNotFound: the table does not exist. PartitaError: an input cannot be read.
        """
        progress = self._journal.progress()
        before = sum(each.size for each in inputs[: progress.input])
        for place in range(progress.input, len(inputs)):
            if place > progress.input:
                progress = replace(progress, input=place, records=0)
            each = inputs[place]
            for chunk in chunks(each.records(progress.records), self._chunk):
                if stop():
                    return False
                progress = self._write(progress, each, chunk, before)
            before += each.size
        self._save(replace(progress, input=len(inputs), records=0, read_bytes=sum(each.size for each in inputs)))
        return True

    def _write(self, progress: Progress, source: BulkInput, chunk: Sequence[Record], before: int) -> Progress:
        """Write a chunk and the new progress in one transaction."""
        puts = [record for record in chunk if isinstance(record, BulkPut)]
        numbers = [number for number, record in enumerate(chunk, progress.records + 1) if isinstance(record, BulkPut)]
        unreadable = [
            (ERROR, unreadable_line(source.name, number, record.message, record.text))
            for number, record in enumerate(chunk, progress.records + 1)
            if isinstance(record, Unreadable)
        ]
        done = progress

        def journal(response: LoadResponse) -> list[PutItem]:
            nonlocal done
            rejected = [
                rejected_line(source.name, numbers[each.position], puts[each.position].item, each.error)
                for each in response.rejected
            ]
            unmet = sum(isinstance(each.error, ConditionFailed) for each in response.rejected)
            done, entries = self._journal.entries(
                replace(
                    progress,
                    records=progress.records + len(chunk),
                    processed=progress.processed + len(chunk),
                    failed=progress.failed + len(unreadable) + len(response.rejected) - unmet,
                    unmet=progress.unmet + unmet,
                    read_bytes=max(progress.read_bytes, before + source.read_bytes),
                    written_bytes=progress.written_bytes + response.size,
                    index_bytes=_sums(progress.index_bytes, response.index_sizes),
                    vector_bytes=_sums(progress.vector_bytes, response.vector_sizes),
                ),
                [line for line in (*unreadable, *rejected) if line[0] in self._reports],
            )
            return entries

        response = self._store.execute(LoadItems(self._table, puts, journal))
        self._pace.take(response.units)
        self._on_progress(done)
        return done

    def _save(self, progress: Progress) -> None:
        _, entries = self._journal.entries(progress, ())
        for entry in entries:
            self._store.execute(entry)
        self._on_progress(progress)

    def write_reports(self, write: Callable[[str, bytes], object]) -> list[str]:
        """Write the stored lines as files with names such as `ERROR/part-00000.json`, and return those names.

        A repeated call writes the same files.
        """
        names: list[str] = []
        for kind in self._reports:

            def write_part(number: int, text: bytes, kind: str = kind) -> None:
                names.append(f"{kind}/part-{number:05}.json")
                write(names[-1], text)

            write_parts(self._journal.report(kind), write_part)
        return names

    def forget_reports(self) -> None:
        """Delete the stored lines of reports."""
        self._journal.forget_reports()

    def forget(self) -> None:
        """Delete the reports and the progress: a load of the same name starts from the beginning."""
        self._journal.forget_reports()
        self._journal.forget_progress()


def _sums(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in one | other}
