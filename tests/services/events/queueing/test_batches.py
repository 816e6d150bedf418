"""Batches: one item records that the queue has many requests, only if it really has all of them."""

from __future__ import annotations

import pytest
from tests.services.events.acting import current, opened

from partita import Session
from partita.errors import AlreadyExists, StoreUnavailable
from partita.queue import Queue
from partita.recipes.idempotency import run_plan
from partita.service import OpenProjection
from partita.testing import FakeClock
from partita_services.events.figures.projection import RequestProjection
from partita_services.events.handlers import apply
from partita_services.events.model import Event, Request
from partita_services.events.queueing.batches import Batch, as_queued
from partita_services.events.queueing.messages import sending
from partita_services.events.queueing.model import SentBatch, note_sent
from partita_services.events.queueing.sweeper import LEASE, Sweeper
from partita_services.events.terms import Status, instant

pytestmark = pytest.mark.req("E02")

NEVER = 2**40


@pytest.fixture
def noted() -> list[Batch]:
    return []


@pytest.fixture
def batch(noted: list[Batch]) -> Batch:
    return Batch(noted.append)


class TestWhenItIsNoted:
    def test_once_it_is_full_and_the_queue_has_all_of_them(self, batch: Batch, noted: list[Batch]) -> None:
        with batch:
            with batch:
                batch.sent(1.0)
                batch.fill()
            assert noted == []
            batch.sent(2.0)
        assert noted == [batch]
        assert batch.queued_at == 2.0

    def test_not_while_others_may_join(self, batch: Batch, noted: list[Batch]) -> None:
        with batch:
            batch.sent(1.0)
        assert noted == []

    def test_not_where_none_of_them_was_sent(self, batch: Batch, noted: list[Batch]) -> None:
        batch.fill()
        with batch:
            pass  # a user who has a request already sends none
        assert noted == []

    def test_not_where_the_queue_has_refused_one(self, batch: Batch, noted: list[Batch]) -> None:
        batch.fill()
        with batch, batch:
            batch.sent(1.0)
            batch.lose()
        assert noted == []

    def test_not_where_nobody_knows_what_became_of_one(self, batch: Batch, noted: list[Batch]) -> None:
        batch.fill()
        with batch:
            batch.sent(1.0)
            with pytest.raises(StoreUnavailable), batch:
                raise StoreUnavailable("It may be stored.")
        assert noted == []

    def test_also_where_the_store_has_refused_one(self, batch: Batch, noted: list[Batch]) -> None:
        batch.fill()
        with batch:
            batch.sent(1.0)
            with pytest.raises(AlreadyExists), batch:
                raise AlreadyExists("It is not stored.")
        assert noted == [batch]


def in_batch(db: Session, event: Event, batch: str, *users: str) -> list[Request]:
    now = instant(db.context.clock())
    return [db.run(apply(event, user, now, run_plan, batch=batch)).request for user in users]


def note(db: Session, batch: str) -> None:
    db.run(note_sent(SentBatch(batch_id=batch, queued_at=instant(db.context.clock()), ttl=NEVER)))


def test_requests_of_a_noted_batch_are_shown_as_queued(db: Session, fake_clock: FakeClock) -> None:
    event = opened(db, capacity=1)
    sent, lost = in_batch(db, event, "one", "a", "b"), in_batch(db, event, "two", "c")
    fake_clock.advance(1)
    note(db, "one")
    shown = db.run(as_queued([*sent, *lost]))
    assert [each.status for each in shown] == [Status.QUEUED, Status.QUEUED, Status.RECEIVED]
    assert {each.queued_at for each in shown[:2]} == {instant(fake_clock())}
    assert shown[2] == lost[0]


def test_what_is_decided_stays_as_it_is(db: Session) -> None:
    (request,) = in_batch(db, opened(db, capacity=1), "one", "a")
    note(db, "one")
    decided = request.model_copy(update={"status": Status.SUCCEEDED})
    assert db.run(as_queued([decided])) == [decided]


@pytest.mark.req("E07")
def test_the_sweeper_sends_those_of_batches_that_are_not_noted(
    db: Session, queue: Queue, fake_clock: FakeClock
) -> None:
    event = opened(db, capacity=1)
    (waits,) = in_batch(db, event, "one", "a")
    queue.execute(sending([waits]))
    note(db, "one")
    (lost,) = in_batch(db, event, "two", "b")  # the server dies before it sends the request
    fake_clock.advance(LEASE.total_seconds() + 1)
    assert Sweeper(db, queue, "w1").sweep() == 1
    assert [current(db, each).status for each in (waits, lost)] == [Status.RECEIVED, Status.QUEUED]


@pytest.mark.req("E09")
@pytest.mark.parametrize("is_noted_first", [False, True])
def test_the_figures_count_a_noted_batch_as_queued(
    db: Session, projection: OpenProjection[RequestProjection], *, is_noted_first: bool
) -> None:
    """The batch may be read before its requests, because their items may be in different shards of the stream."""
    event = opened(db, capacity=1)
    projection.consumer.catch_up()
    if is_noted_first:
        note(db, "one")
        in_batch(db, event, "one", "a", "b")
    else:
        in_batch(db, event, "one", "a", "b")
        projection.consumer.catch_up()
        note(db, "one")
    in_batch(db, event, "two", "c")
    projection.consumer.catch_up()
    counts = projection.sink.counts(event.event_id)
    assert {status: count for status, count in counts.items() if count} == {Status.QUEUED: 2, Status.RECEIVED: 1}
