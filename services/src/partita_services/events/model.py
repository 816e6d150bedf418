"""The data model of event requests: one table, two indexes, and every access pattern with its budget.

A request is up to 1 KB. Writing or changing it costs 1 WCU on the table (2 in a transaction), plus 1 on each of its two
indexes, or 2 on each if its place in the queue changes. A lock or a log entry costs 2 WCU in a transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, ClassVar, Final

from pydantic import Field

from partita import (
    Action,
    BatchGet,
    Entity,
    Index,
    Key,
    Put,
    Rcu,
    Span,
    Table,
    Transaction,
    Update,
    Version,
    Wcu,
    batch_get,
    f,
    get,
    insert,
    pattern,
    put,
    query,
    transact,
)
from partita.recipes.idempotency import Idempotency, IdempotencyRecord, Plan
from partita.recipes.leases import LeaseRecord, Leases
from partita.recipes.lifecycle import Lifecycle, Transition
from partita.recipes.rate_limit import Rate, RateBucket, RateLimits
from partita.store import DeleteItem, PutItem, UpdateItem
from partita_services.events.terms import OPEN, EventStatus, EventType, FailureClass, FreedSeats, Name, Status

TABLE: Final = Table("AsyncEventTable", indexes=[Index("GSI1"), Index("GSI2")], ttl="ttl", stream="NEW_AND_OLD_IMAGES")

PAGE: Final = Rcu(12.5)
"""A page of 100 requests of 1 KB."""
LONG_PAGE: Final = Rcu(125)
"""A page of 1,000 requests, for the sweeper, the draw and the export."""


class Event(Entity, table=TABLE):
    """An event that users apply for. The fields that decide who wins never change: type, freed seats, commitment."""

    primary: ClassVar = Key("EVENT#{event_id}", "META")

    event_id: Annotated[str, Field(alias="eventId")]
    name: Name
    event_type: Annotated[EventType, Field(alias="eventType")]
    opens_at: Annotated[datetime, Field(alias="opensAt")]
    closes_at: Annotated[datetime, Field(alias="closesAt")]
    status: EventStatus = EventStatus.ACTIVE
    keeps_log: Annotated[bool, Field(alias="keepsLog")] = False
    freed_seats: Annotated[FreedSeats, Field(alias="freedSeats")] = FreedSeats.WAITING_LIST
    """For a first-come event: what happens to freed seats."""
    commitment: str | None = None
    """For a lottery: the SHA-256 of the seed that its draw will use, followed by the entropy source if it has one."""
    entropy_source: Annotated[str | None, Field(alias="entropySource")] = None
    """For a lottery: which value, published by others after the closing, the draw will use in addition to the seed."""
    draws_itself: Annotated[bool, Field(alias="drawsItself")] = False
    """For a lottery: whether a worker holds the draw when the event closes."""
    kept_until: Annotated[datetime | None, Field(alias="keptUntil")] = None
    """When the event's requests and their logs expire; None for never."""
    cancel_reason: Annotated[str | None, Field(alias="cancelReason")] = None
    notified: int | None = None
    """For a cancelled event: how many requests show the cancellation; None until all do."""
    created_at: Annotated[datetime, Field(alias="createdAt")]
    version: Version = 0

    @property
    def has_waiting_list(self) -> bool:
        """Whether this is a first-come event with a waiting list."""
        return self.event_type is EventType.FIRST_COME and self.freed_seats is FreedSeats.WAITING_LIST

    @property
    def expires_at(self) -> int | None:
        """The `ttl` of the event's requests, locks and logs."""
        return None if self.kept_until is None else int(self.kept_until.timestamp())


class EventListing(Entity, table=TABLE):
    """An event's place in the list of all events."""

    primary: ClassVar = Key("EVENTS", "OPENS#{opens_at}#{event_id}")

    opens_at: Annotated[datetime, Field(alias="opensAt")]
    event_id: Annotated[str, Field(alias="eventId")]


