"""The events API over HTTP, on every store."""

from __future__ import annotations

import asyncio
import csv
import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from io import StringIO
from typing import Any

import httpx
import pytest
from tests.services.events.acting import users, waiting
from tests.services.news import state_of
from tests.services.routes import routes_of

from partita import EmbeddedStore, Session
from partita.errors import StoreUnavailable
from partita.http import Caller, Identity
from partita.queue import GetStats, Queue, QueueRequest
from partita.service import OpenProjection
from partita.store import GetItem, ScanTable, TransactWriteItems
from partita.testing import FakeClock, FaultyStore
from partita_services.events.dependencies import sender_of
from partita_services.events.draws.verify import problems_of
from partita_services.events.figures import live
from partita_services.events.http import ROUTER
from partita_services.events.model import event_by_id
from partita_services.events.queueing.worker import Worker
from partita_services.events.terms import instant

ROUTES = routes_of(ROUTER)
BODIES = {
    "PATCH /events/{event_id}": {"name": "B"},
    "POST /events/{event_id}/cancel": {"reason": "Rain"},
    "PATCH /requests/{request_id}": {"displayName": "Ann"},
}
QUERIES = {"GET /events/{event_id}/names": {"request": "gone"}}


def as_user(user_id: str, identity: Identity) -> dict[str, str]:
    return {"Authorization": f"Bearer {identity.token(Caller(user_id))}"}


@pytest.fixture
def worker(db: Session, queue: Queue) -> Worker:
    return Worker(db, queue, "w1")


def draft(clock: FakeClock, capacity: int = 1, event_type: str = "FIRST_COME", **more: Any) -> dict[str, Any]:
    now = instant(clock())
    times = {"opensAt": now.isoformat(), "closesAt": (now + timedelta(hours=1)).isoformat()}
    return {"name": "A", "eventType": event_type, "capacityTotal": capacity, **times, **more}


async def event_in(api: httpx.AsyncClient, clock: FakeClock, capacity: int = 1, **more: Any) -> dict[str, Any]:
    response = await api.post("/events", json=draft(clock, capacity, **more))
    assert response.status_code == 201, response.text
    created: dict[str, Any] = response.json()
    return created


async def apply(api: httpx.AsyncClient, event: dict[str, Any], user: str, identity: Identity) -> httpx.Response:
    return await api.post(f"/events/{event['eventId']}/requests", headers=as_user(user, identity))


@pytest.mark.req("E11")
async def test_an_operator_creates_an_event(api: httpx.AsyncClient, fake_clock: FakeClock) -> None:
    response = await api.post("/events", json=draft(fake_clock, 500, keepsLog=True))
    event = response.json()
    assert response.headers["Location"] == f"/events/api/events/{event['eventId']}"
    assert event == {
        "eventId": event["eventId"],
        "name": "A",
        "description": "",
        "eventType": "FIRST_COME",
        "status": "OPEN",
        "capacityTotal": 500,
        "capacityRemaining": 500,
        "opensAt": "2026-01-01T12:00:00.000000Z",
        "closesAt": "2026-01-01T13:00:00.000000Z",
        "keepsLog": True,
        "freedSeats": "WAITING_LIST",
        "commitment": None,
        "entropySource": None,
        "drawsItself": False,
        "keptUntil": "2027-02-05T13:00:00.000000Z",
        "cancelReason": None,
        "notified": None,
        "createdAt": "2026-01-01T12:00:00.000000Z",
    }
    assert (await api.get(f"/events/{event['eventId']}")).json() == event
    listed = {name: value for name, value in event.items() if name != "description"}
    assert (await api.get("/events")).json() == {"items": [listed], "next_cursor": None}


@pytest.mark.req("E11")
async def test_the_status_of_an_event_follows_the_clock(api: httpx.AsyncClient, fake_clock: FakeClock) -> None:
    url = f"/events/{(await event_in(api, fake_clock))['eventId']}"
    statuses = []
    for seconds in (-1, 1, 3_599, 1):
        fake_clock.advance(seconds)
        statuses.append((await api.get(url)).json()["status"])
    assert statuses == ["UPCOMING", "OPEN", "OPEN", "CLOSED"]


