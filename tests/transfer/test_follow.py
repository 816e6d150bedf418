"""Following changes: every change once, in the stream's order, however often the copy is killed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from msgspec.structs import replace
from tests.transfer.support import (
    ORDERS,
    OUTSIDE,
    BusySource,
    MortalTarget,
    Wrapped,
    contents,
    copied,
    copy_of,
    follow,
    followed,
    opened,
    order,
    records,
)

from partita import EmbeddedStore, Registry, Table
from partita.change import ItemChange
from partita.errors import CopyRefused, CopyTakenOver, StoreUnavailable, TransactionCancelled
from partita.store import (
    CreateTable,
    DeleteItem,
    IndexSchema,
    KeyAttribute,
    PutItem,
    Request,
    Store,
    StreamRecord,
    TransactWriteItems,
)
from partita.testing import Crash
from partita.transfer import CHECKPOINTS, CopyOptions, Outside, Side, StoreCopy, TableCopy
from partita.transfer._following import MAX_CHANGES, transactions

R = TypeVar("R")


def write_changes(store: Store) -> int:
    """Make changes of all kinds, many of one item, some back to an earlier state; return their number."""
    before, key = order(3), {"customer": "customer-3", "number": 3}
    writes: list[PutItem | DeleteItem] = [PutItem("orders", order(3, n=n, expires=n)) for n in range(1, 6)]
    writes += [PutItem("orders", before), PutItem("orders", order(4, n=1)), DeleteItem("orders", key)]
    writes += [PutItem("orders", before), DeleteItem("orders", key), PutItem("orders", before)]
    writes += [PutItem("orders", order(1_000 + n)) for n in range(150)]
    for write in writes:
        store.execute(write)
    return len(writes)


@pytest.mark.parametrize("wire", [False, True])
def test_the_stream_of_the_target_has_every_change_in_its_order(
    source: EmbeddedStore, tmp_path: Path, *, wire: bool
) -> None:
    with opened(tmp_path / "target.db", wire=wire) as target:
        copied(source, target)
        old, copied_items = len(records(source)), len(records(target))
        made = write_changes(source)
        followed(source, target)
        assert records(target, copied_items) == records(source, old)
        assert len(records(target, copied_items)) == made
        assert contents(target) == contents(source)


def test_without_following_each_item_is_brought_to_its_last_image(source: EmbeddedStore, target: EmbeddedStore) -> None:
    copied(source, target)
    before = len(records(target))
    source.execute(PutItem("orders", order(3, n=1)))
    source.execute(PutItem("orders", order(3, n=2)))
    copied(source, target)
    assert [new and new["n"] for *_, new in records(target, before)] == [2]


class LossyTarget(Wrapped):
    """Executes requests, and often loses the response."""

    def __init__(self, store: Store, seed: int) -> None:
        super().__init__(store)
        self.random = random.Random(seed)

    def execute(self, request: Request[R]) -> R:
        response = super().execute(request)
        if self.random.random() < 0.3:
            raise StoreUnavailable("The response was lost.")
        return response


def test_a_response_that_is_lost_makes_no_change_twice(source: EmbeddedStore, target: EmbeddedStore) -> None:
    copied(source, target)
    old, copied_items = len(records(source)), len(records(target))
    write_changes(source)
    one, other = Side(source), Side(LossyTarget(target, 5))
    outside = Outside(clock=lambda: 0.0, pause=lambda _: None, random=random.Random(1))
    with StoreCopy(one, [TableCopy(one, other, "orders", owner="patient", outside=outside)]) as copy:
        copy.prepare()
        follow(copy)
    assert records(target, copied_items) == records(source, old)


@pytest.mark.parametrize("seed", range(4))
def test_killed_anywhere_each_change_is_applied_once(source: EmbeddedStore, target: EmbeddedStore, seed: int) -> None:
    copied(source, target)
    old, copied_items = len(records(source)), len(records(target))
    busy, mortal = BusySource(source, seed, 12), MortalTarget(target, {})
    deaths = 0
    for run in range(20):
        mortal.dies_at(busy.random.randrange(3, 12), happens=busy.random.random() < 0.5)
        busy.write(20)
        try:
            followed(busy, mortal, f"run-{run}")
        except Crash:
            deaths += 1
    assert deaths > 10
    followed(source, target, "last")
    assert records(target, copied_items) == records(source, old)
    assert contents(target) == contents(source)


def follow_for_ever(source: Store, target: Store, owner: str) -> None:
    with copy_of(source, target, owner=owner, options=CopyOptions(restart=True, replace=True)) as copy:
        copy.prepare()
        copy.load(every_change=True)
        while True:
            copy.copies[0].step()


def test_a_killed_scan_is_caught_up_with_before_changes_follow(source: EmbeddedStore, target: EmbeddedStore) -> None:
    """After the scan has written an item, no older image of it is written."""
    busy = BusySource(source, 1, 120)
    for dies in range(4, 20, 2):
        mortal = MortalTarget(target, {})
        mortal.dies_at(dies, happens=True)
        with pytest.raises(Crash):
            follow_for_ever(busy, mortal, f"a{dies}")
        mortal.left = None
        followed(busy, mortal, f"b{dies}")
        assert mortal.older == []
        followed(source, target, f"c{dies}")
        assert contents(target) == contents(source)


class RecordingTarget(Wrapped):
    """Records the transactions that it receives."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.sent: list[TransactWriteItems] = []

    def execute(self, request: Request[R]) -> R:
        response = super().execute(request)
        if isinstance(request, TransactWriteItems):
            self.sent.append(request)
        return response


