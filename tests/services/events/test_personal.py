"""Erasing a user from Events: seats go to the waiting list, draws stay verifiable, and the user's data is deleted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.services.events.acting import (
    applied,
    check_nobody_is_passed_over,
    current,
    in_queue_order,
    lock,
    opened,
    seats,
    sent,
    waiting,
)
from tests.services.events.draws.drawing import as_json, cut_off, drawn, lottery
from tests.services.lakes import text_of

from partita import EmbeddedStore, Session
from partita.change import Consumer
from partita.change.lake import Lake, LakeErasure
from partita.errors import IllegalTransition
from partita.http import Caller, Identity
from partita.queue import Queue
from partita.service import OpenProjection
from partita.store import TransactWriteItems
from partita.store._requests import ScanTable
from partita.testing import Crash, FakeClock, FaultyStore
from partita_services.events import personal
from partita_services.events.cancelling import cancel
from partita_services.events.changes.event_cancelling import cancel_whole_event, withdraw_all
from partita_services.events.draws.draw import hold_draw
from partita_services.events.draws.verify import problems_of
from partita_services.events.figures.projection import RequestProjection
from partita_services.events.model import TABLE, log_of, request_by_id
from partita_services.events.personal import PERSONAL
from partita_services.events.queueing.worker import Worker
from partita_services.events.terms import Reason, Status, instant

pytestmark = pytest.mark.req("X15", "E18")


@pytest.fixture
def worker(db: Session, queue: Queue) -> Worker:
    return Worker(db, queue, "w1")


def named(store: FaultyStore | EmbeddedStore, user: str) -> set[str]:
    """Return the partition keys of all items that contain a user's id."""
    return {item["PK"] for item in store.execute(ScanTable(TABLE.name)).items if user in str(item)}


def erase(db: Session, user: str) -> dict[str, int]:
    erasure = db.run(PERSONAL.erase(user))
    assert not erasure.more
    return dict(erasure.erased)


class TestFirstCome:
    def test_the_seat_goes_to_the_first_who_waits(
        self, db: Session, queue: Queue, worker: Worker, store: FaultyStore
    ) -> None:
        event = opened(db, capacity=1, keeps_log=True)
        first, second, third = sent(db, queue, event, "user-ann", "user-bob", "user-eve")
        worker.serve()
        assert erase(db, "user-ann") == {"requests": 1}
        assert named(store, "user-ann") == {"ERASED#user-ann"}
        assert db.run(request_by_id(first.request_id)) is None
        assert db.run(log_of(first.request_id)).items == ()
        assert current(db, second).status is Status.SUCCEEDED
        assert [each.request_id for each in check_nobody_is_passed_over(db, event)] == [third.request_id]

    def test_who_waits_is_passed_over_when_they_are_erased(self, db: Session, queue: Queue, worker: Worker) -> None:
        event = opened(db, capacity=1)
        first, _, third = sent(db, queue, event, "user-ann", "user-bob", "user-eve")
        worker.serve()
        erase(db, "user-bob")
        db.run(cancel(first.request_id, "user-ann", event.opens_at))
        assert current(db, third).status is Status.SUCCEEDED

    def test_what_is_still_in_the_queue_is_not_decided(
        self, db: Session, queue: Queue, worker: Worker, store: FaultyStore
    ) -> None:
        event = opened(db, capacity=1)
        _, second = sent(db, queue, event, "user-ann", "user-bob", together=2)
        erase(db, "user-ann")
        while worker.serve():
            pass
        assert (current(db, second).status, seats(db, event).remaining) == (Status.SUCCEEDED, 0)
        assert named(store, "user-ann") == {"ERASED#user-ann"}
        assert (waiting(db, event), len(in_queue_order(db, event))) == ([], 1)

    @pytest.mark.parametrize("reason", [Reason.CAPACITY, Reason.CANCELLED, Reason.EVENT_CANCELLED])
    def test_what_is_over_goes_with_its_lock(
        self, db: Session, queue: Queue, worker: Worker, store: FaultyStore, reason: Reason
    ) -> None:
        event = opened(db, capacity=1, keeps_log=True, freed_seats="RELEASE")
        _, second = sent(db, queue, event, "user-bob", "user-ann")
        if reason is Reason.CANCELLED:
            db.run(cancel(second.request_id, "user-ann", event.opens_at))
        worker.serve()
        if reason is Reason.EVENT_CANCELLED:
            db.run(
                withdraw_all(db.run(cancel_whole_event(event.event_id, "Rain.", event.opens_at)).event, event.opens_at)
            )
        assert current(db, second).error_code == reason
        erase(db, "user-ann")
        partitions = named(store, "user-ann")
        assert {each for each in partitions if not each.startswith("NOTICES#")} == {"ERASED#user-ann"}

    def test_an_earlier_request_takes_not_the_lock_of_a_later_one(self, db: Session, fake_clock: FakeClock) -> None:
        event = opened(db, capacity=1)
        (first,) = applied(db, event, "user-ann")
        db.run(cancel(first.request_id, "user-ann", instant(fake_clock())))
        fake_clock.advance(1)
        (second,) = applied(db, event, "user-ann")
        assert db.run(personal._erase(first.request_id, "user-ann", instant(fake_clock()))) == 1
        held = lock(db, second)
        assert held is not None
        assert held.request_id == second.request_id
        assert erase(db, "user-ann") == {"requests": 1}

    def test_who_was_erased_may_come_again(self, db: Session, queue: Queue, worker: Worker) -> None:
        event = opened(db, capacity=1)
        sent(db, queue, event, "user-ann")
        worker.serve()
        erase(db, "user-ann")
        (again,) = sent(db, queue, event, "user-ann")
        worker.serve()
        assert current(db, again).status is Status.SUCCEEDED