@pytest.mark.req("E05")
async def test_a_lottery_publishes_what_it_commits_to(api: httpx.AsyncClient, fake_clock: FakeClock) -> None:
    first = await event_in(api, fake_clock, event_type="LOTTERY")
    second = await event_in(api, fake_clock, event_type="LOTTERY")
    assert len(first["commitment"]) == 64
    assert first["commitment"] != second["commitment"]


@pytest.mark.req("X05")
async def test_creating_an_event_happens_once_for_each_key(api: httpx.AsyncClient, fake_clock: FakeClock) -> None:
    body, key = draft(fake_clock, event_type="LOTTERY"), {"Idempotency-Key": "k1"}
    first = await api.post("/events", json=body, headers=key)
    again = await api.post("/events", json=body, headers=key)
    assert (again.status_code, again.json(), again.headers["Idempotent-Replayed"]) == (201, first.json(), "true")
    other = await api.post("/events", json=body | {"name": "B"}, headers=key)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_mismatch")
    assert len((await api.get("/events")).json()["items"]) == 1


@pytest.mark.req("E01")
async def test_a_request_is_accepted_and_found_again(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity, queue: Queue
) -> None:
    event = await event_in(api, fake_clock)
    first = await apply(api, event, "ann", identity)
    request = first.json()
    assert (first.status_code, request["status"], request["userId"]) == (202, "RECEIVED", "ann")
    assert first.headers["Location"] == f"/events/api/requests/{request['requestId']}"
    again = await apply(api, event, "ann", identity)
    assert (again.status_code, again.json()["requestId"]) == (200, request["requestId"])
    assert again.headers["Location"] == first.headers["Location"]
    other = await apply(api, event, "bob", identity)
    assert (other.status_code, other.json()["requestId"] != request["requestId"]) == (202, True)
    assert queue.execute(GetStats()).waiting == 2


@pytest.mark.req("E01")
async def test_lock_and_request_are_one_transaction(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity, store: FaultyStore
) -> None:
    event = await event_in(api, fake_clock)
    store.requests.clear()
    await apply(api, event, "ann", identity)
    first = next(request for request in store.requests if isinstance(request, TransactWriteItems))
    assert [action.item["SK"] for action in first.actions] == ["LOCK", "META"]  # type: ignore[union-attr]


@pytest.mark.req("E01")
async def test_of_many_at_once_one_is_new_and_all_get_the_same(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity, db: Session
) -> None:
    event = await event_in(api, fake_clock)
    responses = await asyncio.gather(*(apply(api, event, "ann", identity) for _ in range(8)))
    assert sorted(response.status_code for response in responses) == [200] * 7 + [202]
    assert len({response.json()["requestId"] for response in responses}) == 1
    found = db.run(event_by_id(event["eventId"]))
    assert found is not None
    assert len(waiting(db, found)) == 1


@pytest.mark.req("E01")
@pytest.mark.parametrize(("seconds", "code"), [(-1, "not_open_yet"), (3_600, "closed")])
async def test_outside_its_time_an_event_takes_no_requests(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity, seconds: int, code: str
) -> None:
    event = await event_in(api, fake_clock)
    fake_clock.advance(seconds)
    response = await apply(api, event, "ann", identity)
    problem = response.json()
    assert (response.status_code, problem["code"]) == (409, code)
    assert (problem["opensAt"], problem["closesAt"]) == (event["opensAt"], event["closesAt"])


@pytest.mark.req("X05", "E01")
async def test_with_a_key_a_request_gets_the_same_response_again(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity, queue: Queue
) -> None:
    event = await event_in(api, fake_clock)
    url, headers = f"/events/{event['eventId']}/requests", as_user("ann", identity) | {"Idempotency-Key": "k"}
    first = await api.post(url, headers=headers)
    again = await api.post(url, headers=headers)
    assert (first.status_code, again.status_code, again.json()) == (202, 202, first.json())
    assert again.headers["Idempotent-Replayed"] == "true"
    other_key = await api.post(url, headers=headers | {"Idempotency-Key": "other"})
    assert (other_key.status_code, other_key.json()["requestId"]) == (200, first.json()["requestId"])
    assert queue.execute(GetStats()).waiting == 1


