"""A store as it was at one instant."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from partita import EmbeddedStore
from partita.errors import TableNotFound
from partita.store import (
    CreateTable,
    DescribeStream,
    DescribeTable,
    GetItem,
    KeyAttribute,
    PutItem,
    ScanTable,
    TableSchema,
    TransactGetItems,
)

TABLE = TableSchema("things", KeyAttribute("id"), stream="NEW_AND_OLD_IMAGES")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    with EmbeddedStore(tmp_path / "store.db", durable=False) as store:
        store.execute(CreateTable(TABLE))
        store.execute(PutItem("things", {"id": "a"}))
        yield store


def test_what_is_written_meanwhile_is_not_seen(store: EmbeddedStore) -> None:
    with store.snapshot() as snapshot:
        store.execute(PutItem("things", {"id": "b"}))
        store.execute(CreateTable(TableSchema("others", KeyAttribute("id"))))
        assert snapshot.execute(ScanTable("things")).items == [{"id": "a"}]
        assert snapshot.execute(DescribeStream("things")).shards[0].newest == 1
        gets = TransactGetItems((GetItem("things", {"id": "a"}), GetItem("things", {"id": "b"})))
        assert snapshot.execute(gets).items == [{"id": "a"}, None]
        with pytest.raises(TableNotFound):
            snapshot.execute(DescribeTable("others"))
    assert store.execute(ScanTable("things")).count == 2


def test_nothing_is_written_to_it(store: EmbeddedStore) -> None:
    with store.snapshot() as snapshot, pytest.raises(TypeError, match="not a request that a snapshot can execute"):
        snapshot.execute(PutItem("things", {"id": "b"}))


def test_one_in_memory_has_snapshots_too() -> None:
    with EmbeddedStore(":memory:") as store:
        store.execute(CreateTable(TABLE))
        with store.snapshot() as snapshot:
            assert snapshot.execute(ScanTable("things")).items == []
        store.execute(PutItem("things", {"id": "b"}))
        assert store.execute(ScanTable("things")).count == 1


@pytest.mark.parametrize("place", ["store.db", ":memory:"])
def test_an_error_of_another_file_is_not_reported_as_one_of_the_store(tmp_path: Path, place: str) -> None:
    path = place if place == ":memory:" else tmp_path / place
    with EmbeddedStore(path) as store, pytest.raises(IsADirectoryError), store.snapshot():
        tmp_path.read_bytes()
    with EmbeddedStore(path) as store, pytest.raises(UnicodeEncodeError), store.snapshot():
        "\udcff".encode()
