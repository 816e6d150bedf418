"""Draws that workers hold automatically, and draws with an external value that the operator cannot choose."""

from __future__ import annotations

import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from tests.services.events.acting import SEED, applied, attempt, in_queue_order, opened, users
from tests.services.events.draws.drawing import as_json
from tests.services.events.test_http import draft

from partita import Session, f, update
from partita.cli import main
from partita.queue import Queue
from partita.testing import FakeClock
from partita_services.events.changes.event_cancelling import cancel_whole_event
from partita_services.events.draws.draw import DrawRefused, hold_draw, show_draw
from partita_services.events.draws.model import Draw
from partita_services.events.draws.verify import problems_of
from partita_services.events.model import Event, Request
from partita_services.events.queueing.decisions import decide
from partita_services.events.queueing.sweeper import LEASE, Sweeper
from partita_services.events.terms import EventType, instant
from partita_services.events.transitions import Arrival

pytestmark = pytest.mark.req("E16")

SOURCE, VALUE = "drand round 6000000", "6b1f0c"


@pytest.fixture
def sweeper(db: Session, queue: Queue) -> Sweeper:
    return Sweeper(db, queue, "w1")


def lottery(db: Session, **terms: Any) -> tuple[Event, list[Request]]:
    """Create a lottery with two seats and six entries; return it with its requests."""
    event = opened(db, 2, EventType.LOTTERY, closes_in=60, **terms)
    now = instant(db.context.clock())
    requests = applied(db, event, *users(6))
    db.run(decide(event, [Arrival(r.request_id, r.user_id, now.timestamp()) for r in requests], attempt(now)))
    return event, requests


def test_a_lottery_that_draws_itself_is_drawn_when_it_is_closed(
    db: Session, sweeper: Sweeper, fake_clock: FakeClock
) -> None:
    event, _ = lottery(db, draws_itself=True)
    sweeper.sweep()
    assert db.run(show_draw(event.event_id)).draw is None
    fake_clock.advance(60)
    sweeper.sweep()
    found = db.run(show_draw(event.event_id))
    assert (found.draw is not None, len(found.order)) == (True, 6)
    assert problems_of(as_json(found), event.commitment) == []


def test_another_waits_for_an_operator(db: Session, sweeper: Sweeper, fake_clock: FakeClock) -> None:
    event, _ = lottery(db)
    fake_clock.advance(3_600)
    sweeper.sweep()
    assert db.run(show_draw(event.event_id)).draw is None


def test_the_entries_are_frozen_before_the_value_is_known(db: Session, sweeper: Sweeper, fake_clock: FakeClock) -> None:
    event, requests = lottery(db, entropy_source=SOURCE)
    assert event.commitment == hashlib.sha256(SEED + SOURCE.encode()).hexdigest()
    fake_clock.advance(60)
    with pytest.raises(DrawRefused, match="not frozen yet"):
        db.run(hold_draw(event.event_id, instant(fake_clock()), VALUE))
    sweeper.sweep()
    frozen = db.run(show_draw(event.event_id))
    assert (frozen.awaits_entropy, frozen.seed, as_json(frozen)["entriesHash"] is not None) == (True, None, True)
    fake_clock.advance(2 * LEASE.total_seconds())
    sweeper.sweep()
    assert db.run(show_draw(event.event_id)).seed is None
    found = db.run(hold_draw(event.event_id, instant(fake_clock()), VALUE))
    key = hmac.digest(SEED, VALUE.encode(), "sha256")
    order = sorted(
        (request.request_id for request in requests),
        key=lambda entry: hmac.digest(key, f"{event.event_id}|{entry}".encode(), "sha256"),
    )
    assert list(found.order) == order
    assert problems_of(as_json(found), event.commitment, VALUE) == []


def test_an_entry_that_is_delivered_again_while_the_value_is_waited_for_stays(
    db: Session, sweeper: Sweeper, fake_clock: FakeClock
) -> None:
    """The worker that entered the requests died before it acknowledged their messages."""
    event, requests = lottery(db, entropy_source=SOURCE)
    fake_clock.advance(60)
    sweeper.sweep()
    now = instant(fake_clock())
    again = [Arrival(r.request_id, r.user_id, now.timestamp(), is_redelivered=True) for r in requests[:2]]
    db.run(decide(event, again, attempt(now)))
    found = db.run(hold_draw(event.event_id, now, VALUE))
    assert sorted(found.order) == sorted(request.request_id for request in requests)
    assert problems_of(as_json(found), event.commitment, VALUE) == []


