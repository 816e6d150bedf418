"""Leases: only the current holder's writes succeed, and the fencing number only rises."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field
from tests.recipes.interleaving import empty_db, every_schedule, play

from partita import (
    Entity,
    Index,
    Key,
    Operation,
    Procedure,
    Registry,
    Session,
    Table,
    Version,
    f,
    get,
    put,
    transact,
    update,
)
from partita.errors import LeaseHeld, LeaseLost, ModelError, OperationError, TransactionCancelled
from partita.recipes.leases import LeaseRecord, Leases
from partita.testing import FakeClock

TABLES = Registry()
TABLE = Table("work", registry=TABLES)
TIME = timedelta(seconds=30)


class WorkLease(LeaseRecord, table=TABLE):
    primary: ClassVar = Key("LEASE#{name}", "LEASE")


class Journal(Entity, table=TABLE):
    primary: ClassVar = Key("JOURNAL#{name}", "JOURNAL")
    name: str
    fences: list[int] = Field(default_factory=list)


LEASES = Leases(WorkLease)


@get(Journal)
def journal(name: str) -> None:
    """The fencing numbers of all writes under the lease, in order."""


def acquire(owner: str) -> Operation[WorkLease]:
    return LEASES.acquire("sweep", owner=owner, duration=TIME)


def write_under(lease: WorkLease) -> Operation[None]:
    """Append the lease's fencing number to the journal, if the lease is still held."""
    return transact(
        update(journal("j"), f(Journal.fences).set(f(Journal.fences).with_appended([lease.fence]))),
        LEASES.check(lease),
    )


@pytest.fixture
def db(fake_clock: FakeClock) -> Iterator[Session]:
    with empty_db(TABLES, fake_clock) as db:
        db.run(put(Journal(name="j")))
        yield db


class TestAcquire:
    def test_a_free_lease_is_taken_for_a_time(self, db: Session, fake_clock: FakeClock) -> None:
        lease = db.run(acquire("a"))
        until = int(fake_clock() * 1000) + 30_000
        assert lease == WorkLease(name="sweep", owner="a", fence=1, until_ms=until)
        assert db.run(LEASES.holder("sweep")) == lease

    def test_a_held_lease_is_refused_with_its_holder(self, db: Session, fake_clock: FakeClock) -> None:
        held = db.run(acquire("a"))
        fake_clock.advance(29.999)
        with pytest.raises(LeaseHeld) as caught:
            db.run(acquire("b"))
        assert caught.value.current == held

    def test_it_may_be_taken_when_its_time_has_run_out_with_a_higher_number(
        self, db: Session, fake_clock: FakeClock
    ) -> None:
        db.run(acquire("a"))
        fake_clock.advance(30)
        taken = db.run(acquire("b"))
        assert (taken.owner, taken.fence) == ("b", 2)

    def test_an_owner_that_lost_the_response_acquires_its_own_again(self, db: Session) -> None:
        first = db.run(acquire("a"))
        again = db.run(acquire("a"))
        assert (first.fence, again.fence) == (1, 2)
        with pytest.raises(LeaseLost):
            db.run(LEASES.renew(first, duration=TIME))

    def test_leases_of_other_names_are_others(self, db: Session) -> None:
        db.run(acquire("a"))
        assert db.run(LEASES.acquire("draw", owner="b", duration=TIME)).fence == 1

    def test_nobody_ever_held_it(self, db: Session) -> None:
        assert db.run(LEASES.holder("sweep")) is None


