"""The stored items about Strava: the tickets of reads, the subscription to events, and the rate limit."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from partita import Entity, Key, Put, Rcu, Wcu, get, pattern, put
from partita_services.commitcollect.model import TABLE


class Tickets(Entity, table=TABLE):
    """The tickets of a user's reads. A read takes its number first, so an earlier read never overwrites a later one."""

    primary: ClassVar = Key("USER#{user_id}", "STRAVA#TICKETS")

    user_id: str
    issued: int = 0
    quarter: int = 0
    """The last quarter of an hour in which an event led to a read, counted from the epoch."""
    looks: int = 0
    """How many reads events have led to in that quarter; `looks_today` is the count on its day."""
    looks_today: int = 0


class Subscription(Entity, table=TABLE):
    """The webhook subscription of this application at Strava."""

    primary: ClassVar = Key("APPLICATION#{client_id}", "SUBSCRIPTION")

    client_id: str
    subscription_id: int
    made_at: datetime | None = None
    """When the subscription was created; Strava reports nothing that happened before."""


class RateLimit(Entity, table=TABLE):
    """Until when Strava's rate limit applies to this application."""

    primary: ClassVar = Key("APPLICATION#{client_id}", "LIMIT")

    client_id: str
    open_at: datetime


@get(Tickets, budget=Rcu(1))
def tickets_of(user_id: str) -> None:
    """The tickets of a user's reads."""


@get(Subscription, budget=Rcu(0.5))
def subscription_of(client_id: str) -> None:
    """The webhook subscription of the application."""


@get(RateLimit, budget=Rcu(0.5))
def limit_of(client_id: str) -> None:
    """The stored rate limit of the application."""


@pattern(budget=Wcu(1))
def save_limit(limit: RateLimit) -> Put[RateLimit]:
    """Store until when to wait."""
    return put(limit)


@pattern(budget=Wcu(1))
def save_subscription(subscription: Subscription) -> Put[Subscription]:
    """Store the subscription."""
    return put(subscription)