def test_other_entries_than_the_frozen_ones_are_not_drawn(db: Session) -> None:
    """An index may show fewer entries than it did when they were frozen."""
    event, _ = lottery(db, entropy_source=SOURCE)
    frozen = db.run(hold_draw(event.event_id, event.closes_at)).draw
    assert frozen is not None
    db.run(update(frozen, f(Draw.entries_hash).set("00" * 32)))
    with pytest.raises(DrawRefused, match="not visible yet"):
        db.run(hold_draw(event.event_id, event.closes_at, VALUE))
    assert {request.finished_at for request in in_queue_order(db, event)} == {None}


def test_a_value_that_was_given_stays(db: Session, fake_clock: FakeClock) -> None:
    event, _ = lottery(db, entropy_source=SOURCE)
    db.run(hold_draw(event.event_id, event.closes_at))
    first = db.run(hold_draw(event.event_id, event.closes_at, VALUE))
    with pytest.raises(DrawRefused, match="Another value"):
        db.run(hold_draw(event.event_id, event.closes_at, "another"))
    assert db.run(hold_draw(event.event_id, event.closes_at)) == first
    assert db.run(hold_draw(event.event_id, event.closes_at, VALUE)) == first


def test_a_lottery_without_a_source_takes_no_value(db: Session) -> None:
    event, _ = lottery(db)
    with pytest.raises(DrawRefused, match="no entropy source"):
        db.run(hold_draw(event.event_id, event.closes_at, VALUE))


def test_a_cancelled_lottery_takes_no_value(db: Session) -> None:
    event, _ = lottery(db, entropy_source=SOURCE)
    db.run(hold_draw(event.event_id, event.closes_at))
    db.run(cancel_whole_event(event.event_id, "Rain.", event.closes_at))
    with pytest.raises(DrawRefused, match="cancelled"):
        db.run(hold_draw(event.event_id, event.closes_at, VALUE))
    assert {request.finished_at for request in in_queue_order(db, event)} == {None}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"entropy": "another"}, "The external value is not the one that the source has published."),
        ({"entropySource": "drand round 6000001"}, "The seed, or the entropy source"),
        ({"entropy": None}, "The external value is missing"),
        ({"entropySource": None}, "The external value is missing, or has no source."),
        ({"entropyAt": "2026-01-01T00:00:00.000000Z"}, "before the entries were frozen"),
    ],
)
def test_every_change_of_the_value_shows(change: dict[str, str], problem: str, db: Session) -> None:
    event, _ = lottery(db, entropy_source=SOURCE)
    db.run(hold_draw(event.event_id, event.closes_at))
    draw = as_json(db.run(hold_draw(event.event_id, event.closes_at, VALUE)))
    assert any(problem in each for each in problems_of(draw | change, event.commitment, VALUE))


def test_other_values_draw_others(db: Session) -> None:
    """One other value may draw the same order by chance, but not all of twenty."""
    event, _ = lottery(db, entropy_source=SOURCE)
    db.run(hold_draw(event.event_id, event.closes_at))
    draw = as_json(db.run(hold_draw(event.event_id, event.closes_at, VALUE)))
    shown = {
        problem for n in range(20) for problem in problems_of(draw | {"entropy": f"another {n}"}, event.commitment)
    }
    assert shown == {
        "The winners are not those that the seed draws.",
        "The waiting list is not in the order that the seed draws.",
    }


def test_the_command_compares_with_what_the_source_says(db: Session, tmp_path: Path) -> None:
    event, _ = lottery(db, entropy_source=SOURCE)
    db.run(hold_draw(event.event_id, event.closes_at))
    file = tmp_path / "draw.json"
    file.write_text(json.dumps(as_json(db.run(hold_draw(event.event_id, event.closes_at, VALUE)))))
    right = CliRunner().invoke(main, ["events", "verify-draw", str(file), "--entropy", VALUE])
    assert (right.exit_code, "The draw is correct" in right.output) == (0, True)
    wrong = CliRunner().invoke(main, ["events", "verify-draw", str(file), "--entropy", "another"])
    assert (wrong.exit_code, "not the one that the source has published" in wrong.output) == (1, True)


async def test_operators_give_the_value(api: httpx.AsyncClient, fake_clock: FakeClock) -> None:
    created = await api.post("/events", json=draft(fake_clock, event_type="LOTTERY", entropySource=SOURCE))
    url = f"/events/{created.json()['eventId']}/draw"
    fake_clock.advance(3_600)
    early = await api.post(url, json={"entropy": VALUE})
    assert (early.status_code, early.json()["code"]) == (409, "draw_refused")
    frozen = (await api.post(url)).json()
    assert (frozen["entropySource"], frozen["entropy"], frozen["seed"]) == (SOURCE, None, None)
    held = (await api.post(url, json={"entropy": VALUE})).json()
    assert (held["entropy"], len(held["seed"])) == (VALUE, 64)
    assert problems_of(held, created.json()["commitment"], VALUE) == []
    first_come = await api.post("/events", json=draft(fake_clock, entropySource=SOURCE))
    assert first_come.status_code == 422
