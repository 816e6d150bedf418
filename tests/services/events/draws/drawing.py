"""Helpers for tests of draws: lotteries, draws that were held or interrupted, and changes to their JSON."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.services.events.acting import SEED, applied, attempt, in_queue_order, opened, users

from partita import Session
from partita.store import TransactWriteItems
from partita.testing import Crash, FaultyStore
from partita_services.events.draws.draw import DrawFound, hold_draw
from partita_services.events.model import Event, Request, request_by_id
from partita_services.events.queueing.decisions import decide
from partita_services.events.responses import DrawView
from partita_services.events.terms import EventType, Status, instant
from partita_services.events.transitions import Arrival

SETTLED_IN_TWO = 120
"""A number of entries whose results take two transactions."""


def lottery(db: Session, capacity: int, entries: int, *, keeps_log: bool = False) -> Event:
    """Create a lottery that closes in a minute, with entries that have arrived."""
    event = opened(db, capacity, EventType.LOTTERY, closes_in=60, keeps_log=keeps_log)
    now = instant(db.context.clock())
    requests = applied(db, event, *users(entries))
    arrivals = [Arrival(request.request_id, request.user_id, now.timestamp()) for request in requests]
    db.run(decide(event, arrivals, attempt(now)))
    return event


def expected_order(event: Event, requests: list[Request]) -> list[str]:
    """Return the order that the specification requires, computed independently of the service."""
    digests = {
        hmac.new(SEED, f"{event.event_id}|{request.request_id}".encode(), hashlib.sha256).hexdigest(): request
        for request in requests
    }
    return [digests[digest].request_id for digest in sorted(digests)]


def drawn(db: Session, event: Event) -> DrawFound:
    """Hold the draw of a lottery at its closing."""
    return db.run(hold_draw(event.event_id, event.closes_at))


def as_json(found: DrawFound) -> dict[str, Any]:
    """Return a draw as JSON, like the API."""
    draw: dict[str, Any] = json.loads(DrawView.of(found).model_dump_json(by_alias=True))
    return draw


def cut_off(db: Session, store: FaultyStore, transaction: int) -> tuple[Event, list[str]]:
    """Crash a draw before one of its transactions; return the lottery, and the order that its seed draws."""
    event = lottery(db, 1, SETTLED_IN_TWO)
    order = expected_order(event, in_queue_order(db, event))
    store.crash_before(transaction, on=TransactWriteItems)
    with pytest.raises(Crash):
        drawn(db, event)
    return event, order


def status_of(db: Session, request_id: str) -> tuple[Status, str | None]:
    """Return the status of a request, and its error code."""
    request = db.run(request_by_id(request_id))
    assert request is not None
    return request.status, request.error_code


CHANGES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "an entry that was added": lambda draw: draw | {"waitingList": [*draw["waitingList"], "new"]},
    "an entry that was left out": lambda draw: draw | {"waitingList": draw["waitingList"][:-1]},
    "an entry that was exchanged": lambda draw: draw | {"winners": ["new", *draw["winners"][1:]]},
    "another seed": lambda draw: draw | {"seed": "00" * 32},
    "another seed with its commitment": lambda draw: (
        draw | {"seed": "00" * 32, "commitment": hashlib.sha256(bytes(32)).hexdigest()}
    ),
    "another winner": lambda draw: (
        draw
        | {
            "winners": [draw["waitingList"][0], draw["winners"][1]],
            "waitingList": [draw["winners"][0], *draw["waitingList"][1:]],
        }
    ),
    "one winner more": lambda draw: (
        draw | {"winners": [*draw["winners"], draw["waitingList"][0]], "waitingList": draw["waitingList"][1:]}
    ),
    "another order of waiting": lambda draw: draw | {"waitingList": draw["waitingList"][::-1]},
    "other entries": lambda draw: draw | {"entriesHash": "00" * 32},
}
