"""A journey through the events service: first come and lottery, from the first request to the last sweep."""

from __future__ import annotations

from typing import Any

from tests.deploy.asking import ok
from tests.deploy.running import IDENTITY, Visit

from partita import f, update
from partita.http import Caller
from partita.queue import Acknowledge, Receive, Send
from partita_services.events.model import Seats, seats_of

MINUTE = 60.0
FIRST_COME = {
    "name": "Concert",
    "eventType": "FIRST_COME",
    "capacityTotal": 1,
    "opensAt": "2026-01-01T11:00:00Z",
    "closesAt": "2026-01-01T12:30:00Z",
    "keepsLog": True,
}
LOTTERY = {**FIRST_COME, "eventType": "LOTTERY"}


async def events(visit: Visit) -> None:
    """Two events: a decided request, one whose message is lost, a message that cannot be read, and a draw."""
    about = {**FIRST_COME, "description": "About it."}
    first = (await ok(visit.api, "POST", "/events", json=about, headers={"Idempotency-Key": "k"}))["eventId"]
    lottery = (await ok(visit.api, "POST", "/events", json=LOTTERY))["eventId"]
    visit.queues["events"].execute(Send("nobody can read this", first, "poison"))
    request = await _apply(visit, first)
    await ok(visit.api, "POST", f"/events/{first}/requests")
    for path in (f"/requests/{request}", f"/requests/{request}/log", f"/requests/{request}/stream"):
        await ok(visit.api, "GET", path)
    await ok(visit.api, "PATCH", f"/requests/{request}", json={"displayName": "Ann", "showsName": True})
    await ok(visit.api, "GET", f"/events/{first}/names?request={request}")
    await _look_at_lists(visit, first)
    await ok(visit.api, "DELETE", f"/requests/{request}")
    await ok(visit.api, "POST", f"/events/{first}/requests")
    _lose_messages(visit)
    await _apply(visit, lottery)
    visit.clock.advance(60 * MINUTE)
    for _ in range(3):
        visit.work()
        visit.clock.advance(2 * MINUTE)
    await ok(visit.api, "POST", f"/events/{lottery}/draw")
    await ok(visit.api, "GET", f"/events/{lottery}/draw")
    await _change(visit)


async def _change(visit: Visit) -> None:
    """Seats are added and returned, an event releases seats, a draw has two steps, and events are cancelled."""
    later = {"opensAt": "2026-01-01T14:00:00Z", "closesAt": "2026-01-01T15:00:00Z"}
    event = (await ok(visit.api, "POST", "/events", json={**FIRST_COME, **later}))["eventId"]
    await ok(visit.api, "PATCH", f"/events/{event}", json={"name": "B", "opensAt": "2026-01-01T13:00:00Z"})
    for text in ("About it.", ""):
        await ok(visit.api, "PATCH", f"/events/{event}", json={"description": text})
    released = {**FIRST_COME, "closesAt": later["closesAt"], "freedSeats": "RELEASE"}
    free = (await ok(visit.api, "POST", "/events", json=released))["eventId"]
    drawn = {**LOTTERY, "closesAt": "2026-01-01T13:30:00Z", "entropySource": "dice"}
    lottery = (await ok(visit.api, "POST", "/events", json=drawn))["eventId"]
    for user in ("bob", "ann"):
        await _apply_as(visit, user, event)
        await _apply_as(visit, user, free)
        await _apply_as(visit, user, lottery)
    visit.work()
    first = await _winner(visit, free)
    await ok(visit.api, "DELETE", f"/requests/{first}")
    for user in ("bob", "ann"):
        await _apply_as(visit, user, free)
    await ok(visit.api, "DELETE", f"/requests/{await _winner(visit, event)}")
    for user in ("cleo", "dan", "eve"):
        await _apply_as(visit, user, event)
    visit.work()
    await ok(visit.api, "PATCH", f"/events/{event}", json={"capacityTotal": 2})
    visit.db.run(update(seats_of(event), f(Seats.total).set(3), f(Seats.remaining).set(1)))  # by a process that crashed
    visit.queues["events-notices"].execute(Send("nobody can read this", "bob", "poison"))
    visit.clock.advance(30 * MINUTE)
    visit.work()
    await ok(visit.api, "POST", f"/events/{lottery}/draw")
    await ok(visit.api, "POST", f"/events/{lottery}/draw", json={"entropy": "6"})
    for cancelled in (event, lottery):
        await ok(visit.api, "POST", f"/events/{cancelled}/cancel", json={"reason": "Rain."})
    for _ in range(3):
        visit.work()
        visit.clock.advance(2 * MINUTE)
    await ok(visit.api, "DELETE", "/me/data")


async def _apply_as(visit: Visit, user: str, event: str) -> None:
    headers = {"Authorization": f"Bearer {IDENTITY.token(Caller(user))}"}
    await ok(visit.api, "POST", f"/events/{event}/requests", headers=headers)


async def _winner(visit: Visit, event: str) -> str:
    page = await ok(visit.api, "GET", f"/events/{event}/requests")
    identifier: str = next(each["requestId"] for each in page["items"] if each["status"] == "SUCCEEDED")
    return identifier


async def _apply(visit: Visit, event: str) -> str:
    request: dict[str, Any] = await ok(visit.api, "POST", f"/events/{event}/requests")
    visit.work()
    identifier: str = request["requestId"]
    return identifier


async def _look_at_lists(visit: Visit, event: str) -> None:
    for path in (
        "/events",
        f"/events/{event}",
        f"/events/{event}/figures",
        f"/events/{event}/requests",
        f"/events/{event}/requests.csv",
        "/me/requests",
        "/me/data",
    ):
        await ok(visit.api, "GET", path)


def _lose_messages(visit: Visit) -> None:
    queue = visit.queues["events"]
    queue.execute(Acknowledge(tuple(message.receipt for message in queue.execute(Receive()))))
