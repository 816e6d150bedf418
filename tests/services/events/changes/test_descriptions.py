"""The description of an event: operators write it, everybody can read it with the event, and lists leave it out."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from tests.services.events.test_http import as_user, event_in

from partita.http import Identity
from partita.testing import FakeClock
from partita_services.events.terms import MAX_DESCRIPTION

pytestmark = pytest.mark.req("E19")

TEXT = "Doors open at seven.\n\nBring a <b>warm</b> coat, שלום."


async def test_applicants_read_what_operators_write(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity
) -> None:
    event = await event_in(api, fake_clock, description=f"  {TEXT}\n")
    assert event["description"] == TEXT
    found = await api.get(f"/events/{event['eventId']}", headers=as_user("ann", identity))
    assert found.json()["description"] == TEXT
    (listed,) = (await api.get("/events")).json()["items"]
    assert "description" not in listed


async def test_it_is_changed_and_taken_away(api: httpx.AsyncClient, fake_clock: FakeClock) -> None:
    event = await event_in(api, fake_clock)
    at = f"/events/{event['eventId']}"
    assert event["description"] == ""
    for change, expected in (({"description": TEXT}, TEXT), ({"name": "B"}, TEXT), ({"description": ""}, "")):
        changed = await api.patch(at, json=change)
        assert (changed.status_code, changed.json()["description"]) == (200, expected)
        assert (await api.get(at)).json()["description"] == expected


async def test_a_cancelled_event_keeps_it(api: httpx.AsyncClient, fake_clock: FakeClock) -> None:
    event = await event_in(api, fake_clock, description=TEXT)
    at = f"/events/{event['eventId']}"
    assert (await api.post(f"{at}/cancel", json={"reason": "Rain"})).status_code == 200
    assert (await api.patch(at, json={"description": "x"})).status_code == 409
    assert (await api.get(at)).json()["description"] == TEXT


async def test_users_do_not_write_it(api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity) -> None:
    event = await event_in(api, fake_clock, description=TEXT)
    change = {"description": "mine"}
    refused = await api.patch(f"/events/{event['eventId']}", json=change, headers=as_user("ann", identity))
    assert refused.status_code == 403


async def test_the_longest_text_is_taken_within_the_budgets(api: httpx.AsyncClient, fake_clock: FakeClock) -> None:
    """The session of these tests raises if a budget is exceeded."""
    longest = "\N{GRINNING FACE}" * MAX_DESCRIPTION
    event = await event_in(api, fake_clock, description=longest)
    at = f"/events/{event['eventId']}"
    assert (await api.get(at)).json()["description"] == longest
    assert (await api.patch(at, json={"description": longest[:-1] + "x", "name": "C", "capacityTotal": 9})).is_success
    assert (await api.get(at)).json()["description"][-1] == "x"


@pytest.mark.parametrize("text", ["x" * (MAX_DESCRIPTION + 1), "a\x00b", "a\x1b[2J", "a\u202eb", 5, ["a"]])
async def test_what_is_not_plain_text_is_refused(api: httpx.AsyncClient, fake_clock: FakeClock, text: Any) -> None:
    event = await event_in(api, fake_clock)
    refused = await api.patch(f"/events/{event['eventId']}", json={"description": text})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "description")


async def test_lines_of_windows_are_lines(api: httpx.AsyncClient, fake_clock: FakeClock) -> None:
    assert (await event_in(api, fake_clock, description="a\r\nb"))["description"] == "a\nb"
