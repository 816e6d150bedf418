"""Editing events: until when each field may change, and which edits are refused for which reason."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest
from tests.services.events.acting import opened
from tests.services.events.test_http import apply, as_user, draft, event_in

from partita import Session
from partita.http import Identity
from partita.testing import FakeClock
from partita_services.events.changes.drafts import EventEdit, InvalidEvent
from partita_services.events.changes.editing import EditRefused, edit
from partita_services.events.model import Event, active_event, listed_events
from partita_services.events.terms import RETENTION_DAYS, EventType, instant

pytestmark = pytest.mark.req("E15")

HOUR = timedelta(hours=1)


def test_what_is_left_out_stays_and_the_list_follows_the_opening(db: Session, fake_clock: FakeClock) -> None:
    now = instant(fake_clock())
    event = opened(db, capacity=3)
    earlier = event.opens_at - HOUR
    found = db.run(edit(event.event_id, EventEdit(name="B", opens_at=event.opens_at + HOUR / 2), earlier))
    assert (found.event.name, found.event.opens_at, found.seats.total) == ("B", now + HOUR / 2, 3)
    assert found.event.closes_at == event.closes_at
    assert [(each.event_id, each.opens_at) for each in db.run(listed_events())] == [(event.event_id, now + HOUR / 2)]
    assert db.run(edit(event.event_id, EventEdit(), earlier)) == found


@pytest.mark.parametrize(
    ("change", "after", "refused"),
    [
        ({"opens_at": HOUR / 2}, timedelta(0), "open already"),
        ({"closes_at": 3 * HOUR}, HOUR, "closed already"),
        ({"capacity_total": 2}, timedelta(0), "seats can be added"),
    ],
)
def test_what_is_too_late_is_refused(
    change: dict[str, Any], after: timedelta, refused: str, db: Session, fake_clock: FakeClock
) -> None:
    now = instant(fake_clock())
    event = opened(db, capacity=3)
    values = {name: now + value if isinstance(value, timedelta) else value for name, value in change.items()}
    with pytest.raises(EditRefused, match=refused):
        db.run(edit(event.event_id, EventEdit.model_validate(values), now + after))


def test_seats_may_be_fewer_until_it_opens_and_more_at_any_time(db: Session) -> None:
    event = opened(db, capacity=3)
    assert db.run(edit(event.event_id, EventEdit(capacity_total=2), event.opens_at - HOUR)).seats.remaining == 2
    assert db.run(edit(event.event_id, EventEdit(capacity_total=9), event.closes_at + HOUR)).seats.remaining == 9
    assert db.run(active_event(event.event_id)) is not None


def test_a_closed_lottery_keeps_its_seats(db: Session) -> None:
    event = opened(db, 3, EventType.LOTTERY)
    db.run(edit(event.event_id, EventEdit(capacity_total=4, draws_itself=True), event.opens_at))
    for change in (EventEdit(capacity_total=5), EventEdit(draws_itself=False)):
        with pytest.raises(EditRefused, match="closed already"):
            db.run(edit(event.event_id, change, event.closes_at))


@pytest.mark.parametrize(
    ("closes_in", "message"),
    [
        (timedelta(0), "after opensAt"),
        (HOUR / 2, "in the future"),
        (HOUR + timedelta(days=RETENTION_DAYS), "before the requests expire"),
    ],
)
def test_a_closing_that_cannot_be_is_named(
    closes_in: timedelta, message: str, db: Session, fake_clock: FakeClock
) -> None:
    event = opened(db, capacity=1)
    with pytest.raises(InvalidEvent, match=message) as invalid:
        db.run(edit(event.event_id, EventEdit(closes_at=event.opens_at + closes_in), event.opens_at + HOUR / 2))
    assert invalid.value.field == "closesAt"


async def test_an_event_that_is_over_before_it_is_made_is_a_mistake(
    api: httpx.AsyncClient, fake_clock: FakeClock
) -> None:
    past = {"opensAt": "2020-01-01T10:00:00Z", "closesAt": "2020-01-01T12:00:00Z"}
    response = await api.post("/events", json=draft(fake_clock) | past)
    assert (response.status_code, response.json()["code"]) == (422, "invalid_request")
    assert response.json()["errors"] == [
        {"location": "body", "field": "closesAt", "message": "closesAt must be in the future"}
    ]


async def test_operators_edit_and_applicants_notice_at_once(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity
) -> None:
    event = await event_in(api, fake_clock)
    await apply(api, event, "ann", identity)
    url = f"/events/{event['eventId']}"
    sooner = {"closesAt": "2026-01-01T12:10:00Z", "capacityTotal": 5}
    edited = await api.patch(url, json=sooner)
    assert (edited.status_code, edited.json()["closesAt"]) == (200, "2026-01-01T12:10:00.000000Z")
    assert (edited.json()["capacityTotal"], edited.json()["name"]) == (5, "A")
    fake_clock.advance(600)
    assert (await apply(api, event, "bob", identity)).json()["code"] == "closed"
    late = await api.patch(url, json={"closesAt": "2026-01-01T14:00:00Z"})
    assert (late.status_code, late.json()["code"]) == (409, "edit_refused")
    assert (await api.patch(url, json={"closesAt": "nonsense"})).status_code == 422
    assert (await api.patch(url, json={"name": "B"}, headers=as_user("ann", identity))).status_code == 403


def test_the_rule_of_freed_seats_is_no_edit() -> None:
    assert "freed_seats" not in EventEdit.model_fields
    assert {"event_type", "commitment", "entropy_source"} <= Event.model_fields.keys()
    assert not {"event_type", "commitment", "entropy_source"} & EventEdit.model_fields.keys()
