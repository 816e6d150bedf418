"""Two processes hold the same draw at the same time: both end, and there is one result."""

from __future__ import annotations

from contextlib import suppress

import pytest
from tests.recipes.interleaving import empty_db, overtaken
from tests.services.events.acting import SEED, in_queue_order, seats
from tests.services.events.draws.drawing import as_json, cut_off, drawn, expected_order, lottery, status_of

from partita import Session, f, update
from partita.errors import TransactionCancelled
from partita.store import TransactWriteItems
from partita.testing import Crash, FakeClock, FaultyStore
from partita_services.events.cancelling import cancel
from partita_services.events.draws.draw import DrawFound, DrawRefused, hold_draw, show_draw
from partita_services.events.draws.verify import problems_of
from partita_services.events.model import TABLE, Event, Request, request_by_id
from partita_services.events.terms import EventStatus, Reason, Status

pytestmark = pytest.mark.req("E05")


def check(db: Session, event: Event, found: DrawFound, order: list[str]) -> None:
    """Check that the drawn order follows from the seed, and that every entry has its result."""
    assert list(found.order) == order
    assert problems_of(as_json(found), event.commitment) == []
    assert (found.event.status, seats(db, event).remaining) == (EventStatus.FINISHED, 0)
    won = [(Status.SUCCEEDED, None)] * seats(db, event).total
    lost = [(Status.REJECTED, Reason.WAITING_LIST)] * (len(order) - len(won))
    assert [status_of(db, entry) for entry in order] == won + lost


@pytest.mark.parametrize("nth", range(1, 22))
def test_a_draw_that_is_overtaken_before_any_request_ends_as_the_other(nth: int) -> None:
    with empty_db([TABLE], FakeClock()) as db:
        event = lottery(db, 2, 5)
        order = expected_order(event, in_queue_order(db, event))
        found = overtaken(db, hold_draw(event.event_id, event.closes_at), lambda: drawn(db, event), nth)
        assert (found.seed, list(found.order)) == (SEED.hex(), order)
        check(db, event, db.run(show_draw(event.event_id)), order)


def test_it_goes_on_where_another_who_died_has_stopped(db: Session, store: FaultyStore) -> None:
    event, order = cut_off(db, store, 2)  # the entries are frozen, and none has a result

    def settle_the_first() -> None:
        store.crash_after(1, on=TransactWriteItems)
        with suppress(Crash):
            drawn(db, event)

    found = overtaken(db, hold_draw(event.event_id, event.closes_at), settle_the_first, on=TransactWriteItems)
    check(db, event, found, order)


def test_a_result_that_cannot_be_written_is_said(db: Session, store: FaultyStore) -> None:
    """The failure is not mistaken for the work of another process, because then the draw would never end."""
    event, order = cut_off(db, store, 2)
    db.run(update(request_by_id(order[0]), f(Request.status).set(Status.SUCCEEDED)))  # no transition does this
    failed = overtaken(db, hold_draw(event.event_id, event.closes_at), lambda: None, on=TransactWriteItems)
    assert isinstance(failed, TransactionCancelled)


def test_an_entry_that_goes_while_the_entries_are_frozen_is_said(db: Session) -> None:
    event = lottery(db, 2, 5)
    leaver = in_queue_order(db, event)[0]

    def leave() -> None:
        db.run(cancel(leaver.request_id, None, event.closes_at))

    refused = overtaken(db, hold_draw(event.event_id, event.closes_at), leave, on=TransactWriteItems)
    assert isinstance(refused, DrawRefused)
    assert "An entry was added or cancelled" in refused.message
    assert len(drawn(db, event).order) == 4
