"""Mistakes in access patterns and their arguments, and the error message for each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from partita import (
    Entity,
    Index,
    Key,
    Operation,
    Prefix,
    Procedure,
    Put,
    Rcu,
    Registry,
    Span,
    Table,
    Wcu,
    f,
    get,
    pattern,
    put,
    query,
)
from partita.errors import PartitaError

if TYPE_CHECKING:
    from partita import Update

TABLE = Table("stays", indexes=[Index("GSI1")], registry=Registry())
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


class Stay(Entity, table=TABLE):
    primary: ClassVar = Key("HOUSE#{house}", "STAY#{day}")
    by_guest: ClassVar = Key("HOUSE#{house}", "GUEST#{guest}", index="GSI1")
    house: str
    day: date
    guest: str = "nobody"


@get(Stay)
def stay_on(house: str, day: date) -> None:
    """A stay."""


@query(Stay, Stay.primary)
def stays_in(house: str, day: Span[date]) -> None:
    """Stays by day."""


@query(Stay, Stay.by_guest)
def stays_of(house: str, guest: Prefix[str]) -> None:
    """Stays by guest."""


@pattern(budget=Wcu(2))
def save_nothing(stay: Stay) -> Put[Stay]:
    """Save a stay."""
    put(stay)
    return None  # type: ignore[return-value]


@pattern(budget=Wcu(2))
def save_some(stay: Stay) -> Put[Stay]:
    """Save a stay."""
    return [put(stay)]  # type: ignore[return-value]


def async_write() -> None:
    @pattern(budget=Wcu(2))  # type: ignore[type-var]
    async def save_later(stay: Stay) -> Operation[Any]:
        """Save a stay."""
        return put(stay)


def procedure_as_a_pattern() -> None:
    @pattern(budget=Wcu(2))  # type: ignore[type-var]
    def save_in_steps(stay: Stay) -> Procedure[Stay]:
        """Save a stay."""
        return (yield from put(stay))


def budget_of_writes_for_a_read() -> None:
    @get(Stay, budget=Wcu(1))
    def stay_for_writes(house: str, day: date) -> None:
        """A stay."""


def negative_budget() -> None:
    @get(Stay, budget=Rcu(-1))
    def stay_for_less(house: str, day: date) -> None:
        """A stay."""


def budget_of_text() -> None:
    @get(Stay, budget=Rcu("1"))  # type: ignore[arg-type]
    def stay_for_text(house: str, day: date) -> None:
        """A stay."""


def budget_of_nothing() -> None:
    @get(Stay, budget=Rcu(float("nan")))
    def stay_for_nan(house: str, day: date) -> None:
        """A stay; no consumption exceeds such a budget."""


def type_that_is_only_checked() -> None:
    @pattern(budget=Wcu(2))
    def change_stay(stay: Stay) -> Update[Stay]:
        """Change a stay."""
        raise NotImplementedError


def view_that_is_a_dataclass() -> None:
    @dataclass
    class Guest:
        guest: str

    query(Stay, Stay.primary, view=Guest)  # type: ignore[type-var]


STAY = Stay(house="h", day=date(2026, 5, 1))
INSTANT = f"{NOON!r} is an instant. Pass the date of the instant: instant.date()."
MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: save_nothing(STAY),
        (
            "save_nothing returned None, not an operation. "
            "Return one operation, such as put(task), or transact(…) for several."
        ),
    ),
    (lambda: save_some(STAY), "save_some returned [Put("),
    (async_write, "save_later is async. Write def; AsyncSession awaits its operation."),
    (
        procedure_as_a_pattern,
        (
            "save_in_steps is a procedure, and a pattern builds one operation. "
            "Run a procedure without @pattern, and declare each of its operations."
        ),
    ),
    (
        budget_of_writes_for_a_read,
        "stay_for_writes: a read consumes read units, and its budget is 1 WCU. Write Rcu(1).",
    ),
    (negative_budget, "stay_for_less: the units of a budget are numbers that are not negative: Budget(read=-1,"),
    (budget_of_text, "stay_for_text: the units of a budget are numbers that are not negative: Budget(read='1',"),
    (budget_of_nothing, "stay_for_nan: the units of a budget are numbers that are not negative: Budget(read=nan,"),
    (
        type_that_is_only_checked,
        (
            "change_stay: the type 'Update' is not defined. "
            "Import it outside `if TYPE_CHECKING`, and define it in the module, not inside a function."
        ),
    ),
    (
        view_that_is_a_dataclass,
        "The view Guest is not a Pydantic model. Declare class TaskTitle(BaseModel), with fields of the entity.",
    ),
    # Arguments. An instant is a date for type checkers, and has another text in a key.
    (lambda: stay_on("h", NOON), f"stay_on: 'day' is a date, and {INSTANT}"),
    (lambda: stays_in("h", Span.since(NOON)), f"stays_in: 'day' is a date, and {INSTANT}"),
    (lambda: stays_in("h", Span.until(NOON)), f"stays_in: 'day' is a date, and {INSTANT}"),
    (lambda: f(Stay.day).eq(NOON), f"Stay.day is a date, and {INSTANT}"),
    (
        lambda: stays_in("h", date(2026, 5, 1)),  # type: ignore[arg-type]
        (
            "stays_in: 'day' is a Span, not datetime.date(2026, 5, 1). "
            "Write Span.since(low), Span.until(high) or Span.between(low, high)."
        ),
    ),
    (lambda: stays_of("h", "Ad"), "stays_of: 'guest' is a Prefix, not 'Ad'. Write Prefix(\"text\")."),  # type: ignore[arg-type]
    (lambda: stays_of("h", Prefix(7)), "stays_of: 'guest' is a Prefix, not Prefix(text=7). "),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("mistake", "message"), MISTAKES, ids=[message[:40] for _, message in MISTAKES])
def test_a_mistake_in_a_pattern_is_explained(mistake: Callable[[], Any], message: str) -> None:
    with pytest.raises(PartitaError) as raised:
        mistake()
    assert str(raised.value).startswith(message)


def test_a_date_is_accepted_where_an_instant_is_not() -> None:
    assert stay_on("h", NOON.date()).key == {"PK": "HOUSE#h", "SK": "STAY#2026-05-01"}
    assert stays_in("h", Span.since(NOON.date())).key_condition.range is not None