def test_a_request_that_comes_late_changes_nothing(source: EmbeddedStore, target: EmbeddedStore) -> None:
    copied(source, target)
    recording = RecordingTarget(target)
    for n in range(1, 4):
        source.execute(PutItem("orders", order(3, n=n)))
    followed(source, recording)
    before = records(target)
    assert len(recording.sent) == 3
    for late in recording.sent:
        with pytest.raises(TransactionCancelled):
            target.execute(late)
    assert records(target) == before


def test_a_run_that_was_taken_over_writes_no_change(source: EmbeddedStore, target: EmbeddedStore) -> None:
    copied(source, target)
    with copy_of(source, target, owner="first") as first:
        first.prepare()
        source.execute(PutItem("orders", order(3, n=1)))
        source.execute(PutItem("orders", order(3, n=2)))
        followed(source, target, "second")
        before = records(target)
        with pytest.raises(CopyTakenOver):
            follow(first)
    assert records(target) == before


def test_a_change_that_the_target_refuses_is_named(source: EmbeddedStore, target: EmbeddedStore) -> None:
    target.execute(CreateTable(replace(ORDERS, indexes=(*ORDERS.indexes, IndexSchema("by_x", (KeyAttribute("x"),))))))
    copied(source, target)
    source.execute(PutItem("orders", order(1, n=1)))
    source.execute(PutItem("orders", order(2, x=5)))
    with pytest.raises(CopyRefused, match=r"refuses a change of the item .*'number': \{'N': '2'\}"):
        followed(source, target)


def test_each_item_costs_twice_and_each_transaction_one_item_more(source: EmbeddedStore, target: EmbeddedStore) -> None:
    copied(source, target)
    units: list[tuple[int, float]] = []
    with StoreCopy(Side(source), [tracked(source, target, units)]) as copy:
        copy.prepare()
        for number in (1, 2, 3, 1):
            source.execute(PutItem("orders", order(number, n=len(records(source)))))
        follow(copy)
    single = 2 * 1 + 1  # the item counts twice, and its entry in by_status once
    assert units == [(3, 3 * single + 2), (1, single + 2)]


def tracked(source: Store, target: Store, units: list[tuple[int, float]]) -> TableCopy:
    return TableCopy(
        Side(source),
        Side(target),
        "orders",
        owner="counted",
        outside=OUTSIDE,
        on_written=lambda items, used: units.append((items, used)),
    )


def changes_of(images: Sequence[tuple[str, Any]]) -> list[ItemChange]:
    table = Table("notes", hash="id", stream="NEW_AND_OLD_IMAGES", registry=Registry())
    return [
        ItemChange(table, StreamRecord(number, "MODIFY", {"id": key}, None, {"id": key, "x": value}, 0.0, 0), "shard")
        for number, (key, value) in enumerate(images)
    ]


def cut(images: Sequence[tuple[str, Any]]) -> list[int]:
    return [len(part) for part in transactions(changes_of(images))]


def test_a_transaction_has_no_item_twice_and_is_never_too_large() -> None:
    assert cut([]) == []
    assert cut([("a", 1), ("b", 1), ("a", 2), ("c", 1), ("c", 2)]) == [2, 2, 1]
    assert cut([(str(number), 1) for number in range(250)]) == [MAX_CHANGES, MAX_CHANGES, 52]
    assert cut([(str(number), "x" * 390_000) for number in range(17)]) == [8, 8, 1]


def test_the_checkpoint_says_where_the_last_transaction_led(source: EmbeddedStore, target: EmbeddedStore) -> None:
    recording = RecordingTarget(target)
    copied(source, recording)
    source.execute(PutItem("orders", order(3, n=1)))
    followed(source, recording)
    (sent,) = recording.sent
    assert [action.table for action in sent.actions] == ["orders", CHECKPOINTS.name]
