"""Lifecycles: only declared transitions happen, even if several writers move the same item."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from itertools import pairwise
from types import GenericAlias
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.recipes.interleaving import CRASHED, empty_db, every_schedule, play

from partita import Entity, Index, Key, Registry, Session, Table, Version, f, get, insert, query, update
from partita.errors import (
    IllegalTransition,
    ItemMissing,
    ModelError,
    OperationError,
    TransactionCancelled,
    VersionConflict,
)
from partita.operations import Context
from partita.recipes.lifecycle import Lifecycle, Transition
from partita.testing import FakeClock

TABLES = Registry()
TABLE = Table("requests", indexes=[Index("GSI1")], registry=TABLES)


class Status(StrEnum):
    RECEIVED = "received"
    QUEUED = "queued"
    PROCESSING = "processing"
    SUCCEEDED = "succeeded"
    REJECTED = "rejected"


class Request(Entity, table=TABLE):
    primary: ClassVar = Key("REQ#{request_id}", "META")
    by_status: ClassVar = Key("EVENT#{event_id}", "STATUS#{status}#{request_id}", index="GSI1")
    request_id: str
    event_id: str = "e1"
    status: Status = Status.RECEIVED
    worker: str | None = None


class Parcel(Entity, table=TABLE):
    primary: ClassVar = Key("PARCEL#{parcel_id}", "META")
    parcel_id: str
    status: Status = Status.RECEIVED
    version: Version = 0


class RequestLife(Lifecycle[Request, Status]):
    state = f(Request.status)
    start = Status.RECEIVED
    forward_only = True

    queue = Transition(Status.RECEIVED, to=Status.QUEUED)
    take = Transition(Status.QUEUED, to=Status.PROCESSING)
    succeed = Transition(Status.PROCESSING, to=Status.SUCCEEDED)
    reject = Transition(Status.QUEUED, Status.PROCESSING, to=Status.REJECTED)


class ParcelLife(Lifecycle[Parcel, Status]):
    state = f(Parcel.status)
    start = Status.RECEIVED

    advance = Transition(Status.RECEIVED, Status.QUEUED, to=Status.PROCESSING)
    hold = Transition(Status.PROCESSING, to=Status.QUEUED)
    finish = Transition(Status.PROCESSING, to=Status.SUCCEEDED)
    lose = Transition(Status.QUEUED, Status.PROCESSING, to=Status.REJECTED)


LEASES = Table("leases", ttl="ttl", registry=TABLES)


class Lease(Entity, table=LEASES):
    primary: ClassVar = Key("LEASE#{lease_id}", "META")
    lease_id: str
    status: Status = Status.RECEIVED
    holder: str | None = None
    ttl: int | None = None


class LeaseLife(Lifecycle[Lease, Status]):
    state = f(Lease.status)
    start = Status.RECEIVED

    take = Transition(Status.RECEIVED, to=Status.PROCESSING)
    hold = Transition(Status.PROCESSING, to=Status.QUEUED)
    finish = Transition(Status.QUEUED, to=Status.SUCCEEDED)
    lose = Transition(Status.QUEUED, to=Status.REJECTED)


@get(Lease)
def lease_by_id(lease_id: str) -> None:
    """A lease."""


@get(Request)
def request_by_id(request_id: str) -> None:
    """A request."""


@get(Parcel)
def parcel_by_id(parcel_id: str) -> None:
    """A parcel."""


@query(Request, Request.by_status)
def requests_with_status(event_id: str, status: Status) -> None:
    """An event's requests in one state."""


@pytest.fixture
def db() -> Iterator[Session]:
    with empty_db(TABLES) as db:
        yield db


@pytest.fixture
def request_1(db: Session) -> Request:
    return db.run(insert(Request(request_id="r1")))


