"""What a server shows about shared streams: each shard with its owner and its lag, in whichever process it is read."""

from __future__ import annotations

import httpx
import pytest
from tests.app.test_metrics import of, parsed
from tests.change.model import TABLE, Task, item_of
from tests.change.shared.fleet import POLICY, SINK, Fleet

from partita import AsyncSession
from partita.app import build_app
from partita.change.shared import Membership, ShardReader, StreamFigures, forget_sink
from partita.errors import LeaseHeld
from partita.http import AppState, Identity
from partita.store import DeleteTable, PutItem
from partita.testing import FakeClock, FaultyStore

pytestmark = pytest.mark.req("X10")


@pytest.fixture
def store_of_server(fleet: Fleet) -> FaultyStore:
    return FaultyStore(fleet.store)


@pytest.fixture
def reader(store_of_server: FaultyStore, fake_clock: FakeClock) -> ShardReader:
    return ShardReader(AsyncSession(store_of_server, clock=fake_clock), POLICY, fake_clock)


def write(fleet: Fleet, *tasks: int) -> None:
    for number in tasks:
        item = item_of(Task(user_id=f"u{number}", task_id="t", title="new"))
        fleet.store.execute(PutItem(TABLE.name, item))


async def test_every_open_shard_has_its_owner(fleet: Fleet, reader: ShardReader) -> None:
    workers = {name: fleet.worker(name) for name in ("a", "b")}
    fleet.look(*workers.values())
    found = (await reader.figures()).shards
    assert {(each.table, each.sink) for each in found} == {(TABLE.name, SINK)}
    held = {(shard, name) for name, worker in workers.items() for shard in worker.held}
    assert {(each.shard, each.owner) for each in found} == held
    assert len(found) == 8
    assert {each.lag_seconds for each in found} == {0.0}


async def test_the_lag_is_the_age_of_what_is_not_in_the_sink(
    fleet: Fleet, reader: ShardReader, fake_clock: FakeClock
) -> None:
    worker = fleet.worker("slow")
    fleet.look(worker)
    write(fleet, *range(40))
    fake_clock.advance(3)
    batch = worker.read()
    assert {each.shard for each in batch.changes} == set(worker.held)
    fake_clock.advance(4)
    worker.beat()  # as in the middle of a commit
    assert {each.lag_seconds for each in (await reader.figures()).shards} == {7.0}
    worker.commit(batch)
    while worker.step():
        pass
    worker.beat()
    fake_clock.advance(POLICY.every)
    assert {each.lag_seconds for each in (await reader.figures()).shards} == {0.0}


async def test_what_is_read_in_parts_lags_by_the_last_part(
    fleet: Fleet, reader: ShardReader, fake_clock: FakeClock
) -> None:
    worker = fleet.worker("slow", batch=8)
    fleet.look(worker)
    write(fleet, *range(40))
    fake_clock.advance(3)
    write(fleet, *range(40, 60))
    assert worker.step()  # reads one change of each shard, and there are more
    fake_clock.advance(1)
    worker.beat()
    assert {each.lag_seconds for each in (await reader.figures()).shards} == {4.0}


async def test_who_was_killed_has_nothing_although_nobody_says_so(
    fleet: Fleet, reader: ShardReader, fake_clock: FakeClock
) -> None:
    fleet.look(fleet.worker("killed"))
    assert {each.owner for each in (await reader.figures()).shards} == {"killed"}
    fake_clock.advance(POLICY.seconds - 1)
    assert {each.owner for each in (await reader.figures()).shards} == {"killed"}
    fake_clock.advance(POLICY.every)
    assert {(each.owner, each.lag_seconds) for each in (await reader.figures()).shards} == {(None, None)}


async def test_figures_are_read_once_for_all_who_ask_at_once(
    fleet: Fleet, reader: ShardReader, store_of_server: FaultyStore, fake_clock: FakeClock
) -> None:
    fleet.look(fleet.worker("a"))
    await reader.figures()
    asked = len(store_of_server.requests)
    fake_clock.advance(1.9)
    await reader.figures()
    assert len(store_of_server.requests) == asked
    fake_clock.advance(0.1)
    await reader.figures()
    assert len(store_of_server.requests) == 2 * asked


async def test_where_nobody_has_shared_a_stream_there_is_nothing(fleet: Fleet, reader: ShardReader) -> None:
    fleet.store.execute(DeleteTable("PartitaLeases"))
    assert await reader.figures() == StreamFigures()


async def test_trouble_is_not_taken_for_silence(reader: ShardReader, store_of_server: FaultyStore) -> None:
    store_of_server.unavailable(100)
    assert await reader.figures() == StreamFigures(is_known=False)


async def test_metrics_and_the_console_have_it(
    fleet: Fleet, reader: ShardReader, store_of_server: FaultyStore, fake_clock: FakeClock
) -> None:
    worker = fleet.worker("worker-1")
    fleet.look(worker)
    session = AsyncSession(store_of_server, clock=fake_clock, secret=b"fake")
    app = build_app([], AppState(session, Identity(b"f" * 32), shards=reader))
    shard = min(worker.held)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
        samples = parsed((await client.get("/metrics")).content)
        live = (await client.get("/console/api/live")).json()
    place = {"table": TABLE.name, "sink": SINK, "shard": shard}
    assert of(samples, "partita_shard_owned", **place, owner="worker-1") == 1
    assert of(samples, "partita_shard_lag_seconds", **place) == 0
    assert of(samples, "partita_leases_known") == 1
    assert {**place, "owner": "worker-1", "lag_seconds": 0.0} in live["shards"]


def test_a_sink_that_nobody_fills_can_be_forgotten(fleet: Fleet, fake_clock: FakeClock) -> None:
    fleet.look(fleet.worker("killed"))
    membership = Membership(fleet.leases, SINK, "me", POLICY)
    assert forget_sink(membership, TABLE.name, pause=fake_clock.advance) == 8
    assert fleet.owners() == {}
    again = fleet.worker("again")
    write(fleet, *range(20))
    fleet.drain(again)
    assert len(again.held) == 8
    assert again.lag().records == 0


def test_but_not_one_that_somebody_fills(fleet: Fleet, fake_clock: FakeClock) -> None:
    worker = fleet.worker("living")
    fleet.look(worker)

    def pause(seconds: float) -> None:
        fake_clock.advance(seconds / 2)
        worker.beat()

    membership = Membership(fleet.leases, SINK, "me", POLICY)
    with pytest.raises(LeaseHeld, match="living fills sink with things"):
        forget_sink(membership, TABLE.name, pause=pause)
    assert {each.owner for each in fleet.owners().values() if not each.done} == {"living"}