class TestLottery:
    def test_a_held_draw_is_verified_as_before(self, db: Session, store: FaultyStore) -> None:
        event = lottery(db, 2, 5)
        before = drawn(db, event)
        requests = {each.request_id: each for each in in_queue_order(db, event)}
        winner, heir = requests[before.order[0]], requests[before.order[2]]
        erase(db, winner.user_id)
        after = as_json(drawn(db, event))
        assert problems_of(after, event.commitment) == []
        assert (after["winners"], after["waitingList"]) == ([*before.order[:2]], [*before.order[2:]])
        assert current(db, heir).status is Status.SUCCEEDED
        assert named(store, winner.user_id) == {f"ERASED#{winner.user_id}"}

    def test_who_leaves_before_the_draw_takes_no_part(self, db: Session) -> None:
        event = lottery(db, 2, 5)
        gone = in_queue_order(db, event)[0]
        erase(db, gone.user_id)
        found = drawn(db, event)
        assert len(found.order) == 4
        assert gone.request_id not in found.order
        assert problems_of(as_json(found), event.commitment) == []

    def test_while_a_draw_is_held_its_entry_stays_and_all_others_go(self, db: Session, store: FaultyStore) -> None:
        event, order = cut_off(db, store, transaction=3)
        user = current(db, in_queue_order(db, event)[0]).user_id
        other = opened(db, capacity=1)
        (elsewhere,) = applied(db, other, user)
        with pytest.raises(IllegalTransition, match="being held"):
            db.run(PERSONAL.erase(user))
        assert db.run(request_by_id(elsewhere.request_id)) is None
        assert f"ERASED#{user}" not in named(store, user)
        assert db.run(hold_draw(event.event_id, event.closes_at)).order == tuple(order)
        assert erase(db, user) == {"requests": 1}
        assert named(store, user) == {f"ERASED#{user}"}