class ActiveEvent(Entity, table=TABLE):
    """An event whose requests may be undecided. The sweeper handles only these events."""

    primary: ClassVar = Key("ACTIVE", "EVENT#{event_id}")

    event_id: Annotated[str, Field(alias="eventId")]
    applied: str | None = None
    """The last request accepted although the event is marked as finished, which means that some clock is wrong."""


class Seats(Entity, table=TABLE):
    """The seats of an event. They fence its workers: every decision changes the version that the worker read."""

    primary: ClassVar = Key("EVENT#{event_id}", "CAPACITY")

    event_id: Annotated[str, Field(alias="eventId")]
    total: Annotated[int, Field(alias="capacityTotal")]
    remaining: Annotated[int, Field(alias="capacityRemaining")]
    entered: int = 0
    """The number of entries of a lottery."""
    is_frozen: Annotated[bool, Field(alias="isFrozen")] = False
    """Whether the draw of a lottery has begun, so that it accepts no more entries."""
    is_cancelled: Annotated[bool, Field(alias="isCancelled")] = False
    """Whether the event was cancelled, so that nobody gets a seat any more."""
    listed: int = 0
    """How many requests were put on the waiting list of a first-come event, including those that have left it since."""
    next_waiting: Annotated[int, Field(alias="nextWaiting")] = 0
    """The place on the waiting list that is promoted next, from 0."""
    last_queued_at: Annotated[datetime | None, Field(alias="lastQueuedAt")] = None
    """The `queuedAt` of the last request received from the queue; the next request gets a later time."""
    updated_at: Annotated[datetime, Field(alias="updatedAt")]
    version: Version = 0


class Request(Entity, table=TABLE):
    """One user's request for one event."""

    primary: ClassVar = Key("REQ#{request_id}", "META")
    by_user: ClassVar = Key("USER#{user_id}", "QAT#{queued_at}#REQ#{request_id}", index="GSI1")
    by_event: ClassVar = Key("EVENT#{shard}", "QAT#{queued_at}#REQ#{request_id}", index="GSI2")

    request_id: Annotated[str, Field(alias="requestId")]
    event_id: Annotated[str, Field(alias="eventId")]
    user_id: Annotated[str, Field(alias="userId")]
    shard: Annotated[str, Field(alias="line")]
    """The event id once the request has its place in the queue; before that, the shard in which the request waits."""
    event_type: Annotated[EventType, Field(alias="eventType")]
    status: Status = Status.RECEIVED
    requested_at: Annotated[datetime, Field(alias="requestedAt")]
    queued_at: Annotated[datetime, Field(alias="queuedAt")]
    """When the queue accepted it; until then, when it was requested, so that it is in the indexes from the start."""
    started_at: Annotated[datetime | None, Field(alias="startedAt")] = None
    finished_at: Annotated[datetime | None, Field(alias="finishedAt")] = None
    failure_class: Annotated[FailureClass | None, Field(alias="failureClass")] = None
    error_code: Annotated[str | None, Field(alias="errorCode")] = None
    error_message: Annotated[str | None, Field(alias="errorMessage")] = None
    waiting_position: Annotated[int | None, Field(alias="waitingPosition")] = None
    """The position on the waiting list, from 1, in the order of the queue or of the draw."""
    idempotency_key: Annotated[str, Field(alias="idempotencyKey")]
    display_name: Annotated[str | None, Field(alias="displayName")] = None
    """The name that the applicant has given, if any."""
    shows_name: Annotated[bool, Field(alias="showsName")] = False
    """Whether operators may see that name, and everybody in the list of winners."""
    batch: Annotated[str | None, Field(alias="batchId")] = None
    """The id of its batch. While the status is `RECEIVED`, the batch shows whether the queue has the request."""
    ttl: int | None = None

    @property
    def shown_name(self) -> str | None:
        """The name, if others may see it."""
        return self.display_name if self.shows_name else None