class TestHolding:
    def test_renewing_holds_it_for_longer_with_the_same_number(self, db: Session, fake_clock: FakeClock) -> None:
        lease = db.run(acquire("a"))
        fake_clock.advance(20)
        renewed = db.run(LEASES.renew(lease, duration=TIME))
        assert (renewed.fence, renewed.until_ms - lease.until_ms) == (lease.fence, 20_000)
        fake_clock.advance(20)
        with pytest.raises(LeaseHeld):
            db.run(acquire("b"))

    def test_a_released_lease_is_free_at_once_and_its_number_rises_all_the_same(self, db: Session) -> None:
        released = db.run(LEASES.release(db.run(acquire("a"))))
        assert (released.owner, released.until_ms) == (None, 0)
        assert db.run(acquire("b")).fence == 2

    @pytest.mark.parametrize("late", ["renew", "release", "write"])
    def test_who_was_overtaken_can_do_nothing_with_it(self, db: Session, fake_clock: FakeClock, late: str) -> None:
        old = db.run(acquire("a"))
        fake_clock.advance(30)
        new = db.run(acquire("b"))
        works: dict[str, Operation[Any]] = {
            "renew": LEASES.renew(old, duration=TIME),
            "release": LEASES.release(old),
            "write": write_under(old),
        }
        with pytest.raises((LeaseLost, TransactionCancelled)) as caught:
            db.run(works[late])
        error = caught.value
        lost = error.failed[0].error if isinstance(error, TransactionCancelled) else error
        assert isinstance(lost, LeaseLost)
        assert lost.current == new

    def test_a_write_under_the_lease_counts(self, db: Session) -> None:
        db.run(write_under(db.run(acquire("a"))))
        assert db.run(journal("j")) == Journal(name="j", fences=[1])

    def test_a_write_after_the_release_does_not(self, db: Session) -> None:
        lease = db.run(acquire("a"))
        released = db.run(LEASES.release(lease))
        with pytest.raises(TransactionCancelled):
            db.run(write_under(lease))
        with pytest.raises(LeaseLost, match="was released"):
            write_under(released)

    def test_time_that_ran_out_without_a_taker_does_no_harm(self, db: Session, fake_clock: FakeClock) -> None:
        lease = db.run(acquire("a"))
        fake_clock.advance(60)
        db.run(write_under(lease))
        assert db.run(LEASES.renew(lease, duration=TIME)).fence == 1


def worker(owner: str) -> Procedure[None]:
    """Acquire the lease, write twice, and release it."""
    lease = yield from acquire(owner)
    yield from write_under(lease)
    yield from write_under(lease)
    yield from LEASES.release(lease)


class TestGuarantee:
    def test_in_every_order_with_a_crash_writes_under_one_lease_are_never_torn_by_another(self) -> None:
        """Every lease expires before its holder's next request, so only the fencing numbers keep the workers apart."""
        schedules = 0
        for choose in every_schedule():
            schedules += 1
            clock = FakeClock()
            with empty_db(TABLES, clock) as db:
                db.run(put(Journal(name="j")))

                def hurried(options: int, clock: FakeClock = clock, choose: Any = choose) -> int:
                    clock.advance(31)
                    return choose(options)  # type: ignore[no-any-return]

                play(db, [worker("a"), worker("b")], hurried, crashes=1)
                written = db.run(journal("j"))
                assert written is not None
                assert written.fences == sorted(written.fences)
        assert schedules > 50

    @settings(max_examples=60, deadline=None)
    @given(data=st.data())
    def test_random_workers_crashes_and_waits_keep_the_numbers_rising(self, data: st.DataObject) -> None:
        clock = FakeClock()
        with empty_db(TABLES, clock) as db:
            db.run(put(Journal(name="j")))
            fences: list[int] = []

            def recorded(owner: str) -> Procedure[None]:
                lease = yield from acquire(owner)
                fences.append(lease.fence)
                yield from write_under(lease)
                yield from LEASES.release(lease)

            def choose(options: int) -> int:
                clock.advance(data.draw(st.sampled_from([0, 0, 10, 31])))
                return data.draw(st.integers(0, options - 1))

            play(db, [recorded(owner) for owner in "abca"], choose, crashes=2)
            written = db.run(journal("j"))
            assert written is not None
            assert fences == sorted(set(fences))
            assert written.fences == sorted(set(written.fences))
            assert set(written.fences) <= set(fences)


