"""What is stored of a draw, in the table of events, and the access patterns of it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar, Final

from pydantic import Field

from partita import Entity, Key, Put, Rcu, Transaction, Version, Wcu, get, insert, pattern, put, query, transact
from partita.recipes.idempotency import Plan
from partita.store import ConditionCheck, DeleteItem, PutItem, UpdateItem
from partita_services.events.model import TABLE, ActiveEvent, Event, LogEntry, Request, Seats

DRAW_PAGE: Final = 1_000
"""Entries in one item: 28 KB of identifiers."""


class Draw(Entity, table=TABLE):
    """The draw of a lottery. The first `settled` of its entries, in the order they were drawn, have their result."""

    primary: ClassVar = Key("EVENT#{event_id}", "DRAW")

    event_id: Annotated[str, Field(alias="eventId")]
    commitment: str
    entries: int
    entries_hash: Annotated[str, Field(alias="entriesHash")]
    settled: int = 0
    drawn_at: Annotated[datetime, Field(alias="drawnAt")]
    """When the entries were frozen."""
    entropy: str | None = None
    """The value from outside, where the lottery has a source of entropy."""
    entropy_at: Annotated[datetime | None, Field(alias="entropyAt")] = None
    """When it was given, which is after the entries were frozen."""
    revealed_at: Annotated[datetime | None, Field(alias="revealedAt")] = None
    version: Version = 0


class Seed(Entity, table=TABLE):
    """The secret of a lottery, which no response has before the draw."""

    in_lake: ClassVar = False
    primary: ClassVar = Key("EVENT#{event_id}", "SEED")

    event_id: Annotated[str, Field(alias="eventId")]
    seed: str


class DrawPage(Entity, table=TABLE):
    """A page of the entries of a lottery, in the order they were drawn."""

    primary: ClassVar = Key("EVENT#{event_id}", "DRAWN#{page:06}")

    event_id: Annotated[str, Field(alias="eventId")]
    page: int
    entries: tuple[str, ...]


@get(Draw, budget=Rcu(1))
def draw_of(event_id: str) -> None:
    """The draw of a lottery."""


@get(Seed, budget=Rcu(1))
def seed_of(event_id: str) -> None:
    """The secret of a lottery."""


@query(DrawPage, DrawPage.primary, budget=Rcu(125))
def drawn_in(event_id: str) -> None:
    """Who was drawn, in order; 112 RCU for 16,000 of them."""


@get(DrawPage, budget=Rcu(7))
def drawn_page(event_id: str, page: int) -> None:
    """Some of those who were drawn."""


@pattern(budget=Wcu(1))
def add_seed(seed: Seed) -> Put[Seed]:
    """Write the secret of a new lottery."""
    return insert(seed)


@pattern(budget=Wcu(4), writes={Seats: (UpdateItem,), Draw: (PutItem,)})
def begin_draw(plan: Plan[Draw]) -> Transaction:
    """Freeze the entries of a lottery."""
    return transact(*plan.actions)


@pattern(budget=Wcu(4), writes={Draw: (UpdateItem,), Seats: (ConditionCheck,)})
def give_entropy(plan: Plan[Draw]) -> Transaction:
    """Write the value from outside that a draw uses, once, unless the event was cancelled."""
    return transact(*plan.actions)


@pattern(budget=Wcu(40))
def write_drawn(page: DrawPage) -> Put[DrawPage]:
    """Write up to 1,000 of those who were drawn."""
    return put(page)


@pattern(budget=Wcu(402), writes={Draw: (UpdateItem,), Request: (UpdateItem,), LogEntry: (PutItem,)})
def settle(plan: Plan[Draw]) -> Transaction:
    """Write the result to up to 99 entries, and how far that is."""
    return transact(*plan.actions)


@pattern(
    budget=Wcu(8),
    writes={Draw: (UpdateItem,), Seats: (UpdateItem,), Event: (UpdateItem,), ActiveEvent: (DeleteItem,)},
)
def reveal(plan: Plan[Draw]) -> Transaction:
    """End a draw: the seed is revealed, the seats are taken, and the event is finished."""
    return transact(*plan.actions)
