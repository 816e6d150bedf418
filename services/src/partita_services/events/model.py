"""The data model of event requests: one table, two indexes, and every access pattern with its budget.

A request is up to 1 KB. Written or changed it costs 1 WCU on the table, 2 in a transaction, and 1 on each of its two
indexes; 2 on each where its place in the queue changes. A lock or an entry of the log costs 2 WCU, in a transaction.
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
"""A page of 1,000 of them, for the sweeper, the draw and the export."""


class Event(Entity, table=TABLE):
    """What can be applied for, and when. What decides who wins never changes: type, rule of freed seats, commitment."""

    primary: ClassVar = Key("EVENT#{event_id}", "META")

    event_id: Annotated[str, Field(alias="eventId")]
    name: Name
    event_type: Annotated[EventType, Field(alias="eventType")]
    opens_at: Annotated[datetime, Field(alias="opensAt")]
    closes_at: Annotated[datetime, Field(alias="closesAt")]
    status: EventStatus = EventStatus.ACTIVE
    keeps_log: Annotated[bool, Field(alias="keepsLog")] = False
    freed_seats: Annotated[FreedSeats, Field(alias="freedSeats")] = FreedSeats.WAITING_LIST
    """Of first come: what becomes of seats that are given back."""
    commitment: str | None = None
    """Of a lottery: the SHA-256 of the seed that its draw will use, and of the source of entropy where it has one."""
    entropy_source: Annotated[str | None, Field(alias="entropySource")] = None
    """Of a lottery: which value, published by others after the closing, its draw will use besides the seed."""
    draws_itself: Annotated[bool, Field(alias="drawsItself")] = False
    """Of a lottery: whether a worker holds the draw when it is closed."""
    kept_until: Annotated[datetime | None, Field(alias="keptUntil")] = None
    """When its requests and their logs expire; None for never."""
    cancel_reason: Annotated[str | None, Field(alias="cancelReason")] = None
    notified: int | None = None
    """Of a cancelled event: how many requests say so, once all do."""
    created_at: Annotated[datetime, Field(alias="createdAt")]
    version: Version = 0

    @property
    def has_waiting_list(self) -> bool:
        """Whether it is first come with a waiting list."""
        return self.event_type is EventType.FIRST_COME and self.freed_seats is FreedSeats.WAITING_LIST

    @property
    def expires_at(self) -> int | None:
        """The `ttl` of its requests, locks and logs."""
        return None if self.kept_until is None else int(self.kept_until.timestamp())


class EventListing(Entity, table=TABLE):
    """An event's place in the list of all events."""

    primary: ClassVar = Key("EVENTS", "OPENS#{opens_at}#{event_id}")

    opens_at: Annotated[datetime, Field(alias="opensAt")]
    event_id: Annotated[str, Field(alias="eventId")]


class ActiveEvent(Entity, table=TABLE):
    """An event whose requests may be undecided: the sweeper looks after these alone."""

    primary: ClassVar = Key("ACTIVE", "EVENT#{event_id}")

    event_id: Annotated[str, Field(alias="eventId")]
    applied: str | None = None
    """The last request that was taken although the event says that it is finished: somebody's clock is wrong."""


class Seats(Entity, table=TABLE):
    """The seats of an event, and what fences its workers: who decides changes the version that was read."""

    primary: ClassVar = Key("EVENT#{event_id}", "CAPACITY")

    event_id: Annotated[str, Field(alias="eventId")]
    total: Annotated[int, Field(alias="capacityTotal")]
    remaining: Annotated[int, Field(alias="capacityRemaining")]
    entered: int = 0
    """How many entries a lottery has."""
    is_frozen: Annotated[bool, Field(alias="isFrozen")] = False
    """A lottery takes no more entries, and its draw has begun."""
    is_cancelled: Annotated[bool, Field(alias="isCancelled")] = False
    """The event was cancelled, and nobody gets a seat any more."""
    listed: int = 0
    """How many requests were put on the waiting list of first come, also those that have left it since."""
    next_waiting: Annotated[int, Field(alias="nextWaiting")] = 0
    """The place on the waiting list that is next to be promoted, from 0."""
    last_queued_at: Annotated[datetime | None, Field(alias="lastQueuedAt")] = None
    """The `queuedAt` of the last request that was taken from the queue; the next one gets a later one."""
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
    """The event, once the request has its place in the queue; before that, one of the shards in which requests wait."""
    event_type: Annotated[EventType, Field(alias="eventType")]
    status: Status = Status.RECEIVED
    requested_at: Annotated[datetime, Field(alias="requestedAt")]
    queued_at: Annotated[datetime, Field(alias="queuedAt")]
    """When the queue accepted it. Before that, when it was requested, so that it is on the indexes from the first."""
    started_at: Annotated[datetime | None, Field(alias="startedAt")] = None
    finished_at: Annotated[datetime | None, Field(alias="finishedAt")] = None
    failure_class: Annotated[FailureClass | None, Field(alias="failureClass")] = None
    error_code: Annotated[str | None, Field(alias="errorCode")] = None
    error_message: Annotated[str | None, Field(alias="errorMessage")] = None
    waiting_position: Annotated[int | None, Field(alias="waitingPosition")] = None
    """On the waiting list, from 1, as it was queued or drawn."""
    idempotency_key: Annotated[str, Field(alias="idempotencyKey")]
    display_name: Annotated[str | None, Field(alias="displayName")] = None
    """How the applicant wants to be called, where they say so."""
    shows_name: Annotated[bool, Field(alias="showsName")] = False
    """Whether operators, and everybody on the list of winners, may see that name."""
    batch: Annotated[str | None, Field(alias="batchId")] = None
    """Of which it is: while it says `RECEIVED`, its batch says whether the queue has it."""
    ttl: int | None = None

    @property
    def shown_name(self) -> str | None:
        """The name, where others may see it."""
        return self.display_name if self.shows_name else None


