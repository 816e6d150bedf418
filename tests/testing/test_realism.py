"""A store that behaves like DynamoDB: delayed, stale, throttled and incomplete, in the same way in every run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from partita import EmbeddedStore
from partita.errors import (
    TableInUse,
    TableNotFound,
    Throttled,
    TokenInProgress,
    TransactionCancelled,
    TransactionConflict,
    ValidationFailed,
)
from partita.expressions import KeyCondition, Path, Update, Value
from partita.expressions import SetAction as Set
from partita.store import (
    BatchGetItem,
    BatchWriteItem,
    CreateIndex,
    CreateTable,
    DeleteItem,
    DeleteTable,
    DescribeTable,
    GetItem,
    IndexSchema,
    KeyAttribute,
    PutItem,
    QueryTable,
    ScanTable,
    TableSchema,
    TransactGetItems,
    TransactWriteItems,
    UpdateItem,
)
from partita.testing import FakeClock, Realism, RealisticStore, UnitLimits

BY_TEAM = IndexSchema("by_team", (KeyAttribute("team"),))
NOTES = TableSchema("notes", KeyAttribute("id"), indexes=(BY_TEAM,))
Make = Callable[..., RealisticStore]


@pytest.fixture
def make(fake_clock: FakeClock) -> Iterator[Make]:
    """A function that creates a store with the table of notes and these switches."""
    stores: list[RealisticStore] = []

    def made(table: TableSchema | None = NOTES, **switches: Any) -> RealisticStore:
        inner = EmbeddedStore(":memory:", clock=fake_clock)
        store = RealisticStore(inner, Realism(**switches), clock=fake_clock, sleep=fake_clock.advance)
        stores.append(store)
        if table is not None:
            store.execute(CreateTable(table))
        return store

    yield made
    for store in stores:
        store.close()


def note(name: str, **others: Any) -> dict[str, Any]:
    return {"id": name, **others}


def put(store: RealisticStore, name: str, **others: Any) -> None:
    store.execute(PutItem("notes", note(name, **others)))


def get(store: RealisticStore, name: str, *, consistent: bool = False) -> Any:
    return store.execute(GetItem("notes", {"id": name}, consistent=consistent)).item


def team(store: RealisticStore, name: str) -> list[str]:
    request = QueryTable("notes", KeyCondition((("team", name),)), index="by_team")
    return sorted(item["id"] for item in store.execute(request).items)


def test_nothing_is_switched_on_by_itself(make: Make) -> None:
    store = make()
    put(store, "a", team="x")
    assert (get(store, "a"), team(store, "x")) == (note("a", team="x"), ["a"])


def test_an_eventually_consistent_read_is_stale_for_a_while(make: Make, fake_clock: FakeClock) -> None:
    store = make(stale_seconds=10)
    put(store, "a", n=1)
    assert (get(store, "a"), get(store, "a", consistent=True)) == (None, note("a", n=1))
    assert store.execute(ScanTable("notes")).count == 0
    assert store.execute(BatchGetItem((GetItem("notes", {"id": "a"}),))).items == [None]
    fake_clock.advance(10)
    assert get(store, "a") == note("a", n=1)
    put(store, "a", n=2)
    store.execute(DeleteItem("notes", {"id": "b"}))
    assert get(store, "a") == note("a", n=1)
    fake_clock.advance(10)
    assert get(store, "a") == note("a", n=2)


def test_entries_of_an_index_appear_and_go_later(make: Make, fake_clock: FakeClock) -> None:
    store = make(index_seconds=5)
    put(store, "a", team="x")
    assert (team(store, "x"), get(store, "a")) == ([], note("a", team="x"))
    fake_clock.advance(5)
    assert team(store, "x") == ["a"]
    store.execute(UpdateItem("notes", {"id": "a"}, Update((Set(Path(("team",)), Value("y")),))))
    assert (team(store, "x"), team(store, "y")) == (["a"], [])
    store.catch_up()
    assert (team(store, "x"), team(store, "y")) == ([], ["a"])


def test_what_was_there_before_is_in_the_copy(fake_clock: FakeClock) -> None:
    inner = EmbeddedStore(":memory:", clock=fake_clock)
    inner.execute(CreateTable(NOTES))
    inner.execute(PutItem("notes", note("a", team="x")))
    store = RealisticStore(inner, Realism(index_seconds=5), clock=fake_clock)
    assert team(store, "x") == ["a"]
    store.close()


def test_a_table_takes_a_while_until_it_can_be_used(make: Make, fake_clock: FakeClock) -> None:
    store = make(table_seconds=5)
    description = store.execute(DescribeTable("notes"))
    assert (description.status, description.building) == ("CREATING", ("by_team",))
    with pytest.raises(TableNotFound):
        put(store, "a")
    with pytest.raises(TableInUse, match="Table is being created: notes"):
        store.execute(DeleteTable("notes"))
    fake_clock.advance(5)
    assert store.execute(DescribeTable("notes")).status == "ACTIVE"
    put(store, "a", state="open")
    by_state = IndexSchema("by_state", (KeyAttribute("state"),))
    assert store.execute(CreateIndex("notes", by_state)).status == "UPDATING"
    open_notes = QueryTable("notes", KeyCondition((("state", "open"),)), index="by_state")
    with pytest.raises(ValidationFailed, match="Cannot read from backfilling global secondary index: by_state"):
        store.execute(open_notes)
    put(store, "b", state="open")
    fake_clock.advance(5)
    assert store.execute(open_notes).count == 2


def test_a_table_is_throttled_beyond_its_units(make: Make, fake_clock: FakeClock) -> None:
    store = make(table_limits=UnitLimits(5, 2))
    put(store, "a")
    put(store, "b")
    with pytest.raises(Throttled, match="The level of configured provisioned throughput") as failure:
        put(store, "c")
    assert failure.value.reasons == ("TableWriteProvisionedThroughputExceeded",)
    assert get(store, "a") == note("a")
    fake_clock.advance(0.5)
    put(store, "c")


def test_a_partition_is_throttled_beyond_its_units_and_others_are_not(make: Make) -> None:
    store = make(partition_limits=UnitLimits(1, 1))
    put(store, "hot")
    with pytest.raises(Throttled, match="hot key"):
        put(store, "hot")
    put(store, "cold")
    assert (get(store, "hot"), get(store, "hot")) == (note("hot"), note("hot"))
    with pytest.raises(Throttled):
        get(store, "hot")


def test_what_is_throttled_in_a_batch_is_left_unprocessed(make: Make, fake_clock: FakeClock) -> None:
    store = make(partition_limits=UnitLimits(1, 1))
    put(store, "hot")
    writes = tuple(PutItem("notes", note(name)) for name in ("hot", "cold"))
    assert store.execute(BatchWriteItem(writes)).unprocessed == writes[:1]
    fake_clock.advance(2)
    assert store.execute(BatchWriteItem(writes)).unprocessed == ()
    with pytest.raises(Throttled):
        store.execute(BatchWriteItem(writes))


def test_parts_of_batches_are_left_unprocessed_the_same_in_every_run(make: Make) -> None:
    def left(seed: int) -> tuple[list[str], list[Any]]:
        store = make(unprocessed=0.5, seed=seed)
        writes = tuple(PutItem("notes", note(str(number))) for number in range(8))
        unwritten = store.execute(BatchWriteItem(writes)).unprocessed
        written = [write.item["id"] for write in unwritten if isinstance(write, PutItem)]
        gets = tuple(GetItem("notes", {"id": str(number)}) for number in range(8))
        response = store.execute(BatchGetItem(gets))
        assert len(response.items) == 8
        return written, [get.key["id"] for get in response.unprocessed]

    assert left(1) == left(1)
    assert left(1) != left(2)
    assert 0 < len(left(1)[0]) < 8


def test_reads_are_stale_for_the_same_time_in_every_run(make: Make, fake_clock: FakeClock) -> None:
    def seen(seed: int) -> list[bool]:
        store = make(stale_seconds=10, seed=seed)
        found = []
        for number in range(8):
            put(store, str(number))
            fake_clock.advance(3)
            found.append(get(store, str(number)) is not None)
        return found

    assert seen(3) == seen(3)
    assert len({tuple(seen(seed)) for seed in range(6)}) > 1


WRITE = TransactWriteItems((PutItem("notes", note("a", n=1)), PutItem("notes", note("b", n=1))), token="one")


@pytest.mark.rule(39)
def test_who_meets_a_running_transaction_is_refused(make: Make) -> None:
    store = make()
    put(store, "a", n=0)
    with store.transaction(WRITE):
        for write in (PutItem("notes", note("a")), DeleteItem("notes", {"id": "b"})):
            with pytest.raises(TransactionConflict, match="Transaction is ongoing for the item"):
                store.execute(write)
        other = TransactWriteItems((PutItem("notes", note("c")), DeleteItem("notes", {"id": "b"})))
        with pytest.raises(TransactionCancelled) as failure:
            store.execute(other)
        assert [reason.code for reason in failure.value.reasons] == ["None", "TransactionConflict"]
        with pytest.raises(TransactionCancelled):
            store.execute(TransactGetItems((GetItem("notes", {"id": "a"}),)))
        with pytest.raises(TokenInProgress):
            store.execute(WRITE)
        writes = (PutItem("notes", note("a")), PutItem("notes", note("d")))
        assert store.execute(BatchWriteItem(writes)).unprocessed == writes[:1]
        assert get(store, "a") == note("a", n=0)
    assert (get(store, "a"), get(store, "c"), get(store, "d")) == (note("a", n=1), None, note("d"))
    put(store, "a", n=2)


@pytest.mark.rule(39)
def test_a_transaction_that_was_given_up_holds_nothing(make: Make) -> None:
    store = make()
    with pytest.raises(KeyError), store.transaction(WRITE):
        raise KeyError
    assert get(store, "a") is None
    put(store, "a")


@pytest.mark.rule(39)
def test_transactions_that_take_a_while_meet_each_other(fake_clock: FakeClock) -> None:
    async def meet() -> list[Any]:
        inner = EmbeddedStore(":memory:", clock=fake_clock)
        inner.execute(CreateTable(NOTES))
        store = RealisticStore(inner, Realism(transaction_seconds=0.05))
        single = store.execute_async(PutItem("notes", note("a")))
        first, second = asyncio.create_task(store.execute_async(WRITE)), asyncio.create_task(_later(single))
        outcomes = await asyncio.gather(first, second, return_exceptions=True)
        store.close()
        return list(outcomes)

    async def _later(writing: Any) -> Any:
        await asyncio.sleep(0)
        return await writing

    written, refused = asyncio.run(meet())
    assert (written.replayed, type(refused)) == (False, TransactionConflict)


def test_a_sweep_deletes_what_has_expired_everywhere(make: Make) -> None:
    schema = TableSchema("notes", KeyAttribute("id"), indexes=(BY_TEAM,), ttl="until")
    store = make(schema, index_seconds=5)
    put(store, "old", until=1_700_000_000, team="x")
    assert (store.sweep(), get(store, "old"), team(store, "x")) == (1, None, [])
