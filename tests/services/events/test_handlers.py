"""Applying for an event: its opening hours, and concurrent calls of the same user."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.services.events.acting import applied, opened

from partita import Procedure, Session
from partita.errors import AlreadyExists
from partita.recipes.idempotency import Plan, run_plan
from partita_services.events.handlers import MAX_TRIES, Application, Closed, NotOpenYet, apply
from partita_services.events.model import Event

pytestmark = pytest.mark.req("E01")

TICK = timedelta(microseconds=1)


@pytest.fixture
def event(db: Session) -> Event:
    return opened(db, capacity=1)


def test_a_request_is_taken_from_the_opening_until_just_before_the_close(db: Session, event: Event) -> None:
    with pytest.raises(NotOpenYet) as early:
        db.run(apply(event, "ann", event.opens_at - TICK, run_plan))
    assert early.value.current == event
    assert db.run(apply(event, "ann", event.opens_at, run_plan)).is_new
    assert db.run(apply(event, "bob", event.closes_at - TICK, run_plan)).is_new
    with pytest.raises(Closed) as late:
        db.run(apply(event, "eve", event.closes_at, run_plan))
    assert late.value.current == event


def test_who_has_a_request_finds_it_while_the_event_is_open_and_later(db: Session, event: Event) -> None:
    (request,) = applied(db, event, "ann")
    for now in (event.opens_at, event.closes_at):
        assert db.run(apply(event, "ann", now, run_plan)) == Application(request, is_new=False)


def test_a_call_that_is_always_second_gives_up(db: Session, event: Event) -> None:
    plans: list[Plan[Application] | Procedure[Plan[Application]]] = []

    def second(plan: Plan[Application] | Procedure[Plan[Application]]) -> Procedure[Application]:
        plans.append(plan)
        raise AlreadyExists("Another call was first.")
        yield  # makes this function a procedure

    with pytest.raises(AlreadyExists):
        db.run(apply(event, "ann", event.opens_at, second))
    assert len(plans) == 1 + MAX_TRIES
