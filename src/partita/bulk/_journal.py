"""The progress of each load, in a table of the store that it loads into.

| `part` | `id` | content |
| --- | --- | --- |
| `progress` | of the load | its progress, written in the same transaction as the items |
| `report/ID` | kind and number | lines of reports, until they are written to their destination |
| others | | data that the caller of the load keeps about it |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

import msgspec
from msgspec import Struct

from partita.errors import TableInUse
from partita.expressions import KeyCondition
from partita.runtime import chunks
from partita.store import (
    BatchWriteItem,
    CreateTable,
    DeleteItem,
    GetItem,
    KeyAttribute,
    ListTables,
    PutItem,
    QueryTable,
    Store,
    TableSchema,
)
from partita.values import Item

JOURNAL: Final = TableSchema("partita.bulk", KeyAttribute("part"), KeyAttribute("id"))
"""The table of all journals of a store."""

_BATCH: Final = 25
PIECE_BYTES: Final = 300 * 1024
"""Lines of reports are kept in items of this size, which is below the size limit of an item."""


class Progress(Struct, frozen=True):
    """What a load has done so far; `records` counts those of the current input, whose index is `input`."""

    input: int = 0
    records: int = 0
    processed: int = 0
    """All records so far: written, failed, or not written because their condition was false."""
    failed: int = 0
    unmet: int = 0
    """Records whose condition was false."""
    read_bytes: int = 0
    written_bytes: int = 0
    index_bytes: dict[str, int] = {}
    vector_bytes: dict[str, int] = {}
    pieces: int = 0
    """The number of stored pieces of reports."""


class BulkJournal:
    """The journal of one load."""

    def __init__(self, store: Store, load: str) -> None:
        self._store = store
        self._load = load

    @staticmethod
    def prepare(store: Store) -> None:
        """Create the table of journals if it does not exist."""
        if JOURNAL.name not in store.execute(ListTables()):
            with suppress(TableInUse):  # another process was first
                store.execute(CreateTable(JOURNAL))

    def progress(self) -> Progress:
        """The progress that was last written."""
        item = self._store.execute(GetItem(JOURNAL.name, _key("progress", self._load), consistent=True)).item
        return Progress() if item is None else msgspec.convert(item["progress"], Progress)

    def entries(self, progress: Progress, lines: Sequence[tuple[str, bytes]]) -> tuple[Progress, list[PutItem]]:
        """The updated progress, and the writes that store it and new (kind, line) pairs with the records."""
        pieces = [
            PutItem(JOURNAL.name, {**_key(f"report/{self._load}", f"{kind}/{number:012}"), "text": text})
            for number, (kind, text) in enumerate(_pieces(lines), progress.pieces)
        ]
        progress = msgspec.structs.replace(progress, pieces=progress.pieces + len(pieces))
        kept = {**_key("progress", self._load), "progress": msgspec.to_builtins(progress)}
        return progress, [PutItem(JOURNAL.name, kept), *pieces]

    def report(self, kind: str) -> Iterator[bytes]:
        """The lines of one kind, in pieces that may end within a line."""
        for item in self._kept(f"{kind}/"):
            yield item["text"]

    def forget_reports(self) -> None:
        """Delete the stored lines, after they were written to their destination."""
        for some in chunks(self._kept(""), _BATCH):
            keys = [{name: item[name] for name in ("part", "id")} for item in some]
            self._store.execute(BatchWriteItem(tuple(DeleteItem(JOURNAL.name, key) for key in keys)))

    def forget_progress(self) -> None:
        """Delete the progress of the load."""
        self._store.execute(DeleteItem(JOURNAL.name, _key("progress", self._load)))

    def _kept(self, prefix: str) -> Iterator[Item]:
        of_report = KeyCondition((("part", f"report/{self._load}"),))
        start: Item | None = None
        while True:
            page = self._store.execute(QueryTable(JOURNAL.name, of_report, start=start, consistent=True))
            yield from (item for item in page.items if item["id"].startswith(prefix))
            start = page.last_key
            if start is None:
                return


def _key(part: str, name: str) -> Item:
    return {"part": part, "id": name}


def _pieces(lines: Sequence[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """The lines of each kind, joined and then split into pieces that fit into an item."""
    kinds = dict.fromkeys(kind for kind, _ in lines)
    for kind in kinds:
        text = b"".join(line for each, line in lines if each == kind)
        for start in range(0, len(text), PIECE_BYTES):
            yield kind, text[start : start + PIECE_BYTES]
