"""The access patterns of changes to events, and the notices that users get."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar, Final

from pydantic import Field

from partita import Entity, Key, Put, Rcu, Transaction, Wcu, get, pattern, put, transact
from partita.queue import Body
from partita.recipes.idempotency import Plan
from partita.recipes.outbox import Outbox, OutboxRecord
from partita.recipes.personal import ErasureRecord
from partita.store import ConditionCheck, DeleteItem, PutItem, UpdateItem
from partita_services.events.draws.model import Draw
from partita_services.events.model import (
    TABLE,
    ActiveEvent,
    Event,
    EventListing,
    Lock,
    LogEntry,
    Request,
    Seats,
)


class Description(Entity, table=TABLE):
    """The description of an event. It is a separate item because lists of events and applications never read it."""

    primary: ClassVar = Key("EVENT#{event_id}", "DESCRIPTION")

    event_id: Annotated[str, Field(alias="eventId")]
    text: str


class Notice(OutboxRecord, table=TABLE):
    """A notice to a user that is not in the queue yet."""

    primary: ClassVar = Key("NOTICES#{shard}", "NOTICE#{message_id}")


class Erased(ErasureRecord, table=TABLE):
    """A user whose requests were erased; the item is kept so that lakes can follow the erasure."""

    primary: ClassVar = Key("ERASED#{user_id}", "METADATA")


class RequestNews(Body, frozen=True):
    """A change of a request that its user did not ask for."""

    kind = "request_news"

    user_id: str
    event_id: str
    event_name: str
    request_id: str
    news: str
    """`EVENT_CANCELLED`, or `PROMOTED` from the waiting list."""
    message: str


NOTICES: Final = Outbox(Notice, budget=Rcu(7))


@get(Description, budget=Rcu(3))
def description_of(event_id: str) -> None:
    """The description of an event: up to 2,000 characters, which may be 8 KB."""


@pattern(budget=Wcu(9))
def describe_event(description: Description) -> Put[Description]:
    """Write the description of an event; 1 WCU for each KB."""
    return put(description)


@get(EventListing, budget=Rcu(0.5))
def listing_of(opens_at: datetime, event_id: str) -> None:
    """An event's place in the list of all events."""


@pattern(budget=Wcu(4), writes={Event: (UpdateItem,), ActiveEvent: (PutItem, DeleteItem)})
def finish_event(plan: Plan[Event]) -> Transaction:
    """Finish an event, or take it off the sweeper's list: all requests are decided, or show the cancellation."""
    return transact(*plan.actions)


@pattern(
    budget=Wcu(28),
    writes={
        Event: (UpdateItem,),
        Description: (PutItem, DeleteItem),
        Seats: (UpdateItem,),
        EventListing: (PutItem, DeleteItem),
        ActiveEvent: (PutItem,),
    },
)
def edit_event(plan: Plan[Event]) -> Transaction:
    """Change an event's terms, its seats and its place in the list, all or nothing; a long text is 18 WCU of it."""
    return transact(*plan.actions)


@pattern(
    budget=Wcu(8),
    writes={Event: (UpdateItem,), Seats: (UpdateItem,), ActiveEvent: (PutItem,), Draw: (ConditionCheck,)},
)
def cancel_event(plan: Plan[Event]) -> Transaction:
    """Cancel an event: from then on nobody gets a seat."""
    return transact(*plan.actions)


@pattern(budget=Wcu(350), writes={Request: (UpdateItem,), LogEntry: (PutItem,), Notice: (PutItem,)})
def withdraw_requests(plan: Plan[Event]) -> Transaction:
    """Notify up to 33 users that their event was cancelled: on the request, and by a notice."""
    return transact(*plan.actions)


@pattern(
    budget=Wcu(18),
    writes={
        Request: (UpdateItem,),
        Lock: (DeleteItem,),
        Seats: (UpdateItem,),
        LogEntry: (PutItem,),
        Notice: (PutItem,),
    },
)
def cancel_request(plan: Plan[Request]) -> Transaction:
    """Cancel a request, free the lock and the seat, and promote the next one; 18 WCU with two log entries."""
    return transact(*plan.actions)


@pattern(budget=Wcu(24), writes={Request: (DeleteItem,), Lock: (DeleteItem,), LogEntry: (DeleteItem,)})
def erase_request(plan: Plan[Request]) -> Transaction:
    """Delete a finished request, its log and the user's lock; 24 WCU with eight log entries."""
    return transact(*plan.actions)