class Lock(Entity, table=TABLE):
    """Which request a user has for an event; there is never more than one."""

    primary: ClassVar = Key("IDEMP#{event_id}#{user_id}", "LOCK")

    event_id: Annotated[str, Field(alias="eventId")]
    user_id: Annotated[str, Field(alias="userId")]
    request_id: Annotated[str, Field(alias="requestId")]
    ttl: int | None = None


class WaitingPage(Entity, table=TABLE):
    """Part of the waiting list of a first-come event, in queue order: the requests that were decided together."""

    primary: ClassVar = Key("EVENT#{event_id}", "WAITING#{first:09}")

    event_id: Annotated[str, Field(alias="eventId")]
    first: int
    """The place of the first of these requests on the list, from 0."""
    entries: tuple[str, ...]
    ttl: int | None = None


class LogEntry(Entity, table=TABLE):
    """A change of a request's status, for events that keep a log. `sequence` separates changes at the same instant."""

    primary: ClassVar = Key("REQ#{request_id}", "LOG#{occurred_at}#{sequence:02}")

    request_id: Annotated[str, Field(alias="requestId")]
    occurred_at: Annotated[datetime, Field(alias="occurredAt")]
    sequence: int
    status: Status
    worker: str
    reason: str | None = None
    ttl: int | None = None


class Command(IdempotencyRecord, table=TABLE):
    """A call with an idempotency key, and its response."""

    primary: ClassVar = Key("IDEMPOTENCY#{scope}#{key}", "METADATA")


class Lease(LeaseRecord, table=TABLE):
    """The lease of the worker that sweeps."""

    primary: ClassVar = Key("LEASE#{name}", "LEASE")


class CallerBucket(RateBucket, table=TABLE):
    """The remaining requests of a caller's rate limit."""

    primary: ClassVar = Key("RATE#{caller}", "BUCKET")


COMMANDS: Final = Idempotency(Command, budget=Rcu(1))
LEASES: Final = Leases(Lease, longest=timedelta(minutes=1))
"""The shorter the maximum, the sooner a lease is recognized as written by a clock that was ahead."""
LIMITS: Final = RateLimits(CallerBucket, Rate(burst=600, per_second=100))


class RequestLife(Lifecycle[Request, Status]):
    """The transitions of a request. After the decision only three are left, all of them caused by people.

    A user cancels the request, a waiting request is promoted, or an operator cancels the event, which withdraws all.
    """

    state = f(Request.status)
    start = Status.RECEIVED

    queue = Transition(Status.RECEIVED, to=Status.QUEUED)
    enter = Transition(Status.RECEIVED, Status.QUEUED, to=Status.PROCESSING)
    retry = Transition(*OPEN, to=Status.PROCESSING)
    succeed = Transition(*OPEN, to=Status.SUCCEEDED)
    reject = Transition(*OPEN, to=Status.REJECTED)
    fail = Transition(*OPEN, to=Status.FAILED_FINAL)
    cancel = Transition(*OPEN, Status.SUCCEEDED, Status.REJECTED, to=Status.REJECTED)
    promote = Transition(Status.REJECTED, to=Status.SUCCEEDED)
    withdraw = Transition(*OPEN, Status.SUCCEEDED, Status.REJECTED, to=Status.REJECTED)


@get(Event, budget=Rcu(1))
def event_by_id(event_id: str) -> None:
    """An event."""


@query(EventListing, EventListing.primary, newest_first=True, budget=Rcu(2))
def listed_events() -> None:
    """All events, latest opening first."""


@pattern(budget=Rcu(50))
def events_by_ids(event_ids: Sequence[str]) -> BatchGet[Event]:
    """A page of events."""
    return batch_get([event_by_id(event_id) for event_id in event_ids])


@get(ActiveEvent, budget=Rcu(0.5))
def active_event(event_id: str) -> None:
    """Whether requests of an event may be undecided."""


@query(ActiveEvent, ActiveEvent.primary, budget=Rcu(125))
def active_events() -> None:
    """The events whose requests may be undecided."""


@get(Seats, budget=Rcu(1))
def seats_of(event_id: str) -> None:
    """The seats of an event."""