@pytest.mark.req("X05", "E01")
async def test_what_has_a_response_keeps_it_when_the_event_is_closed(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity, queue: Queue
) -> None:
    event = await event_in(api, fake_clock)
    url, headers = f"/events/{event['eventId']}/requests", as_user("ann", identity) | {"Idempotency-Key": "k"}
    first = await api.post(url, headers=headers)
    fake_clock.advance(3_600)
    again = await api.post(url, headers=headers)
    assert (again.status_code, again.json(), again.headers["Idempotent-Replayed"]) == (202, first.json(), "true")
    assert queue.execute(GetStats()).waiting == 1


@pytest.mark.req("E01")
@pytest.mark.parametrize("key", [{}, {"Idempotency-Key": "k"}], ids=["without a key", "with a new key"])
async def test_who_has_a_request_gets_it_when_the_event_is_closed(
    key: dict[str, str], api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity
) -> None:
    event = await event_in(api, fake_clock)
    first = await apply(api, event, "ann", identity)
    fake_clock.advance(3_600)
    url = f"/events/{event['eventId']}/requests"
    again = await api.post(url, headers=as_user("ann", identity) | key)
    assert (again.status_code, again.json()["requestId"]) == (200, first.json()["requestId"])
    await api.delete(f"/requests/{first.json()['requestId']}")
    refused = await api.post(url, headers=as_user("ann", identity) | {"Idempotency-Key": "another"})
    assert (refused.status_code, refused.json()["code"]) == (409, "closed")


@pytest.mark.req("X05", "E01")
async def test_a_refusal_is_not_remembered(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity, queue: Queue
) -> None:
    event = await event_in(api, fake_clock)
    url, headers = f"/events/{event['eventId']}/requests", as_user("ann", identity) | {"Idempotency-Key": "k"}
    fake_clock.advance(-1)
    early = await api.post(url, headers=headers)
    assert (early.status_code, early.json()["code"], early.json()["opensAt"]) == (409, "not_open_yet", event["opensAt"])
    fake_clock.advance(1)
    assert (await api.post(url, headers=headers)).status_code == 202
    assert queue.execute(GetStats()).waiting == 1


@pytest.mark.req("X05", "E01")
async def test_many_keys_at_once_make_one_request(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity, queue: Queue
) -> None:
    event = await event_in(api, fake_clock)
    url, ann = f"/events/{event['eventId']}/requests", as_user("ann", identity)
    calls = (api.post(url, headers=ann | {"Idempotency-Key": f"k{number}"}) for number in range(6))
    responses = await asyncio.gather(*calls)
    assert sorted(response.status_code for response in responses) == [200] * 5 + [202]
    assert len({response.json()["requestId"] for response in responses}) == 1
    assert queue.execute(GetStats()).waiting == 1