class TestCutOff:
    @pytest.mark.parametrize("transaction", range(1, 5))
    def test_it_goes_on_when_it_is_repeated(
        self, db: Session, queue: Queue, worker: Worker, store: FaultyStore, transaction: int
    ) -> None:
        events = [opened(db, capacity=1, keeps_log=True) for _ in range(2)]
        heirs = []
        for event in events:
            heirs += sent(db, queue, event, "user-ann", "user-bob")[1:]
        while worker.serve():
            pass
        store.crash_before(transaction, on=TransactWriteItems)
        with pytest.raises(Crash):
            db.run(PERSONAL.erase("user-ann"))
        erase(db, "user-ann")
        assert named(store, "user-ann") == {"ERASED#user-ann"}
        assert [current(db, each).status for each in heirs] == [Status.SUCCEEDED] * 2

    def test_very_many_take_more_than_one_call(self, db: Session, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(personal, "PAGE", 2)
        monkeypatch.setattr(personal, "MAX_ERASED", 4)
        for _ in range(7):
            applied(db, opened(db, capacity=1), "user-ann")
        calls = [db.run(PERSONAL.erase("user-ann")) for _ in range(2)]
        assert [(call.erased["requests"], call.more) for call in calls] == [(4, True), (3, False)]


async def test_over_http_and_in_the_figures(
    api: httpx.AsyncClient,
    db: Session,
    queue: Queue,
    worker: Worker,
    identity: Identity,
    projection: OpenProjection[RequestProjection],
) -> None:
    event = opened(db, capacity=1)
    sent(db, queue, event, "user-ann", "user-bob")
    worker.serve()
    ann = {"Authorization": f"Bearer {identity.token(Caller('user-ann'))}"}
    response = await api.delete("/me/data", headers=ann)
    erased = response.json()
    assert (response.status_code, "change stream" in erased.pop("remains")) == (200, True)
    assert erased == {"erased": {"requests": 1}, "more": False, "stays": {}}
    again: dict[str, Any] = (await api.delete("/me/data", headers=ann)).json()
    assert again["erased"] == {"requests": 0}
    assert (await api.get("/me/data", headers=ann)).json()["data"] == {"requests": []}
    projection.consumer.catch_up()
    assert sum(projection.sink.counts(event.event_id).values()) == 1


async def test_the_export_has_the_log_of_each_request(
    api: httpx.AsyncClient, db: Session, queue: Queue, worker: Worker, identity: Identity
) -> None:
    with_log, without = opened(db, capacity=1, keeps_log=True), opened(db, capacity=1)
    for event in (with_log, without):
        sent(db, queue, event, "user-ann", "user-bob")
    while worker.serve():
        pass
    response = await api.get("/me/data", headers={"Authorization": f"Bearer {identity.token(Caller('user-ann'))}"})
    assert response.headers["Content-Disposition"] == 'attachment; filename="events-data.json"'
    logs = {request["eventId"]: request["log"] for request in response.json()["data"]["requests"]}
    assert [step["status"] for step in logs[with_log.event_id]] == ["RECEIVED", "QUEUED", "PROCESSING", "SUCCEEDED"]
    assert logs[without.event_id] == []
    assert "user-bob" not in response.text


async def test_while_a_draw_is_held_it_is_409(
    api: httpx.AsyncClient, db: Session, store: FaultyStore, identity: Identity
) -> None:
    event, _ = cut_off(db, store, transaction=3)
    user = in_queue_order(db, event)[0].user_id
    response = await api.delete("/me/data", headers={"Authorization": f"Bearer {identity.token(Caller(user))}"})
    assert (response.status_code, response.json()["code"]) == (409, "illegal_transition")


def test_no_file_of_a_lake_has_the_name(
    partita_store: EmbeddedStore, queue: Queue, fake_clock: FakeClock, tmp_path: Path
) -> None:
    db = Session(partita_store, clock=fake_clock)
    db.create_tables([TABLE])
    assert PERSONAL.record is not None
    lake = Lake(tmp_path / "lake", TABLE, erasure=LakeErasure(PERSONAL.record.name, PERSONAL.owners))
    consumer = Consumer(partita_store, TABLE, lake, clock=fake_clock, on_caught_up=lake.erase_users)
    consumer.catch_up()
    event = opened(db, capacity=1, keeps_log=True)
    sent(db, queue, event, "user-ann", "user-bob")
    Worker(db, queue, "w1").serve()
    consumer.catch_up()
    assert "user-ann" in text_of(tmp_path / "lake")
    erase(db, "user-ann")
    consumer.catch_up()
    assert "user-bob" in text_of(tmp_path / "lake")
    assert "user-ann" not in text_of(tmp_path / "lake")
