"""Cancelling in a lottery: the next on the waiting list is promoted, and nobody can cancel during the draw."""

from __future__ import annotations

import pytest
from tests.services.events.acting import in_queue_order, seats
from tests.services.events.draws.drawing import as_json, cut_off, drawn, lottery, status_of

from partita import Session
from partita.errors import IllegalTransition
from partita.store import PutItem
from partita.testing import Crash, FaultyStore
from partita_services.events.cancelling import cancel
from partita_services.events.draws.draw import show_draw
from partita_services.events.draws.verify import problems_of
from partita_services.events.terms import Reason, Status

pytestmark = pytest.mark.req("E05")


@pytest.mark.req("E11")
def test_a_winner_who_cancels_makes_room_for_the_next_who_still_waits(db: Session) -> None:
    event = lottery(db, 2, 5)
    order = drawn(db, event).order
    now = event.closes_at
    gone = db.run(cancel(order[2], None, now))  # the first on the waiting list
    assert (gone.status, gone.error_code, gone.waiting_position) == (Status.REJECTED, Reason.CANCELLED, None)
    db.run(cancel(order[0], None, now))
    assert [status_of(db, entry) for entry in order] == [
        (Status.REJECTED, Reason.CANCELLED),
        (Status.SUCCEEDED, None),
        (Status.REJECTED, Reason.CANCELLED),
        (Status.SUCCEEDED, None),
        (Status.REJECTED, Reason.WAITING_LIST),
    ]
    db.run(cancel(order[1], None, now))
    db.run(cancel(order[3], None, now))
    assert seats(db, event).remaining == 1  # the waiting list is empty, so the seat stays free
    assert problems_of(as_json(db.run(show_draw(event.event_id)))) == []  # the drawn order has not changed


@pytest.mark.req("E11")
def test_an_entry_that_is_cancelled_takes_no_part(db: Session) -> None:
    event = lottery(db, 2, 3)
    first = in_queue_order(db, event)[0]
    db.run(cancel(first.request_id, None, event.opens_at))
    assert seats(db, event).entered == 2
    assert first.request_id not in drawn(db, event).order


def test_while_the_draw_is_held_no_entry_can_leave(db: Session, store: FaultyStore) -> None:
    event = lottery(db, 2, 3)
    store.crash_before(1, on=PutItem)
    with pytest.raises(Crash):
        drawn(db, event)
    held = [request for request in in_queue_order(db, event) if request.status is Status.PROCESSING]
    for request in held:
        with pytest.raises(IllegalTransition, match="being held"):
            db.run(cancel(request.request_id, None, event.closes_at))
    assert held


@pytest.mark.req("E05", "E07", "E11")
@pytest.mark.parametrize("transaction", [3, 4], ids=["some have their result", "all have their result"])
def test_while_the_draw_is_held_nobody_leaves_the_waiting_list(
    db: Session, store: FaultyStore, transaction: int
) -> None:
    event, order = cut_off(db, store, transaction)
    with pytest.raises(IllegalTransition, match="being held"):
        db.run(cancel(order[1], None, event.closes_at))
    assert list(drawn(db, event).order) == order
    db.run(cancel(order[1], None, event.closes_at))
    assert status_of(db, order[1]) == (Status.REJECTED, Reason.CANCELLED)