@pytest.mark.req("E07", "E01")
async def test_a_request_that_the_queue_does_not_take_is_accepted_all_the_same(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def down(request: QueueRequest[Any]) -> Any:
        raise StoreUnavailable("The queue did not respond.")

    event = await event_in(api, fake_clock)
    monkeypatch.setattr(queue, "execute_async", down)
    first = await apply(api, event, "ann", identity)
    assert (first.status_code, first.json()["status"]) == (202, "RECEIVED")
    found = await api.get(f"/requests/{first.json()['requestId']}")
    assert (found.json()["status"], found.json()["queuedAt"]) == ("RECEIVED", None)


@pytest.mark.req("E09")
async def test_a_request_is_shown_to_its_user_and_to_operators(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity
) -> None:
    event = await event_in(api, fake_clock)
    url = (await apply(api, event, "ann", identity)).headers["Location"].removeprefix("/events/api")
    assert (await api.get(url, headers=as_user("ann", identity))).status_code == 200
    assert (await api.get(url)).status_code == 200
    for path in (url, f"{url}/log", f"{url}/stream"):
        assert (await api.get(path, headers=as_user("bob", identity))).status_code == 404
    assert (await api.delete(url, headers=as_user("bob", identity))).status_code == 404


async def _settled(api: httpx.AsyncClient, queue: Queue) -> None:
    """Wait for everything that the server does after its responses."""
    sender = state_of(api).singleton(sender_of)
    while sender._tasks:
        await asyncio.gather(*sender._tasks)


@pytest.mark.req("E02", "E09")
async def test_it_is_queued_with_the_instant_that_the_queue_accepted_it(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity, queue: Queue, worker: Worker
) -> None:
    event = await event_in(api, fake_clock, capacity=1)
    request = (await apply(api, event, "ann", identity)).json()
    await _settled(api, queue)
    shown = (await api.get(f"/requests/{request['requestId']}")).json()
    assert (shown["status"], shown["queuedAt"]) == ("QUEUED", "2026-01-01T12:00:00.000000Z")
    worker.serve()
    shown = (await api.get(f"/requests/{request['requestId']}")).json()
    assert (shown["status"], shown["queuedAt"], shown["finishedAt"]) == ("SUCCEEDED", *[event["opensAt"]] * 2)


@pytest.mark.req("E09")
async def test_lists_are_in_queue_order_and_paged(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity, worker: Worker
) -> None:
    events = [await event_in(api, fake_clock, capacity=2) for _ in range(2)]
    for event in events:
        for user in users(5):
            await apply(api, event, user, identity)
            fake_clock.advance(1)
    while worker.serve():
        pass
    seen, cursor = [], ""
    for expected in (2, 2, 1):
        page = (await api.get(f"/events/{events[0]['eventId']}/requests?limit=2{cursor}")).json()
        assert len(page["items"]) == expected
        seen += [(request["userId"], request["status"]) for request in page["items"]]
        cursor = f"&cursor={page['next_cursor']}"
    assert page["next_cursor"] is None
    assert seen == list(zip(users(5), ["SUCCEEDED"] * 2 + ["REJECTED"] * 3, strict=True))
    in_order = [event["eventId"] for event in events]
    for order, expected_events in (("queue", in_order), ("newest", in_order[::-1])):
        mine = (await api.get(f"/me/requests?order={order}", headers=as_user("u003", identity))).json()["items"]
        assert [request["eventId"] for request in mine] == expected_events


@pytest.mark.req("E12")
async def test_operators_get_a_table_of_all_requests(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity, worker: Worker
) -> None:
    event = await event_in(api, fake_clock, capacity=1)
    for user in users(3):
        await apply(api, event, user, identity)
    worker.serve()
    response = await api.get(f"/events/{event['eventId']}/requests.csv")
    assert response.headers["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(StringIO(response.text)))
    assert [(row["userId"], row["status"], row["errorCode"]) for row in rows] == [
        ("u000", "SUCCEEDED", ""),
        ("u001", "REJECTED", "WAITING_LIST"),
        ("u002", "REJECTED", "WAITING_LIST"),
    ]


@pytest.mark.req("E12", "X04")
@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r"])
async def test_no_spreadsheet_computes_what_a_user_has_written(
    first: str, api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity, worker: Worker
) -> None:
    event, formula = await event_in(api, fake_clock), f"{first}HYPERLINK(1)"
    assert (await apply(api, event, formula, identity)).status_code == 202
    worker.serve()
    response = await api.get(f"/events/{event['eventId']}/requests.csv")
    (row,) = csv.DictReader(StringIO(response.text, newline=""))
    assert row["userId"] == f"'{formula}"
    assert [cell for cell in row.values() if cell.startswith(first)] == []


@pytest.mark.req("E08", "E09")
async def test_the_log_of_a_request(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity, worker: Worker
) -> None:
    event = await event_in(api, fake_clock, keepsLog=True)
    request = (await apply(api, event, "ann", identity)).json()
    worker.serve()
    log = (await api.get(f"/requests/{request['requestId']}/log", headers=as_user("ann", identity))).json()
    assert [(entry["status"], entry["worker"]) for entry in log["items"]] == [
        ("RECEIVED", "api"),
        ("QUEUED", "api"),
        ("PROCESSING", "w1"),
        ("SUCCEEDED", "w1"),
    ]


@pytest.mark.req("E09")
async def test_figures_and_places_in_the_queue(
    api: httpx.AsyncClient,
    fake_clock: FakeClock,
    identity: Identity,
    worker: Worker,
    projection: OpenProjection,
    queue: Queue,
) -> None:
    event = await event_in(api, fake_clock, capacity=1)
    await apply(api, event, "first", identity)
    await apply(api, event, "second", identity)
    while worker.serve():
        pass
    fake_clock.advance(2)
    applied = [(await apply(api, event, user, identity)).json() for user in users(3)]
    await _settled(api, queue)
    fake_clock.advance(1)
    projection.consumer.catch_up()
    figures = (await api.get(f"/events/{event['eventId']}/figures")).json()
    assert {name: figures[name] for name in ("counts", "requests", "backlog", "backlogSeconds")} == {
        "counts": {"RECEIVED": 0, "QUEUED": 3, "PROCESSING": 0, "SUCCEEDED": 1, "REJECTED": 1, "FAILED_FINAL": 0},
        "requests": 5,
        "backlog": 3,
        "backlogSeconds": 1.0,
    }
    assert (figures["capacityRemaining"], figures["decidedPerSecond"]) == (0, 0.4)
    assert figures["seconds"] == [{"second": "2026-01-01T12:00:00.000000Z", "decided": 2}]
    places = [(await api.get(f"/requests/{request['requestId']}")).json() for request in applied]
    assert [(place["position"], place["estimatedSeconds"]) for place in places] == [(1, 2.5), (2, 5.0), (3, 7.5)]
    worker.serve()
    projection.consumer.catch_up()
    done = (await api.get(f"/requests/{applied[0]['requestId']}")).json()
    assert (done["position"], done["estimatedSeconds"]) == (None, None)
    assert (await api.get(f"/events/{event['eventId']}/figures")).json()["backlog"] == 0


@pytest.mark.req("E09")
async def test_a_waiting_page_gets_every_change_until_the_decision(
    api: httpx.AsyncClient,
    fake_clock: FakeClock,
    identity: Identity,
    worker: Worker,
    queue: Queue,
    projection: OpenProjection,
    store: FaultyStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    event = await event_in(api, fake_clock)
    request = (await apply(api, event, "ann", identity)).json()
    await _settled(api, queue)
    projection.consumer.catch_up()
    turns: Iterator[Callable[[], object]] = iter([lambda: None, worker.serve, projection.consumer.catch_up])
    store.requests.clear()

    async def instead_of_sleeping(seconds: float) -> None:
        next(turns)()

    monkeypatch.setattr(asyncio, "sleep", instead_of_sleeping)
    response = await api.get(f"/requests/{request['requestId']}/stream", headers=as_user("ann", identity))
    assert response.headers["Content-Type"].startswith("text/event-stream")
    sent = [json.loads(line.removeprefix("data: ")) for line in response.text.split("\n\n") if line]
    assert [(news["status"], news["position"]) for news in sent] == [("QUEUED", 1), ("SUCCEEDED", None)]
    reads = [sent for sent in store.requests if isinstance(sent, GetItem) and sent.key["PK"].startswith("REQ#")]
    assert len(reads) == 2  # at first, and after the change


@pytest.mark.req("E09")
async def test_that_time_goes_by_is_not_news(
    api: httpx.AsyncClient, fake_clock: FakeClock, projection: OpenProjection, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = await event_in(api, fake_clock)
    projection.consumer.catch_up()
    stopping, looks = state_of(api).stopping, iter(range(live.SILENT_LOOKS))

    async def instead_of_sleeping(seconds: float) -> None:
        fake_clock.advance(seconds)
        if next(looks, None) is None:
            stopping.set()

    monkeypatch.setattr(asyncio, "sleep", instead_of_sleeping)
    sent = (await api.get(f"/events/{event['eventId']}/figures/stream")).text.split("\n\n")
    assert (sent[0].startswith("data: {"), sent[1:]) == (True, [": still here", ""])


@pytest.mark.req("E11")
async def test_a_request_is_cancelled(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity, worker: Worker
) -> None:
    event = await event_in(api, fake_clock, freedSeats="RELEASE")
    first = (await apply(api, event, "ann", identity)).json()
    worker.serve()
    url = f"/requests/{first['requestId']}"
    gone = await api.delete(url, headers=as_user("ann", identity))
    assert (gone.status_code, gone.json()["status"], gone.json()["errorCode"]) == (200, "REJECTED", "CANCELLED")
    assert (await api.get(f"/events/{event['eventId']}")).json()["capacityRemaining"] == 1
    again = await apply(api, event, "ann", identity)
    assert (again.status_code, again.json()["requestId"] != first["requestId"]) == (202, True)
    await apply(api, event, "bob", identity)
    worker.serve()
    lost = (await api.get("/me/requests", headers=as_user("bob", identity))).json()["items"][0]
    refused = await api.delete(f"/requests/{lost['requestId']}", headers=as_user("bob", identity))
    assert (refused.status_code, refused.json()["code"]) == (409, "illegal_transition")


@pytest.mark.req("E11", "X04")
async def test_a_cancellation_that_does_not_get_through_is_to_be_tried_again(
    api: httpx.AsyncClient,
    fake_clock: FakeClock,
    identity: Identity,
    worker: Worker,
    queue: Queue,
    store: FaultyStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    event = await event_in(api, fake_clock)
    request = (await apply(api, event, "ann", identity)).json()
    await _settled(api, queue)
    worker.serve()

    async def instead_of_sleeping(seconds: float) -> None:
        fake_clock.advance(seconds)

    monkeypatch.setattr(asyncio, "sleep", instead_of_sleeping)
    store.conflict(100, on=TransactWriteItems)
    refused = await api.delete(f"/requests/{request['requestId']}")
    assert (refused.status_code, refused.headers["Retry-After"], refused.json()["code"]) == (503, "1", "throttled")
    assert "Transaction" not in refused.text


@pytest.mark.req("E05", "E11")
async def test_a_draw_is_held_and_verified(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity, worker: Worker
) -> None:
    event = await event_in(api, fake_clock, capacity=2, event_type="LOTTERY")
    for user in users(5):
        await apply(api, event, user, identity)
    url = f"/events/{event['eventId']}/draw"
    early = await api.post(url)
    assert (early.status_code, early.json()["code"]) == (409, "draw_refused")
    worker.serve()
    fake_clock.advance(3_600)
    before = (await api.get(url, headers=as_user("u000", identity))).json()
    assert (before["seed"], before["winners"], before["commitment"]) == (None, [], event["commitment"])
    held = await api.post(url)
    draw = held.json()
    assert (held.status_code, len(draw["winners"]), len(draw["waitingList"])) == (200, 2, 3)
    assert problems_of(draw, event["commitment"]) == []
    assert (await api.get(url, headers=as_user("u000", identity))).json() == draw
    won = (await api.get(f"/requests/{draw['winners'][0]}")).json()
    waits = (await api.get(f"/requests/{draw['waitingList'][0]}")).json()
    assert (won["status"], waits["status"], waits["errorCode"], waits["waitingPosition"]) == (
        "SUCCEEDED",
        "REJECTED",
        "WAITING_LIST",
        1,
    )
    await api.delete(f"/requests/{draw['winners'][0]}")
    promoted = (await api.get(f"/requests/{draw['waitingList'][0]}")).json()
    assert (promoted["status"], promoted["errorCode"]) == ("SUCCEEDED", None)


@pytest.mark.req("X03")
@pytest.mark.parametrize("route", ROUTES)
async def test_every_route_asks_who_calls(route: str, api: httpx.AsyncClient) -> None:
    method, path = route.split()
    assert (await api.request(method, path, headers={"Authorization": ""})).status_code == 401


@pytest.mark.req("X03")
@pytest.mark.parametrize(
    "route",
    [
        "POST /events",
        "GET /events/{event_id}/requests",
        "GET /events/{event_id}/requests.csv",
        "POST /events/{event_id}/draw",
    ],
)
async def test_some_routes_are_for_operators(route: str, api: httpx.AsyncClient, identity: Identity) -> None:
    method, path = route.split()
    response = await api.request(method, path, headers=as_user("ann", identity))
    assert (response.status_code, response.json()["code"]) == (403, "forbidden")


@pytest.mark.req("X04")
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": "  "}, "name"),
        ({"name": "\u200b"}, "name"),
        ({"name": "Opening\x00night"}, "name"),
        ({"eventType": "LOTTERY", "entropySource": "drand\u202e"}, "entropySource"),
        ({"eventType": "AUCTION"}, "eventType"),
        ({"capacityTotal": 0}, "capacityTotal"),
        ({"capacityTotal": True}, "capacityTotal"),
        ({"capacityTotal": "5"}, "capacityTotal"),
        ({"retentionDays": True}, "retentionDays"),
        ({"opensAt": "2026-01-01T00:00:00"}, "opensAt"),
        ({"closesAt": "soon"}, "closesAt"),
        ({"closesAt": 4_000_000_000}, "closesAt"),
        ({"closesAt": "4000000000"}, "closesAt"),
        ({"opensAt": "0001-01-01T00:00:00+12:00"}, "opensAt"),
        ({"closesAt": "9999-12-31T23:59:59-12:00"}, "closesAt"),
        ({"closesAt": "2026-01-01T00:00:00Z"}, ""),
        ({"owner": "bob"}, "owner"),
    ],
)
async def test_bad_input_names_the_field(
    change: dict[str, Any], field: str, api: httpx.AsyncClient, fake_clock: FakeClock
) -> None:
    response = await api.post("/events", json=draft(fake_clock) | change)
    assert response.status_code == 422
    assert [error["field"] for error in response.json()["errors"]] == [field]


@pytest.mark.req("X04", "E01")
@pytest.mark.parametrize("route", [route for route in ROUTES if "{" in route])
async def test_what_there_is_not_is_missing(route: str, api: httpx.AsyncClient) -> None:
    method, path = route.format(event_id="gone", request_id="gone").split()
    response = await api.request(method, path, json=BODIES.get(route), params=QUERIES.get(route))
    assert (response.status_code, response.json()["code"]) == (404, "item_missing")


@pytest.mark.req("X07")
async def test_responses_have_what_they_consumed(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity, embedded: EmbeddedStore
) -> None:
    event = await event_in(api, fake_clock)
    first = await apply(api, event, "ann", identity)
    assert first.headers["X-Consumed-Capacity"] == "event_by_id;rcu=0.5;wcu=0, accept;rcu=0;wcu=6"
    second = await apply(api, event, "bob", identity)
    assert second.headers["X-Consumed-Capacity"] == "accept;rcu=0;wcu=6"  # the event is cached


@pytest.mark.req("X09")
async def test_no_route_scans(
    api: httpx.AsyncClient,
    fake_clock: FakeClock,
    identity: Identity,
    worker: Worker,
    store: FaultyStore,
    projection: OpenProjection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    event = await event_in(api, fake_clock, event_type="LOTTERY", keepsLog=True)
    request = (await apply(api, event, "ann", identity)).json()
    worker.serve()
    projection.consumer.catch_up()
    fake_clock.advance(3_600)
    await api.post(f"/events/{event['eventId']}/draw")
    monkeypatch.setattr(live, "news", _once)
    store.requests.clear()
    for route in ROUTES:
        method, path = route.format(event_id=event["eventId"], request_id=request["requestId"]).split()
        sent = draft(fake_clock) if route == "POST /events" else BODIES.get(route)
        body: dict[str, Any] = {} if sent is None else {"json": sent}
        headers = as_user("ann", identity) if route == "PATCH /requests/{request_id}" else {}
        response = await api.request(method, path, params=QUERIES.get(route), headers=headers, **body)
        assert response.is_success or response.status_code == 409, (route, response.text)
    assert ScanTable not in {type(sent) for sent in store.requests}


async def _once(look: Any, *ends: object) -> Any:
    yield (await look()).model_dump_json()
