"""Workers that share a stream: which worker has which shard, what happens if one stops, and what sinks refuse."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.change.model import TABLE, Task, item_of, play, stored
from tests.change.shared.fleet import POLICY, Fleet
from tests.change.shared.sinks import projection_at

from partita import EmbeddedStore, Session
from partita.change import FencedSink
from partita.change.lake import Lake
from partita.change.shared import (
    LEASES_TABLE,
    Upkeep,
    group_of,
)
from partita.errors import LeaseLost
from partita.store import DeleteTable, DescribeStream, PutItem
from partita.testing import FakeClock


def expected(store: EmbeddedStore) -> int:
    """Return the number of changes in the stream."""
    return sum((shard.newest or 0) - shard.start for shard in store.execute(DescribeStream(TABLE.name)).shards)


def assert_each_once(fleet: Fleet, *, loaded: int = 0) -> None:
    seen = fleet.sinks[0].read("SELECT shard, sequence, count(*) FROM seen WHERE shard <> '' GROUP BY 1, 2")
    assert {times for _, _, times in seen} <= {1}
    assert len(seen) + loaded == expected(fleet.store)


def test_shards_are_shared_evenly(fleet: Fleet) -> None:
    workers = [fleet.worker(name) for name in ("a", "b", "c")]
    fleet.look(*workers)
    assert sorted(len(worker.held) for worker in workers) == [2, 3, 3]
    held = [shard for worker in workers for shard in worker.held]
    assert len(held) == len(set(held)) == 8


def test_who_comes_later_is_given_a_share(fleet: Fleet) -> None:
    first = fleet.worker("first")
    fleet.look(first)
    assert len(first.held) == 8
    second = fleet.worker("second")
    fleet.look(first, second)
    assert (len(first.held), len(second.held)) == (4, 4)
    assert {each.owner for each in fleet.owners().values() if not each.done} == {"first", "second"}


def test_who_leaves_hands_over_at_once(fleet: Fleet) -> None:
    first, second = fleet.worker("first"), fleet.worker("second")
    fleet.look(first, second)
    first.leave()
    second.look()
    assert (len(first.held), len(second.held)) == (0, 8)


def test_the_shards_of_one_that_was_killed_are_taken_over_in_time(fleet: Fleet, fake_clock: FakeClock) -> None:
    killed, other = fleet.worker("killed"), fleet.worker("other")
    fleet.look(killed, other)
    began = fake_clock()
    while len(other.held) < 8:
        fleet.look(other, times=1)
    assert fake_clock() - began <= POLICY.takeover_seconds
    assert len(killed.held) == 4  # it does not know of the takeover


def test_a_worker_that_lives_is_never_overtaken(fleet: Fleet) -> None:
    first, second = fleet.worker("first"), fleet.worker("second")
    fleet.look(first, second, times=30)
    assert (len(first.held), len(second.held)) == (4, 4)
    assert {each.fence for each in fleet.owners().values()} <= {1, 2, 3}  # the loading worker, the first, the second


def test_each_change_counts_once_and_children_come_after_parents(fleet: Fleet, split: EmbeddedStore) -> None:
    workers = [fleet.worker(name) for name in ("a", "b")]
    rng = random.Random(1)
    fleet.look(*workers)
    for _ in range(6):
        play(split, rng, 60)
        opened = [shard.id for shard in split.execute(DescribeStream(TABLE.name)).shards if not shard.closed]
        split.split_shard(TABLE.name, rng.choice(opened))
        for worker in workers:
            worker.step()
    fleet.drain(*workers)
    fleet.drain(*workers)
    assert workers[0].lag().records == 0
    assert_each_once(fleet)
    rows = fleet.sinks[0].read("SELECT key, CAST(sequence AS INTEGER) FROM seen ORDER BY rowid")
    latest: dict[str, int] = {}
    for key, sequence in rows:
        assert sequence > latest.get(key, 0)  # a child continues after its parent
        latest[key] = sequence


@pytest.mark.parametrize("kind", ["projection", "lake"])
def test_a_worker_that_slept_is_refused_by_the_sink(
    kind: str, split: EmbeddedStore, tmp_path: Path, fake_clock: FakeClock
) -> None:
    def open_sink() -> FencedSink:
        if kind == "projection":
            return projection_at(tmp_path / "p.db")
        return Lake(tmp_path / "lake", TABLE, shared_by="s")

    fleet = Fleet(split, open_sink, fake_clock)
    fleet.begin()
    sleeper, other = fleet.worker("sleeper"), fleet.worker("other")
    fleet.look(sleeper, other)
    play(split, random.Random(2), 40)
    fleet.look(sleeper, other, times=1)
    batch = sleeper.read()
    assert batch.changes
    while len(other.held) < 8:
        fleet.look(other, times=1)
    other.step()
    with pytest.raises(LeaseLost, match="Another worker holds the lease"):
        fleet.sinks[0].apply_fenced(batch.changes, batch.advance)
    sleeper.commit(batch)  # the worker handles that error
    assert sleeper.held == {}
    fleet.drain(sleeper, other)
    assert (sleeper.lag().records, len(sleeper.held), len(other.held)) == (0, 4, 4)
    if kind == "projection":
        assert_each_once(fleet)
    for sink in fleet.sinks:
        sink.close()


def test_a_late_commit_before_the_next_owner_writes_counts_once(fleet: Fleet, split: EmbeddedStore) -> None:
    sleeper, other = fleet.worker("sleeper"), fleet.worker("other")
    fleet.look(sleeper, other)
    play(split, random.Random(3), 40)
    batch = sleeper.read()
    while len(other.held) < 8:
        fleet.look(other, times=1)
    fleet.sinks[0].apply_fenced(batch.changes, batch.advance)  # no worker has written with a higher fence yet
    fleet.drain(other)
    assert_each_once(fleet)


def test_one_loads_and_the_others_wait(
    store: EmbeddedStore, db: Session, tmp_path: Path, fake_clock: FakeClock
) -> None:
    play(store, random.Random(4), 100)
    fleet = Fleet(store, lambda: projection_at(tmp_path / "p.db"), fake_clock)
    workers = [fleet.worker(name) for name in "abc"]
    assert [worker.prepare() for worker in workers] == [len(stored(store)), None, None]
    store.execute(PutItem(TABLE.name, item_of(Task(user_id="u", task_id="new"))))
    fleet.drain(*workers)
    assert fleet.sinks[0].read("SELECT count(*) FROM seen WHERE shard <> ''") == [(1,)]


def test_a_rebuild_waits_until_the_others_have_given_back(fleet: Fleet, split: EmbeddedStore) -> None:
    play(split, random.Random(5), 60)
    worker = fleet.worker("worker")
    fleet.drain(worker)
    rebuilder = fleet.worker("rebuilder")
    fleet.clock.advance(POLICY.every)
    worker.beat()
    rebuilder.look()
    looked: list[int] = []

    def wait(_: float) -> None:
        looked.append(len(worker.held))
        fleet.look(worker, times=1)

    rebuilder._pause = wait
    assert rebuilder.rebuild() == len(stored(split))
    assert (looked[0], len(worker.held)) == (8, 0)
    rebuilder.leave()
    fleet.drain(worker)
    assert len(worker.held) == 8


def test_what_needs_to_be_done_alone_is_done_alone(fleet: Fleet, split: EmbeddedStore) -> None:
    done: list[dict[str, str | None]] = []
    upkeep = Upkeep(lambda: not done, lambda: done.append({k: v.owner for k, v in fleet.owners().items()}))
    worker, other = fleet.worker("worker", upkeep=upkeep), fleet.worker("other")
    fleet.look(worker, other)
    play(split, random.Random(6), 30)
    while not done:
        worker.step()
        worker._maintain()
        fleet.look(worker, other, times=1)
    assert set(done[0].values()) <= {"worker", None}
    fleet.drain(worker, other)
    assert (len(worker.held), len(other.held)) == (4, 4)


def test_numbers_rise_although_the_leases_were_restored(fleet: Fleet, split: EmbeddedStore) -> None:
    worker = fleet.worker("worker")
    fleet.look(worker)
    play(split, random.Random(7), 30)
    for _ in range(3):
        worker.leave()
        fleet.drain(worker)
    split.execute(DeleteTable(LEASES_TABLE.name))
    fleet.leases.create_tables([LEASES_TABLE])
    again = fleet.worker("again")
    play(split, random.Random(8), 30)
    fleet.drain(again)
    assert again.lag().records == 0


def test_shards_that_are_gone_are_forgotten(fleet: Fleet, split: EmbeddedStore, fake_clock: FakeClock) -> None:
    worker = fleet.worker("worker")
    fleet.drain(worker)
    (first, *_) = split.execute(DescribeStream(TABLE.name)).shards
    assert first.id in fleet.owners()
    fake_clock.advance(25 * 3_600)
    split.sweep()
    fleet.drain(worker)
    assert first.id not in fleet.owners()
    play(split, random.Random(9), 30)
    fleet.drain(worker)
    assert first.id not in fleet.sinks[0].positions()


def test_changes_that_were_missed_are_made_up_for(fleet: Fleet, split: EmbeddedStore, fake_clock: FakeClock) -> None:
    worker = fleet.worker("worker")
    fleet.drain(worker)
    worker.leave()
    play(split, random.Random(10), 50)
    fake_clock.advance(25 * 3_600)
    split.sweep()
    fleet.drain(worker)
    assert worker.lag().records == 0
    assert fleet.sinks[0].read("SELECT count(*) FROM seen WHERE shard = ''") == [(len(stored(split)),)]


def test_groups_of_different_sinks_differ() -> None:
    assert len({group_of("lake", "t"), group_of("s3://b/lake", "t"), group_of("lake", "u")}) == 3
    assert group_of("lake", "t") == group_of("lake", "t")