@pattern(budget=Rcu(50))
def seats_by_ids(event_ids: Sequence[str]) -> BatchGet[Seats]:
    """The seats of a page of events."""
    return batch_get([seats_of(event_id) for event_id in event_ids])


@get(Request, budget=Rcu(1))
def request_by_id(request_id: str) -> None:
    """One request."""


@query(Request, Request.by_user, budget=PAGE)
def requests_of_user(user_id: str) -> None:
    """A user's requests in queue order."""


@query(Request, Request.by_event, budget=LONG_PAGE)
def requests_of_event(shard: str) -> None:
    """An event's requests in queue order; 12.5 RCU for a page of 100."""


@query(Request, Request.by_event, budget=LONG_PAGE)
def waiting_requests(shard: str, queued_at: Span[datetime]) -> None:
    """The requests in one shard of an event that were queued in a given period."""


@get(Lock, budget=Rcu(1))
def lock_of(event_id: str, user_id: str) -> None:
    """Which request a user has for an event."""


@query(LogEntry, LogEntry.primary, budget=Rcu(12.5))
def log_of(request_id: str) -> None:
    """The log of a request, in order."""


@pattern(budget=Wcu(1))
def add_event(event: Event) -> Put[Event]:
    """Write a new event."""
    return insert(event)


@pattern(budget=Wcu(1))
def add_seats(seats: Seats) -> Put[Seats]:
    """Write the seats of a new event."""
    return insert(seats)


@pattern(budget=Wcu(1))
def list_event(listing: EventListing) -> Put[EventListing]:
    """Put a new event on the list of events."""
    return insert(listing)


@pattern(budget=Wcu(1))
def activate_event(active: ActiveEvent) -> Put[ActiveEvent]:
    """Put an event on the sweeper's list: a new one, or one that accepts a request although marked as finished."""
    return put(active)


@pattern(budget=Wcu(1))
def add_lock(lock: Lock) -> Put[Lock]:
    """Lock an event for a user who has no request for it."""
    return insert(lock)


@pattern(budget=Wcu(1))
def replace_lock(lock: Lock, earlier: str) -> Put[Lock]:
    """Lock an event for a user who may apply again; the existing lock must be that of the earlier request."""
    return put(lock).when(f(Lock.request_id).eq(earlier))


@pattern(budget=Wcu(3))
def add_request(request: Request) -> Put[Request]:
    """Write a new request."""
    return insert(request)


@pattern(budget=Wcu(1))
def log_step(entry: LogEntry) -> Put[LogEntry]:
    """Add an entry to the log of a request."""
    return put(entry)


@pattern(budget=Wcu(10), via=(add_lock, replace_lock, add_request, log_step, activate_event))
def accept(plan: Plan[Request]) -> Transaction:
    """Write a request and the user's lock; 8 WCU with a log entry, 10 if a wrong clock has finished the event."""
    return transact(*plan.actions)


@pattern(budget=Wcu(600), writes={Request: (UpdateItem,)})
def mark_queued(*transitions: Update[Request]) -> Transaction:
    """Mark up to 100 requests that the sweeper has sent as accepted by the queue."""
    return transact(*transitions)


@pattern(
    budget=Wcu(596),
    writes={Seats: (UpdateItem,), Request: (UpdateItem,), WaitingPage: (PutItem,), LogEntry: (PutItem,)},
)
def decide(plan: Plan[Seats]) -> Transaction:
    """Take seats and decide up to 99 requests, all or nothing; 596 WCU if the queue time of each changes."""
    return transact(*plan.actions)


@pattern(budget=Wcu(3))
def delay_request(change: Update[Request]) -> Update[Request]:
    """Record on a request why it waits for another try."""
    return change


@pattern(budget=Wcu(10), writes={Request: (UpdateItem,), Lock: (DeleteItem,), LogEntry: (PutItem,)})
def give_up(transition: Update[Request], *others: Action) -> Transaction:
    """End a request that cannot be decided, and free the user's lock; 10 WCU with a log entry."""
    return transact(transition, *others)
