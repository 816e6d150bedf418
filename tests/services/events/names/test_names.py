"""Names of applicants: shown to others only with the applicant's consent, and removed on request."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from tests.services.events.test_http import apply, as_user, event_in

from partita import Session
from partita.http import Identity
from partita.queue import Queue
from partita.testing import FakeClock
from partita_services.events.names.naming import MAX_NAMES
from partita_services.events.personal import PERSONAL
from partita_services.events.queueing.worker import Worker

pytestmark = pytest.mark.req("E20")

SHOWN = {"displayName": "Ann B.", "showsName": True}
HIDDEN = {"displayName": "Ben C.", "showsName": False}


async def apply_as(
    api: httpx.AsyncClient, event: dict[str, Any], user: str, identity: Identity, applicant: dict[str, Any] | None
) -> dict[str, Any]:
    headers = as_user(user, identity)
    response = await api.post(f"/events/{event['eventId']}/requests", headers=headers, json=applicant)
    assert response.status_code == 202, response.text
    made: dict[str, Any] = response.json()
    return made


def decide_all(worker: Worker) -> None:
    while worker.serve():
        pass


def named(view: dict[str, Any]) -> tuple[str | None, bool]:
    return view["displayName"], view["showsName"]


async def test_the_applicant_sees_the_name_and_operators_only_with_consent(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity, db: Session, queue: Queue
) -> None:
    event = await event_in(api, fake_clock, capacity=5)
    made = {
        user: await apply_as(api, event, user, identity, applicant)
        for user, applicant in (("ann", SHOWN), ("ben", HIDDEN), ("cat", None))
    }
    assert {user: named(view) for user, view in made.items()} == {
        "ann": ("Ann B.", True),
        "ben": ("Ben C.", False),
        "cat": (None, False),
    }
    decide_all(Worker(db, queue, "w1"))
    listed = (await api.get(f"/events/{event['eventId']}/requests")).json()["items"]
    assert [named(view) for view in listed] == [("Ann B.", True), (None, False), (None, False)]
    for user, expected in (("ann", ("Ann B.", True)), ("ben", (None, False))):
        found = (await api.get(f"/requests/{made[user]['requestId']}")).json()
        assert named(found) == expected
    table = (await api.get(f"/events/{event['eventId']}/requests.csv")).text
    assert "Ann B." in table
    assert "Ben C." not in table
    own = await api.get("/me/requests", headers=as_user("ben", identity))
    assert [named(view) for view in own.json()["items"]] == [("Ben C.", False)]
    one = await api.get(f"/requests/{made['ben']['requestId']}", headers=as_user("ben", identity))
    assert named(one.json()) == ("Ben C.", False)


async def test_everybody_sees_the_names_of_winners_who_allow_it(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity, db: Session, queue: Queue
) -> None:
    event = await event_in(api, fake_clock, capacity=2)
    other = await event_in(api, fake_clock, capacity=2)
    ids = [
        (await apply_as(api, event, user, identity, applicant))["requestId"]
        for user, applicant in (("ann", SHOWN), ("ben", HIDDEN), ("dan", {"displayName": "Dan", "showsName": True}))
    ]
    elsewhere = await apply_as(api, other, "eva", identity, {"displayName": "Eva", "showsName": True})
    decide_all(Worker(db, queue, "w1"))
    wanted = {"request": [*ids, elsewhere["requestId"], "gone"]}
    found = await api.get(f"/events/{event['eventId']}/names", params=wanted, headers=as_user("eva", identity))
    assert found.json() == {"items": [{"requestId": ids[0], "displayName": "Ann B."}]}  # Dan has no seat


async def test_a_name_is_changed_and_taken_back(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity, db: Session, queue: Queue
) -> None:
    event = await event_in(api, fake_clock)
    request = await apply_as(api, event, "ann", identity, SHOWN)
    at, own = f"/requests/{request['requestId']}", as_user("ann", identity)
    hidden = await api.patch(at, json={"displayName": "Ann", "showsName": False}, headers=own)
    assert (hidden.status_code, named(hidden.json())) == (200, ("Ann", False))
    assert named((await api.get(at)).json()) == (None, False)
    removed = await api.patch(at, json={}, headers=own)
    assert named(removed.json()) == (None, False)
    decide_all(Worker(db, queue, "w1"))
    after = (await api.get(at, headers=own)).json()
    assert (after["status"], named(after)) == ("SUCCEEDED", (None, False))


async def test_nobody_else_changes_it(api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity) -> None:
    event = await event_in(api, fake_clock)
    request = await apply_as(api, event, "ann", identity, SHOWN)
    at = f"/requests/{request['requestId']}"
    for headers in (as_user("eve", identity), {}):  # the second caller is an operator
        assert (await api.patch(at, json={"displayName": "Eve"}, headers=headers)).status_code == 404
    assert named((await api.get(at)).json()) == ("Ann B.", True)


async def test_who_applies_again_keeps_what_was_said_first(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity
) -> None:
    event = await event_in(api, fake_clock)
    await apply_as(api, event, "ann", identity, SHOWN)
    again = await apply(api, event, "ann", identity)
    assert (again.status_code, named(again.json())) == (200, ("Ann B.", True))


@pytest.mark.parametrize(
    "applicant",
    [
        {"displayName": ""},
        {"displayName": "   "},
        {"displayName": "x" * 81},
        {"displayName": "a\u200bb"},
        {"displayName": "a\u202eb"},
        {"displayName": "a\nb"},
        {"displayName": "a\x85b"},
        {"displayName": "a\xadb"},
        {"displayName": "\u061c"},
        {"displayName": "\u3164"},
        {"displayName": "\u2800"},
        {"displayName": "Ann\u200d"},
        {"displayName": "A\u200cnn"},
        {"displayName": "\u200d\u200d"},
        {"showsName": True},
        {"name": "Ann"},
        {"displayName": 5},
        [],
        "Ann",
    ],
)
async def test_what_cannot_be_a_name_is_refused(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity, applicant: Any
) -> None:
    event = await event_in(api, fake_clock)
    headers = as_user("ann", identity)
    refused = await api.post(f"/events/{event['eventId']}/requests", headers=headers, json=applicant)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")
    assert (await api.get("/me/requests", headers=headers)).json()["items"] == []


@pytest.mark.parametrize(
    "name", ["\u0639\u0644\u06cc\u200c\u0631\u0636\u0627", "\u0915\u094d\u200d\u0937", "Ann \U0001f469\u200d\U0001f680"]
)
async def test_a_name_has_the_joiners_that_its_script_needs(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity, name: str
) -> None:
    event = await event_in(api, fake_clock)
    request = await apply_as(api, event, "ann", identity, {"displayName": name, "showsName": True})
    assert named(request) == (name, True)


async def test_the_longest_name_is_taken_and_some_names_are_asked_for_at_once(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity
) -> None:
    event = await event_in(api, fake_clock)
    request = await apply_as(api, event, "ann", identity, {"displayName": " " + "ü" * 80 + " "})
    assert request["displayName"] == "ü" * 80
    at = f"/events/{event['eventId']}/names"
    assert (await api.get(at, params={"request": ["x"] * MAX_NAMES})).status_code == 200
    for wanted in ({"request": ["x"] * (MAX_NAMES + 1)}, {}, {"request": ["x"], "other": "y"}):
        assert (await api.get(at, params=wanted)).status_code == 422


async def test_a_name_is_exported_and_erased_with_the_user(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity, db: Session
) -> None:
    event = await event_in(api, fake_clock)
    request = await apply_as(api, event, "ann", identity, SHOWN)
    (items,) = PERSONAL.items
    exported, _ = db.run(PERSONAL.page(items, "ann", None))
    assert [(each["displayName"], each["showsName"]) for each in exported] == [("Ann B.", True)]
    db.run(PERSONAL.erase("ann"))
    assert (await api.get(f"/requests/{request['requestId']}")).status_code == 404
