"""A transaction may write at most four megabytes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from partita import EmbeddedStore
from partita.errors import ValidationFailed
from partita.store import CreateTable, KeyAttribute, PutItem, ScanTable, TableSchema, TransactWriteItems

MOST = 4 * 1024 * 1024
ITEM = 300_000
TABLE = TableSchema("large", KeyAttribute("pk"))


@pytest.fixture
def store() -> Iterator[EmbeddedStore]:
    with EmbeddedStore(":memory:") as store:
        store.execute(CreateTable(TABLE))
        yield store


def puts(size: int) -> tuple[PutItem, ...]:
    """Return puts of this total size: each has 2 bytes of the key's name, 2 of the key, and 1 of the text's name."""
    whole, rest = divmod(size, ITEM)
    sizes = [ITEM] * whole + [rest]
    return tuple(PutItem("large", {"pk": f"{n:02}", "x": "x" * (each - 5)}) for n, each in enumerate(sizes))


def test_four_megabytes_are_written(store: EmbeddedStore) -> None:
    store.execute(TransactWriteItems(puts(MOST)))
    assert len(store.execute(ScanTable("large", limit=3)).items) == 3


def test_a_byte_more_is_refused_as_a_whole(store: EmbeddedStore) -> None:
    with pytest.raises(ValidationFailed):
        store.execute(TransactWriteItems(puts(MOST + 1)))
    assert store.execute(ScanTable("large")).items == []
