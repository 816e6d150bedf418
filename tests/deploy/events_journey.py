"""A journey through the events service: first come and lottery, from the first request to the last sweep."""

from __future__ import annotations

from typing import Any

from tests.deploy.asking import ok
from tests.deploy.running import Visit

from partita.queue import Acknowledge, Receive, Send

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
    """Two events; a request that is decided, one that got lost, a message that nobody can read, and a draw."""
    first = (await ok(visit.api, "POST", "/events", json=FIRST_COME, headers={"Idempotency-Key": "k"}))["eventId"]
    lottery = (await ok(visit.api, "POST", "/events", json=LOTTERY))["eventId"]
    visit.queues["events"].execute(Send("nobody can read this", first, "poison"))
    request = await _apply(visit, first)
    await ok(visit.api, "POST", f"/events/{first}/requests")
    for path in (f"/requests/{request}", f"/requests/{request}/log", f"/requests/{request}/stream"):
        await ok(visit.api, "GET", path)
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
    ):
        await ok(visit.api, "GET", path)


def _lose_messages(visit: Visit) -> None:
    queue = visit.queues["events"]
    queue.execute(Acknowledge(tuple(message.receipt for message in queue.execute(Receive()))))
