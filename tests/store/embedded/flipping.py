"""Stores with changed bytes, and every kind of read of them."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.store.embedded.support import BY_OWNER, TABLE, note

from partita.errors import StoreDamaged, StoreNewer
from partita.expressions import KeyCondition
from partita.store import (
    BatchGetItem,
    CreateTable,
    DescribeStream,
    GetItem,
    QueryTable,
    ReadStream,
    Request,
    ScanTable,
    TransactGetItems,
)
from partita.store._schema import TableSchema
from partita.store.embedded import EmbeddedStore

ITEMS = 60
SCHEMA = TableSchema(TABLE.name, TABLE.hash, TABLE.range, (BY_OWNER,), stream="NEW_AND_OLD_IMAGES")


def keys() -> list[dict[str, str]]:
    return [{"pk": "p", "sk": f"{number:06}"} for number in range(ITEMS)]


def reads(store: EmbeddedStore) -> Iterator[Request[Any]]:
    """Yield every kind of read of an item, an index or a stream."""
    gets = tuple(GetItem("notes", key) for key in keys())
    yield from gets
    yield BatchGetItem(gets)
    yield TransactGetItems(gets)
    yield QueryTable("notes", KeyCondition((("pk", "p"),)))
    yield ScanTable("notes")
    yield QueryTable("notes", KeyCondition((("owner", "o1"),)), index="by-owner")
    yield ScanTable("notes", index="by-owner")
    yield DescribeStream("notes")
    [shard] = store.execute(DescribeStream("notes")).shards
    yield ReadStream("notes", shard.id, 0, 100)


def responses(path: Path) -> list[object]:
    """Return the response of each read; None for a read that meets damage."""
    found: list[object] = []
    try:
        with EmbeddedStore(path) as store:
            for request in reads(store):
                try:
                    found.append(store.execute(request))
                except StoreDamaged:
                    found.append(None)
    except (StoreDamaged, StoreNewer):  # it cannot be opened, or its stream cannot be described
        pass
    return found


def filled(folder: Path) -> Path:
    """Create a closed store, `live.db`, and a killed one, `killed.db`, that has half of its commits in its log."""
    with EmbeddedStore(folder / "live.db") as store:
        store.execute(CreateTable(SCHEMA))
        store._writer.connection.pragma("wal_autocheckpoint", 0)
        for number in range(ITEMS):
            store.execute(note(number, owner=f"o{number % 3}", rank=number, text=f"{number} " * 40))
            if number == ITEMS // 2:
                store._writer.connection.pragma("wal_checkpoint", "TRUNCATE")
        for part in ("", "-wal"):
            shutil.copy(folder / f"live.db{part}", folder / f"killed.db{part}")
    return folder


def copied(files: Path, folder: Path, name: str) -> Path:
    path = folder / "store.db"
    for part in ("", "-wal"):
        path.with_name(f"store.db{part}").unlink(missing_ok=True)
        if (files / f"{name}{part}").exists():
            shutil.copy(files / f"{name}{part}", folder / f"store.db{part}")
    return path


def flip(file: Path, rng: random.Random) -> None:
    content = bytearray(file.read_bytes())
    position = rng.randrange(len(content))
    content[position] ^= 1 << rng.randrange(8)
    file.write_bytes(content)


def wrong(found: list[object], right: list[object]) -> list[object]:
    return [each for each, expected in zip(found, right, strict=False) if each is not None and each != expected]


def without_the_last_commit(files: Path, folder: Path) -> list[object]:
    """Return the responses of the killed store if its last commit was not finished."""
    path = copied(files, folder, "killed.db")
    log = path.with_name("store.db-wal")
    log.write_bytes(log.read_bytes()[:-1])
    return responses(path)