class TestCost:
    def test_each_step_is_one_write(self, db: Session) -> None:
        with db.meter.watch() as seen:
            lease = db.run(acquire("a"))
            db.run(LEASES.renew(lease, duration=TIME))
            db.run(LEASES.release(lease))
        assert [(run.name, run.requests, run.read, run.write) for run in seen] == [
            ("WorkLease.acquire", ("UpdateItem",), 0, 1),
            ("WorkLease.renew", ("UpdateItem",), 0, 1),
            ("WorkLease.release", ("UpdateItem",), 0, 1),
        ]

    def test_a_check_in_a_transaction_is_two_more(self, db: Session) -> None:
        lease = db.run(acquire("a"))
        with db.meter.watch() as seen:
            db.run(write_under(lease))
        assert [run.write for run in seen] == [2 + 2]


class TestDeclaration:
    def test_it_stays_out_of_the_lake(self) -> None:
        """A worker renews its lease every few seconds, for ever."""
        assert LeaseRecord.in_lake is False

    def test_a_lease_that_could_expire_is_refused(self) -> None:
        table = Table("expiring", ttl="until_ms", registry=Registry())

        class Expiring(LeaseRecord, table=table):
            primary: ClassVar = Key("LEASE#{name}", "LEASE")

        with pytest.raises(ModelError, match="leases must never expire"):
            Leases(Expiring)

    def test_an_index_is_refused(self) -> None:
        table = Table("indexed", indexes=[Index("GSI1")], registry=Registry())

        class Indexed(LeaseRecord, table=table):
            primary: ClassVar = Key("LEASE#{name}", "LEASE")
            by_owner: ClassVar = Key("OWNER#{owner}", "LEASE#{name}", index="GSI1")

        with pytest.raises(ModelError, match="must have neither indexes nor a version"):
            Leases(Indexed)

    def test_a_version_is_refused(self) -> None:
        table = Table("versioned", registry=Registry())

        class Versioned(LeaseRecord, table=table):
            primary: ClassVar = Key("LEASE#{name}", "LEASE")
            version: Version = 0

        with pytest.raises(ModelError, match="must have neither indexes nor a version"):
            Leases(Versioned)

    def test_a_key_of_more_than_the_name_is_refused(self) -> None:
        table = Table("wider", registry=Registry())

        class Wider(LeaseRecord, table=table):
            primary: ClassVar = Key("LEASE#{name}", "{region}")
            region: str = "eu"

        with pytest.raises(ModelError, match="region"):
            Leases(Wider)


@pytest.mark.parametrize("days", [1, 365])
def test_a_lease_taken_while_the_clock_was_ahead_does_not_last(db: Session, fake_clock: FakeClock, days: int) -> None:
    fake_clock.advance(days * 86_400)
    first = db.run(LEASES.acquire("a", owner="one", duration=TIME))
    fake_clock.advance(-days * 86_400)
    second = db.run(LEASES.acquire("a", owner="two", duration=TIME))
    assert (second.owner, second.fence) == ("two", first.fence + 1)


def test_a_lease_of_a_clock_that_differs_a_little_is_held(db: Session, fake_clock: FakeClock) -> None:
    fake_clock.advance(3_600)
    db.run(LEASES.acquire("a", owner="one", duration=timedelta(hours=12)))
    fake_clock.advance(-3_600)
    with pytest.raises(LeaseHeld):
        db.run(LEASES.acquire("a", owner="two", duration=TIME))


def test_a_lease_is_not_held_for_longer_than_declared(db: Session) -> None:
    lease = db.run(LEASES.acquire("a", owner="one", duration=TIME))
    for use in (
        lambda: LEASES.acquire("b", owner="one", duration=timedelta(hours=13)),
        lambda: LEASES.renew(lease, duration=timedelta(hours=13)),
    ):
        with pytest.raises(OperationError, match="12:00:00 at a time, not 13:00:00"):
            use()
