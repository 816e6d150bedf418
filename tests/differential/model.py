"""A model with every kind of key, and strategies for random operations on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from hypothesis import strategies as st

from partita import (
    Change,
    Derived,
    Entity,
    Index,
    Key,
    Operation,
    Prefix,
    Registry,
    Shards,
    Span,
    Table,
    batch_write,
    collect,
    delete,
    f,
    get,
    put,
    query,
    transact,
    update,
    upsert,
)

PROJECTS = Table(
    "play-projects",
    indexes=[
        Index("GSI1"),
        Index("GSI2"),
        Index("shared", hash="GSI1PK", range="SK"),
        Index("inverted", hash="SK", range="PK"),
        Index("many", hash=["project", "state"], range=[("points", "N"), "title"]),
    ],
    registry=Registry(),
)


def tens(number: int) -> int:
    """Return the tens of a number."""
    return number // 10


def is_open(state: str) -> bool:
    """Whether a ticket in this state is open."""
    return state != "done"


class Project(Entity, table=PROJECTS):
    """One project."""

    primary: ClassVar = Key("PROJECT#{name}", "PROJECT")

    name: str


class Label(Entity, table=PROJECTS):
    """A label of a project; labels are sorted before the project, and tickets after it."""

    primary: ClassVar = Key("PROJECT#{of}", "LABEL#{label}")

    of: str
    label: str


class Ticket(Entity, table=PROJECTS):
    """One ticket."""

    primary: ClassVar = Key("PROJECT#{project}", "TICKET#{number:04}")
    by_owner: ClassVar = Key("OWNER#{owner}", "{points:-+03}", index="GSI1")
    by_owner_and_number: ClassVar = Key("OWNER#{owner}", "TICKET#{number:04}", index="shared")
    open: ClassVar = Key("OPEN#{shard}", "{ten:02}#{number:04}", index="GSI2", when=is_open)
    inverted: ClassVar = Key("TICKET#{number:04}", "PROJECT#{project}", index="inverted")
    by_state: ClassVar = Key(["{project}", "{state}"], ["{points}", "{title}"], index="many")

    ten: ClassVar = Derived(tens)
    shard: ClassVar = Shards(3, "project", "number")

    project: str
    number: int
    state: str = "new"
    owner: str | None = None
    points: int | None = None
    title: str = "t"


@dataclass(frozen=True)
class Overview:
    """A project with some of its labels and tickets."""

    project: Project | None
    labels: tuple[Label, ...]
    tickets: tuple[Ticket, ...]


@get(Ticket)
def ticket(project: str, number: int) -> None: ...
@query(Ticket, Ticket.by_owner)
def of_owner(owner: str) -> None: ...
@query(Ticket, Ticket.by_owner)
def worth(owner: str, points: Span[int]) -> None: ...
@query(Ticket, Ticket.by_owner_and_number)
def numbers_of_owner(owner: str) -> None: ...
@query(Ticket, Ticket.open)
def open_tickets() -> None: ...
@query(Ticket, Ticket.open)
def open_ten(ten: int) -> None: ...
@query(Ticket, Ticket.inverted)
def numbered(number: int) -> None: ...
@query(Ticket, Ticket.by_state)
def in_state(project: str, state: str) -> None: ...
@query(Ticket, Ticket.by_state)
def in_state_worth(project: str, state: str, points: Span[int]) -> None: ...
@query(Ticket, Ticket.by_state)
def in_state_titled(project: str, state: str, points: int, title: Prefix[str]) -> None: ...
@collect(Overview, "PROJECT#{name}", limits={Ticket: 3})
def overview(name: str) -> None: ...
@collect(Overview, "PROJECT#{name}", newest_first=True, limits={Label: 1, Ticket: 2})
def latest(name: str) -> None: ...
@collect(Overview, "PROJECT#{name}")
def between(name: str, number: Span[int]) -> None: ...


NAMES = ("a", "b")
STATES = ("new", "done", "late")
OWNERS = ("ada", "ben")

Play: TypeAlias = Operation[Any]

_names, _numbers = st.sampled_from(NAMES), st.integers(1, 24)
_states, _owners = st.sampled_from(STATES), st.none() | st.sampled_from(OWNERS)
_points, _titles = st.none() | st.integers(-9, 9), st.sampled_from(("t", "te", "u"))
tickets = st.builds(
    Ticket, project=_names, number=_numbers, state=_states, owner=_owners, points=_points, title=_titles
)
_one_change: st.SearchStrategy[Change] = st.one_of(
    st.builds(lambda value: f(Ticket.state).set(value), _states),
    st.builds(lambda value: f(Ticket.owner).set(value), _owners),
    st.builds(lambda value: f(Ticket.points).set(value), _points),
    st.builds(lambda value: f(Ticket.title).set(value), _titles),
    st.just(f(Ticket.owner).remove()),
)
_changes = st.lists(_one_change, min_size=1, max_size=3, unique_by=lambda change: change.path)
_gets = st.builds(ticket, _names, _numbers)

plays: st.SearchStrategy[Play] = st.one_of(
    st.builds(put, tickets),
    st.builds(put, tickets),
    st.builds(lambda at, changes: update(at, *changes), _gets, _changes),
    st.builds(lambda at, changes: update(at, *changes), _gets, _changes),
    st.builds(lambda at, changes: update(at, *changes), tickets, _changes),
    st.builds(lambda at, title: upsert(at, f(Ticket.title).set(title)), tickets, _titles),
    st.builds(delete, _gets),
    st.builds(lambda at, state: transact(update(at, f(Ticket.state).set(state))), tickets, _states),
    st.builds(
        lambda new: batch_write(list(map(put, new))),
        st.lists(tickets, min_size=1, max_size=5, unique_by=lambda each: (each.project, each.number)),
    ),
    st.builds(lambda of, label: put(Label(of=of, label=label)), _names, st.sampled_from("xyz")),
    st.builds(lambda name: put(Project(name=name)), _names),
)


def reads() -> Iterator[Play]:
    """Yield every query (in both orders, in pages, as a count and as its first item) and every collection."""
    queries = [
        *(
            query
            for owner in OWNERS
            for query in (of_owner(owner), numbers_of_owner(owner), worth(owner, Span.since(0)))
        ),
        open_tickets(),
        *(open_ten(ten) for ten in range(3)),
        *(numbered(number) for number in (1, 7, 24)),
        *(in_state(name, state) for name in NAMES for state in STATES),
        *(in_state_worth(name, "new", Span.between(-3, 5)) for name in NAMES),
        *(in_state_titled(name, "new", 1, Prefix("t")) for name in NAMES),
    ]
    for each in queries:
        yield from (each, each.reversed(), each.page(2), each.count(), each.first())
    for name in NAMES:
        yield from (overview(name), latest(name), between(name, Span.between(5, 15)), overview(name).page(2))