class TestMoving:
    def test_a_declared_move_is_made_with_further_changes(self, db: Session, request_1: Request) -> None:
        queued = db.run(RequestLife.queue(request_1, f(Request.worker).set("w1")))
        assert queued == Request(request_id="r1", status=Status.QUEUED, worker="w1")

    def test_a_move_from_any_of_its_sources(self, db: Session, request_1: Request) -> None:
        db.run(RequestLife.queue(request_1))
        assert db.run(RequestLife.reject(request_by_id("r1"))).status is Status.REJECTED
        second = db.run(insert(Request(request_id="r2", status=Status.PROCESSING)))
        assert db.run(RequestLife.reject(second)).status is Status.REJECTED

    def test_an_illegal_move_is_a_conflict_with_the_current_item(self, db: Session, request_1: Request) -> None:
        with pytest.raises(IllegalTransition) as caught:
            db.run(RequestLife.succeed(request_1))
        assert caught.value.message == "Request: cannot succeed from RECEIVED, only from PROCESSING."
        assert caught.value.current == request_1
        assert db.run(request_by_id("r1")) == request_1

    def test_a_move_of_nothing_is_of_a_missing_item(self, db: Session) -> None:
        with pytest.raises(ItemMissing):
            db.run(RequestLife.queue(request_by_id("r9")))

    def test_the_index_key_moves_with_the_state(self, db: Session, request_1: Request) -> None:
        db.run(RequestLife.queue(request_1))
        db.run(RequestLife.take(request_by_id("r1")))
        found = {status: len(db.run(requests_with_status("e1", status))) for status in Status}
        assert found == {status: int(status is Status.PROCESSING) for status in Status}

    def test_a_move_is_part_of_a_transaction(self, db: Session, request_1: Request) -> None:
        db.transact(RequestLife.queue(request_1), insert(Request(request_id="r2")))
        stored = db.run(request_by_id("r1"))
        assert stored is not None
        assert stored.status is Status.QUEUED

    def test_an_illegal_move_cancels_its_transaction(self, db: Session, request_1: Request) -> None:
        with pytest.raises(TransactionCancelled) as caught:
            db.transact(insert(Request(request_id="r2")), RequestLife.take(request_1))
        assert isinstance(caught.value.failed[0].error, IllegalTransition)
        assert db.run(request_by_id("r2")) is None

    def test_a_stale_version_in_a_state_that_allows_the_move_is_a_version_conflict(self, db: Session) -> None:
        stale = db.run(insert(Parcel(parcel_id="p1")))
        db.run(ParcelLife.hold(db.run(ParcelLife.advance(stale))))
        with pytest.raises(VersionConflict):
            db.run(ParcelLife.advance(stale))

    def test_a_stale_version_in_a_state_that_forbids_the_move_is_illegal(self, db: Session) -> None:
        stale = db.run(insert(Parcel(parcel_id="p1")))
        db.run(ParcelLife.advance(stale))
        with pytest.raises(IllegalTransition):
            db.run(ParcelLife.advance(stale))

    def test_a_change_of_the_state_beside_the_move_is_refused(self, request_1: Request) -> None:
        with pytest.raises(OperationError, match="queue already sets the state"):
            RequestLife.queue(request_1, f(Request.status).set(Status.REJECTED))

    def test_each_move_is_metered_under_its_name_and_costs_one_update(self, db: Session) -> None:
        parcel = db.run(insert(Parcel(parcel_id="p1")))
        request = db.run(insert(Request(request_id="r1")))
        with db.meter.watch() as seen:
            db.run(ParcelLife.advance(parcel))
            db.run(RequestLife.queue(request))
            db.run(RequestLife.take(request_by_id("r1")))
        assert [(run.name, run.read, run.write) for run in seen] == [
            ("Parcel.advance", 0, 1),
            ("Request.queue", 0, 3),
            ("Request.take", 1, 3),
        ]


def test_moves_of_one_second_have_the_very_same_condition_so_that_it_is_checked_once() -> None:
    context = Context(clock=FakeClock(1_000.0))
    first = LeaseLife.take(lease_by_id("l1")).action(context)
    other = LeaseLife.take(lease_by_id("l2"), f(Lease.holder).set("ann")).action(context)
    assert other.condition is first.condition
    assert LeaseLife.hold(lease_by_id("l1")).action(context).condition != first.condition


def test_a_condition_of_an_earlier_second_is_not_taken_for_one_of_now() -> None:
    clock = FakeClock(1_000.0)
    move = LeaseLife.take(lease_by_id("l1"))
    early = move.action(Context(clock=clock)).condition
    clock.advance(1)
    late = move.action(Context(clock=clock)).condition
    assert late != early
    assert move.action(Context(clock=clock)).condition is late


class TestGuarantee:
    def test_in_every_order_with_a_crash_one_of_two_rival_moves_wins(self) -> None:
        seen: set[tuple[str, ...]] = set()
        for choose in every_schedule():
            with empty_db(TABLES) as db:
                db.run(insert(Request(request_id="r1", status=Status.PROCESSING)))
                rivals = [RequestLife.succeed(request_by_id("r1")), RequestLife.reject(request_by_id("r1"))]
                results = play(db, rivals, choose, crashes=1)
                won = [result for result in results if isinstance(result, Request)]
                stored = db.run(request_by_id("r1"))
                assert stored is not None
                assert len(won) <= 1
                assert all(winner == stored for winner in won)
                assert all(isinstance(result, Request | IllegalTransition) or result == CRASHED for result in results)
                by_index = {status: len(db.run(requests_with_status("e1", status))) for status in Status}
                assert by_index == {status: int(status is stored.status) for status in Status}
                seen.add(tuple(type(result).__name__ for result in results))
        assert {("Request", "IllegalTransition"), ("IllegalTransition", "Request")} <= seen

    @settings(max_examples=60, deadline=None)
    @given(data=st.data())
    def test_random_rivals_only_ever_follow_declared_arrows(self, data: st.DataObject) -> None:
        names = data.draw(st.lists(st.sampled_from(sorted(ParcelLife.declared.moves)), min_size=1, max_size=6))
        with empty_db(TABLES) as db:
            first = db.run(insert(Parcel(parcel_id="p1")))
            moves = [ParcelLife.declared.moves[name] for name in names]
            works = [move(parcel_by_id("p1")) for move in moves]
            results = play(db, works, lambda n: data.draw(st.integers(0, n - 1)))
            made = sorted((result.version, result.status) for result in results if isinstance(result, Parcel))
            assert [version for version, _ in made] == list(range(2, len(made) + 2))
            states = [first.status, *(status for _, status in made)]
            arrows = {(source, move.target) for move in moves for source in move.sources}
            assert set(pairwise(states)) <= arrows


