"""Copies between stores: exact, in both directions, over existing data, and with later changes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.transfer.support import (
    FILES,
    ORDERS,
    BusySource,
    MortalTarget,
    contents,
    copied,
    copy_of,
    fill,
    opened,
    order,
)

from partita import EmbeddedStore
from partita.errors import CopyRefused, CopyTakenOver
from partita.store import (
    CreateTable,
    DeleteItem,
    DescribeTable,
    GetItem,
    IndexSchema,
    KeyAttribute,
    PutItem,
    ScanTable,
    Store,
    TableSchema,
)
from partita.testing import Crash
from partita.transfer import CHECKPOINTS, CopyOptions, tables_of


@pytest.mark.parametrize(("from_wire", "to_wire"), [(False, True), (True, False), (True, True), (False, False)])
def test_every_item_arrives_as_it_was(tmp_path: Path, *, from_wire: bool, to_wire: bool) -> None:
    with opened(tmp_path / "a.db", wire=from_wire) as source, opened(tmp_path / "b.db", wire=to_wire) as target:
        fill(source, 120)
        copied(source, target)
        assert contents(target) == contents(source)
        assert len(contents(target)) == 120


def test_the_table_is_made_with_keys_indexes_ttl_and_stream(source: EmbeddedStore, target: EmbeddedStore) -> None:
    copied(source, target)
    assert target.execute(DescribeTable("orders")).schema == ORDERS


def test_the_bytes_are_the_same(source: EmbeddedStore, target: EmbeddedStore) -> None:
    copied(source, target)
    for item in contents(source).values():
        key = {"customer": item["customer"], "number": item["number"]}
        assert repr(target.execute(GetItem("orders", key)).item) == repr(item)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_written_meanwhile_is_in_it(source: EmbeddedStore, target: EmbeddedStore, seed: int) -> None:
    busy = BusySource(source, seed, 200)
    shown = MortalTarget(target, {})
    with copy_of(busy, shown) as copy:
        copy.prepare()
        assert copy.load() > 0
        busy.write(50)
        copy.load()
    assert shown.older == []
    follow_to_the_end(source, target)
    assert contents(target) == contents(source)


def follow_to_the_end(source: Store, target: Store) -> None:
    stop = threading.Event()
    with copy_of(source, target, owner="last") as copy:
        copy.prepare()
        copy.follow(stop, stop.set)


def test_changes_are_followed_in_order_until_told_to_stop(source: EmbeddedStore, target: EmbeddedStore) -> None:
    stop, rounds = threading.Event(), count()
    with copy_of(source, target) as copy:
        copy.prepare()
        copy.load()

        def idle() -> None:
            made = next(rounds)
            if made == 3:
                stop.set()
                return
            source.execute(PutItem("orders", order(5, n=made)))
            source.execute(DeleteItem("orders", {"customer": "customer-6", "number": 6}))

        copy.follow(stop, idle)
        assert copy.lag().records == 0
    assert contents(target) == contents(source)
    assert len(contents(target)) == 119


@pytest.mark.parametrize("seed", range(6))
def test_killed_anywhere_it_goes_on_and_never_shows_an_older_image(
    source: EmbeddedStore, target: EmbeddedStore, seed: int
) -> None:
    """The target crashes at a random request again and again, while others write to the source."""
    busy, mortal = BusySource(source, seed, 200), MortalTarget(target, {})
    for run in range(15):
        mortal.dies_at(busy.random.randrange(25), happens=busy.random.random() < 0.5)
        stop, left = threading.Event(), busy.random.randrange(4)
        rounds = count()

        def idle(stop: threading.Event = stop, left: int = left, rounds: Iterator[int] = rounds) -> None:
            busy.write(5)
            if next(rounds) >= left:
                stop.set()

        try:
            with copy_of(busy, mortal, owner=f"run-{run}") as copy:
                copy.prepare()
                copy.load()
                copy.follow(stop, idle)
        except Crash:
            pass
    assert mortal.older == []
    follow_to_the_end(source, target)
    copied(source, target)
    assert contents(target) == contents(source)


def test_a_second_run_copies_only_what_has_changed(source: EmbeddedStore, target: EmbeddedStore) -> None:
    copied(source, target)
    source.execute(PutItem("orders", order(7, n=5)))
    assert copied(source, target, owner="second") == 1
    assert contents(target) == contents(source)


def test_a_table_without_a_stream_is_copied_as_at_one_instant(source: EmbeddedStore, target: EmbeddedStore) -> None:
    source.execute(CreateTable(FILES))
    for number in range(50):
        source.execute(PutItem("files", {"digest": bytes([number])}))
    copied(source, target, "files")
    source.execute(DeleteItem("files", {"digest": b"\x05"}))
    copied(source, target, "files", owner="again")
    found = {item["digest"] for item in target.execute(ScanTable("files")).items}
    assert found == {bytes([number]) for number in range(50) if number != 5}


@pytest.mark.parametrize("stream", [None, "KEYS_ONLY"])
def test_a_table_without_a_stream_of_images_cannot_be_followed(
    source: EmbeddedStore, target: EmbeddedStore, stream: str | None
) -> None:
    source.execute(CreateTable(replace(FILES, stream=stream)))
    with copy_of(source, target, "files") as copy:
        copy.prepare()
        copy.load()
        with pytest.raises(CopyRefused, match="has no stream with new and old images, so there"):
            copy.follow(threading.Event(), lambda: None)


def test_a_server_that_cannot_tell_what_changes_is_refused(tmp_path: Path, target: EmbeddedStore) -> None:
    with opened(tmp_path / "server.db", wire=True) as server:
        server.execute(CreateTable(FILES))
        server.execute(PutItem("files", {"digest": b"x"}))
        with pytest.raises(CopyRefused, match="no stream with the changes during the copy") as caught:
            copied(server, target, "files")
        assert "--still" in caught.value.hint
        copied(server, target, "files", options=CopyOptions(still=True))
    assert target.execute(ScanTable("files")).items == [{"digest": b"x"}]


def test_a_target_that_is_not_empty_is_refused(source: EmbeddedStore, target: EmbeddedStore) -> None:
    target.execute(CreateTable(ORDERS))
    target.execute(PutItem("orders", order(5_000)))
    with pytest.raises(CopyRefused, match="the target is not empty"):
        copied(source, target)
    assert len(contents(target)) == 1


def test_replacing_deletes_what_only_the_target_has(source: EmbeddedStore, target: EmbeddedStore) -> None:
    target.execute(CreateTable(ORDERS))
    for number in range(5_000, 5_150):
        target.execute(PutItem("orders", order(number)))
    copied(source, target, options=CopyOptions(replace=True))
    assert contents(target) == contents(source)


def test_changes_alone_are_followed_where_both_sides_are_equal(source: EmbeddedStore, target: EmbeddedStore) -> None:
    copied(source, target)
    with copy_of(target, source, options=CopyOptions(changes_only=True)) as back:
        back.prepare()
        target.execute(PutItem("orders", order(1, n=9)))
        assert back.load() == 1
    assert contents(source) == contents(target)


def test_a_table_with_another_key_is_refused(source: EmbeddedStore, target: EmbeddedStore) -> None:
    target.execute(CreateTable(TableSchema("orders", KeyAttribute("customer"))))
    with pytest.raises(CopyRefused, match=r"another key: customer \(S\)"):
        copied(source, target)


def test_what_the_table_of_the_target_has_otherwise_is_said(source: EmbeddedStore, target: EmbeddedStore) -> None:
    target.execute(CreateTable(replace(ORDERS, indexes=ORDERS.indexes[1:], ttl=None, stream=None)))
    with copy_of(source, target) as copy:
        copy.prepare()
        assert copy.copies[0].notes == (
            "the index by_status is missing",
            "the TTL attribute is None, not expires",
            "the stream is None, not NEW_AND_OLD_IMAGES",
        )


def test_an_item_that_the_target_refuses_is_named(source: EmbeddedStore, target: EmbeddedStore) -> None:
    weights = IndexSchema("by_tag", (KeyAttribute("tags", "S"),))
    target.execute(CreateTable(replace(ORDERS, indexes=(*ORDERS.indexes, weights))))
    with pytest.raises(CopyRefused, match=r"orders: the target refuses the item \{'customer'"):
        copied(source, target)


def test_another_run_takes_it_over(source: EmbeddedStore, target: EmbeddedStore) -> None:
    with copy_of(source, target, owner="first") as first, copy_of(source, target, owner="second") as second:
        first.prepare()
        second.prepare()
        with pytest.raises(CopyTakenOver):
            first.load()
        second.load()
    assert contents(target) == contents(source)


def test_a_table_that_was_made_again_is_not_taken_for_the_copy(
    source: EmbeddedStore, target: EmbeddedStore, tmp_path: Path
) -> None:
    copied(source, target)
    with EmbeddedStore(tmp_path / "other.db", durable=False) as other:
        fill(other, 3)
        with pytest.raises(CopyRefused, match="was copied from another table"):
            copied(other, target, owner="other")
        copied(other, target, owner="other", options=CopyOptions(restart=True))
        assert contents(target) == contents(other)


def test_checkpoints_are_not_copied(source: EmbeddedStore, target: EmbeddedStore) -> None:
    copied(source, target)
    assert tables_of(target) == ("orders",)
    assert target.execute(DescribeTable(CHECKPOINTS.name)).schema == CHECKPOINTS