class Lock(Entity, table=TABLE):
    """Which request a user has for an event; there is never more than one."""

    primary: ClassVar = Key("IDEMP#{event_id}#{user_id}", "LOCK")

    event_id: Annotated[str, Field(alias="eventId")]
    user_id: Annotated[str, Field(alias="userId")]
    request_id: Annotated[str, Field(alias="requestId")]
    ttl: int | None = None


class WaitingPage(Entity, table=TABLE):
    """Some of those who wait for a seat in first come, in queue order: the requests that were decided together."""

    primary: ClassVar = Key("EVENT#{event_id}", "WAITING#{first:09}")

    event_id: Annotated[str, Field(alias="eventId")]
    first: int
    """The place of the first of them on the list, from 0."""
    entries: tuple[str, ...]
    ttl: int | None = None


class LogEntry(Entity, table=TABLE):
    """A change of a request's status, for events that keep a log. The sequence keeps two of one instant apart."""

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
    """Which worker sweeps."""

    primary: ClassVar = Key("LEASE#{name}", "LEASE")


class CallerBucket(RateBucket, table=TABLE):
    """What is left of a caller's requests."""

    primary: ClassVar = Key("RATE#{caller}", "BUCKET")


COMMANDS: Final = Idempotency(Command, budget=Rcu(1))
LEASES: Final = Leases(Lease, longest=timedelta(minutes=1))
"""The shorter the longest lease, the sooner one is known to be of a clock that was ahead."""
LIMITS: Final = RateLimits(CallerBucket, Rate(burst=600, per_second=100))


class RequestLife(Lifecycle[Request, Status]):
    """The transitions of a request. After the decision only three are left, which people make.

    A user cancels; whoever waits is promoted; and an operator cancels the event, which withdraws all.
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
    """All events, those that open last first."""


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
    """The requests in one of the shards of an event that were queued in a time."""


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
    """Have the sweeper look after an event: a new one, or one that takes a request although it says it is finished."""
    return put(active)


@pattern(budget=Wcu(1))
def add_lock(lock: Lock) -> Put[Lock]:
    """Lock an event for a user who has no request for it."""
    return insert(lock)


@pattern(budget=Wcu(1))
def replace_lock(lock: Lock, earlier: str) -> Put[Lock]:
    """Lock an event for a user who may apply again; only in the place of an earlier request."""
    return put(lock).when(f(Lock.request_id).eq(earlier))


@pattern(budget=Wcu(3))
def add_request(request: Request) -> Put[Request]:
    """Write a new request."""
    return insert(request)


@pattern(budget=Wcu(1))
def log_step(entry: LogEntry) -> Put[LogEntry]:
    """Add to the log of a request."""
    return put(entry)


@pattern(budget=Wcu(10), via=(add_lock, replace_lock, add_request, log_step, activate_event))
def accept(plan: Plan[Request]) -> Transaction:
    """Write a request and the user's lock; 8 WCU with an entry of the log, 10 where a clock has finished the event."""
    return transact(*plan.actions)


@pattern(budget=Wcu(600), writes={Request: (UpdateItem,)})
def mark_queued(*transitions: Update[Request]) -> Transaction:
    """Mark up to 100 requests as accepted by the queue, which the sweeper has sent."""
    return transact(*transitions)


@pattern(
    budget=Wcu(596),
    writes={Seats: (UpdateItem,), Request: (UpdateItem,), WaitingPage: (PutItem,), LogEntry: (PutItem,)},
)
def decide(plan: Plan[Seats]) -> Transaction:
    """Take seats and decide up to 99 requests, all or nothing; 596 WCU where each has another time of the queue."""
    return transact(*plan.actions)


@pattern(budget=Wcu(3))
def delay_request(change: Update[Request]) -> Update[Request]:
    """Write to a request why it waits for another try."""
    return change


@pattern(budget=Wcu(10), writes={Request: (UpdateItem,), Lock: (DeleteItem,), LogEntry: (PutItem,)})
def give_up(transition: Update[Request], *others: Action) -> Transaction:
    """End a request that cannot be decided, and free the user's lock; 10 WCU with an entry of the log."""
    return transact(transition, *others)