def lifecycle(entity: type[Any], body: dict[str, Any]) -> Any:
    """Declare a lifecycle of the entity by a class with this body."""
    return type("Life", (Lifecycle,), {"__orig_bases__": (GenericAlias(Lifecycle, (entity, Status)),), **body})


WHOLE = {
    "state": f(Request.status),
    "start": Status.RECEIVED,
    "queue": Transition(Status.RECEIVED, to=Status.QUEUED),
    "take": Transition(Status.QUEUED, to=Status.PROCESSING),
    "succeed": Transition(Status.PROCESSING, to=Status.SUCCEEDED),
    "reject": Transition(Status.PROCESSING, to=Status.REJECTED),
}


class Colour(StrEnum):
    RED = "red"


class TestDeclaration:
    def test_a_whole_lifecycle_is_accepted(self) -> None:
        assert list(lifecycle(Request, WHOLE).declared.moves) == ["queue", "take", "succeed", "reject"]

    def test_a_state_that_nothing_leads_to_is_reported(self) -> None:
        body = {name: value for name, value in WHOLE.items() if name != "take"}
        with pytest.raises(ModelError, match="no transition leads to PROCESSING, SUCCEEDED, REJECTED"):
            lifecycle(Request, body)

    def test_going_back_is_refused_where_only_forwards_is_allowed(self) -> None:
        again = {**WHOLE, "retry": Transition(Status.PROCESSING, to=Status.QUEUED)}
        assert lifecycle(Request, again)
        with pytest.raises(ModelError, match="forward only, but leads back to QUEUED, PROCESSING"):
            lifecycle(Request, {**again, "forward_only": True})

    def test_a_state_of_another_enum_is_refused(self) -> None:
        with pytest.raises(ModelError, match=r"Life\.paint: <Colour.RED: 'red'> is not a Status"):
            lifecycle(Request, {**WHOLE, "paint": Transition(Colour.RED, to=Status.QUEUED)})

    def test_a_transition_from_nowhere_is_refused(self) -> None:
        with pytest.raises(ModelError, match=r"Life\.appear has no source states"):
            lifecycle(Request, {**WHOLE, "appear": Transition(to=Status.QUEUED)})

    def test_a_default_that_is_not_the_start_is_refused(self) -> None:
        with pytest.raises(ModelError, match=r"starts at .*QUEUED.*, but Request\.status is .*RECEIVED.* by default"):
            lifecycle(Request, {**WHOLE, "start": Status.QUEUED, "get": Transition(Status.QUEUED, to=Status.RECEIVED)})

    def test_another_entitys_field_is_refused(self) -> None:
        with pytest.raises(ModelError, match="Request has no field 'parcel_id' of Status"):
            lifecycle(Request, {**WHOLE, "state": f(Parcel.parcel_id)})

    @pytest.mark.parametrize("missing", ["state", "start"])
    def test_state_and_start_must_be_said(self, missing: str) -> None:
        with pytest.raises(ModelError, match=f"does not define {missing}"):
            lifecycle(Request, {name: value for name, value in WHOLE.items() if name != missing})


def test_the_diagram_shows_every_arrow() -> None:
    assert (
        RequestLife.mermaid()
        == """\
stateDiagram-v2
    [*] --> RECEIVED
    RECEIVED --> QUEUED: queue
    QUEUED --> PROCESSING: take
    PROCESSING --> SUCCEEDED: succeed
    QUEUED --> REJECTED: reject
    PROCESSING --> REJECTED: reject
    SUCCEEDED --> [*]
    REJECTED --> [*]"""
    )


def test_a_plain_update_may_still_change_other_fields(db: Session, request_1: Request) -> None:
    assert db.run(update(request_1, f(Request.worker).set("w2"))).worker == "w2"
