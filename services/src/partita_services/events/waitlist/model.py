"""The access patterns of waiting lists."""

from __future__ import annotations

from collections.abc import Sequence

from partita import BatchGet, Rcu, Span, Transaction, Wcu, batch_get, pattern, query, transact
from partita.recipes.idempotency import Plan
from partita.store import PutItem, UpdateItem
from partita_services.events.changes.model import Notice
from partita_services.events.model import LogEntry, Request, Seats, WaitingPage, request_by_id


@query(WaitingPage, WaitingPage.primary, newest_first=True, budget=Rcu(2))
def waiting_pages(event_id: str, first: Span[int]) -> None:
    """The waiting list of a first-come event, the page with the last places first."""


@pattern(budget=Rcu(100))
def requests_by_ids(request_ids: Sequence[str]) -> BatchGet[Request]:
    """Up to 100 requests, read consistently: a page of a waiting list, or entries of a draw."""
    return batch_get([request_by_id(request_id).consistent() for request_id in request_ids])


@pattern(
    budget=Wcu(266),
    writes={Seats: (UpdateItem,), Request: (UpdateItem,), LogEntry: (PutItem,), Notice: (PutItem,)},
)
def give_seats(plan: Plan[Seats]) -> Transaction:
    """Give free seats to up to 33 waiting requests, all or nothing."""
    return transact(*plan.actions)
