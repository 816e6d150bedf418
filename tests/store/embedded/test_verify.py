"""Verification finds every kind of disagreement within a file."""

from __future__ import annotations

import tracemalloc

import pytest
from msgspec.structs import replace
from tests.store.embedded.support import BY_OWNER, TABLE, OpenStore, note

from partita.errors import StoreDamaged
from partita.store._requests import CreateTable, DeleteItem
from partita.store._schema import TableSchema
from partita.store.embedded import EmbeddedStore
from partita.store.embedded.upkeep import _effort, _verify
from partita.values import Item, decode_item

FULL = TableSchema("notes", TABLE.hash, TABLE.range, (BY_OWNER,), ttl="ends", stream="NEW_AND_OLD_IMAGES")


@pytest.fixture
def store(open_store: OpenStore) -> EmbeddedStore:
    store = open_store()
    store.execute(CreateTable(FULL))
    for number in range(5):
        store.execute(note(number, owner="o", rank=number, ends=2_000_000_000))
        store.execute(note(number, owner="o", rank=-number))
    store.execute(DeleteItem("notes", {"pk": "p", "sk": "000003"}))
    return store


def test_a_sound_store_passes(store: EmbeddedStore) -> None:
    store.verify()


@pytest.mark.parametrize(
    ("damage", "finding"),
    [
        ("UPDATE items_1 SET rk = 'other' WHERE id = 1", "row 1: column rk is 'other', but its item implies '000000'"),
        ("UPDATE items_1 SET size = size + 1 WHERE id = 2", "row 2: column size"),
        ("UPDATE items_1 SET ttl = 5 WHERE id = 2", "row 2: column ttl is 5, but its item implies None"),
        ("UPDATE items_1 SET k1_0 = NULL WHERE id = 2", "row 2: column k1_0 is None, but its item implies 'o'"),
        ("UPDATE items_1 SET item = x'c1' WHERE id = 2", "row 2: its item cannot be read"),
        ("DELETE FROM items_1 WHERE id = 2", "the item .* is in the stream but not in the table"),
        ("DELETE FROM changes_1 WHERE sequence = 2", "row 1: its item differs from the last image in the stream"),
        ("UPDATE changes_1 SET new = x'c1' WHERE sequence = 2", "its stream cannot be read"),
        ("DROP TABLE items_1", "its items are missing"),
        ("DELETE FROM changes_1 WHERE event = 'REMOVE'", "the item .* is in the stream but not in the table"),
    ],
)
def test_a_disagreement_is_named(store: EmbeddedStore, damage: str, finding: str) -> None:
    store._writer.connection.execute(damage)
    with pytest.raises(StoreDamaged, match=f"table notes, {finding}"):
        store.verify()


def test_a_stream_does_not_have_to_fit_into_memory(open_store: OpenStore) -> None:
    store = open_store()
    store.execute(CreateTable(FULL))
    for number in range(200):
        store.execute(note(number, owner="o", rank=number, text="x" * 20_000))
    tracemalloc.start()
    store.verify()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200 * 20_000 / 4


def test_a_search_for_damage_says_how_far_it_is(open_store: OpenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_effort, "_EVERY", 10)
    monkeypatch.setattr(_effort, "_STEPS", 200)
    store, seen = open_store(), list[tuple[int, int]]()
    store.execute(CreateTable(replace(TABLE, stream="NEW_IMAGE")))
    for number in range(100):
        store.execute(note(number))
    store.verify(lambda done, total: seen.append((done, total)))
    assert {total for _, total in seen} == {500}
    parts = [done for done, _ in seen]
    assert parts == sorted(parts)
    assert 0 < parts[0] < 200
    assert {210, 250, 300, 310, 400, 500} <= set(parts)


def test_an_item_is_read_once_where_its_stream_agrees(open_store: OpenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store, read = open_store(), list[bytes]()
    store.execute(CreateTable(FULL))
    for number in range(10):
        store.execute(note(number, owner="o", rank=number))

    def decoded(blob: bytes) -> Item:
        read.append(blob)
        return decode_item(blob)

    monkeypatch.setattr(_verify, "decode_item", decoded)
    store.verify()
    assert len(read) == 10 + 2 * 10  # for each item its row, and for each change its keys and its image
