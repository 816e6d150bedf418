"""The stored items of a draw, which are in the table of events, and their access patterns."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar, Final

from pydantic import Field

from partita import Entity, Key, Put, Rcu, Transaction, Version, Wcu, get, insert, pattern, put, query, transact
from partita.recipes.idempotency import Plan
from partita.store import ConditionCheck, DeleteItem, PutItem, UpdateItem
from partita_services.events.model import TABLE, ActiveEvent, Event, LogEntry, Request, Seats

DRAW_PAGE: Final = 1_000
"""The number of entries in one item: 28 KB of identifiers."""


class Draw(Entity, table=TABLE):
    """The draw of a lottery. The first `settled` entries, in the order in which they were drawn, have their result."""

    primary: ClassVar = Key("EVENT#{event_id}", "DRAW")

    event_id: Annotated[str, Field(alias="eventId")]
    commitment: str
    entries: int
    entries_hash: Annotated[str, Field(alias="entriesHash")]
    settled: int = 0
    drawn_at: Annotated[datetime, Field(alias="drawnAt")]
    """When the entries were frozen."""
    entropy: str | None = None
    """The external value, if the lottery has an entropy source."""
    entropy_at: Annotated[datetime | None, Field(alias="entropyAt")] = None
    """When the value was supplied, which is after the entries were frozen."""
    revealed_at: Annotated[datetime | None, Field(alias="revealedAt")] = None
    version: Version = 0


class Seed(Entity, table=TABLE):
    """The secret seed of a lottery, which no response contains before the draw."""

    in_lake: ClassVar = False
    primary: ClassVar = Key("EVENT#{event_id}", "SEED")

    event_id: Annotated[str, Field(alias="eventId")]
    seed: str


class DrawPage(Entity, table=TABLE):
    """A page of the entries of a lottery, in the order in which they were drawn."""

    primary: ClassVar = Key("EVENT#{event_id}", "DRAWN#{page:06}")

    event_id: Annotated[str, Field(alias="eventId")]
    page: int
    entries: tuple[str, ...]


@get(Draw, budget=Rcu(1))
def draw_of(event_id: str) -> None:
    """The draw of a lottery."""


@get(Seed, budget=Rcu(1))
def seed_of(event_id: str) -> None:
    """The secret seed of a lottery."""


@query(DrawPage, DrawPage.primary, budget=Rcu(125))
def drawn_in(event_id: str) -> None:
    """The drawn entries, in order; 112 RCU for 16,000 of them."""


@get(DrawPage, budget=Rcu(7))
def drawn_page(event_id: str, page: int) -> None:
    """One page of the drawn entries."""


@pattern(budget=Wcu(1))
def add_seed(seed: Seed) -> Put[Seed]:
    """Write the secret seed of a new lottery."""
    return insert(seed)


@pattern(budget=Wcu(4), writes={Seats: (UpdateItem,), Draw: (PutItem,)})
def begin_draw(plan: Plan[Draw]) -> Transaction:
    """Freeze the entries of a lottery."""
    return transact(*plan.actions)


@pattern(budget=Wcu(4), writes={Draw: (UpdateItem,), Seats: (ConditionCheck,)})
def give_entropy(plan: Plan[Draw]) -> Transaction:
    """Write the external value that a draw uses, once, unless the event was cancelled."""
    return transact(*plan.actions)


@pattern(budget=Wcu(40))
def write_drawn(page: DrawPage) -> Put[DrawPage]:
    """Write up to 1,000 drawn entries."""
    return put(page)


@pattern(budget=Wcu(402), writes={Draw: (UpdateItem,), Request: (UpdateItem,), LogEntry: (PutItem,)})
def settle(plan: Plan[Draw]) -> Transaction:
    """Write the result to up to 99 entries, and the progress."""
    return transact(*plan.actions)


@pattern(
    budget=Wcu(8),
    writes={Draw: (UpdateItem,), Seats: (UpdateItem,), Event: (UpdateItem,), ActiveEvent: (DeleteItem,)},
)
def reveal(plan: Plan[Draw]) -> Transaction:
    """End a draw: the seed is revealed, the seats are taken, and the event is finished."""
    return transact(*plan.actions)
