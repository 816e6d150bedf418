"""What is stored about Strava itself: the number of reads, the subscription to events, and until when to wait."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from partita import Entity, Key, Put, Rcu, Wcu, get, pattern, put
from partita_services.commitcollect.model import TABLE


class Tickets(Entity, table=TABLE):
    """Numbers for reads of Strava: taken before the read, so that an earlier read never overwrites a later one."""

    primary: ClassVar = Key("USER#{user_id}", "STRAVA#TICKETS")

    user_id: str
    issued: int = 0
    quarter: int = 0
    """The quarter of an hour since the epoch in which an event led to a read."""
    looks: int = 0
    """How many reads events have led to in it, and on its day."""
    looks_today: int = 0


class Subscription(Entity, table=TABLE):
    """The webhook subscription that Strava gave this application."""

    primary: ClassVar = Key("APPLICATION#{client_id}", "SUBSCRIPTION")

    client_id: str
    subscription_id: int
    made_at: datetime | None = None
    """Of nothing before that Strava has notified us."""


class RateLimit(Entity, table=TABLE):
    """Until when Strava wants this application to wait."""

    primary: ClassVar = Key("APPLICATION#{client_id}", "LIMIT")

    client_id: str
    open_at: datetime


@get(Tickets, budget=Rcu(1))
def tickets_of(user_id: str) -> None:
    """How many reads of Strava a user's workouts had."""


@get(Subscription, budget=Rcu(0.5))
def subscription_of(client_id: str) -> None:
    """The webhook subscription of the application."""


@get(RateLimit, budget=Rcu(0.5))
def limit_of(client_id: str) -> None:
    """Until when Strava wants the application to wait."""


@pattern(budget=Wcu(1))
def save_limit(limit: RateLimit) -> Put[RateLimit]:
    """Remember until when to wait."""
    return put(limit)


@pattern(budget=Wcu(1))
def save_subscription(subscription: Subscription) -> Put[Subscription]:
    """Remember the subscription."""
    return put(subscription)
