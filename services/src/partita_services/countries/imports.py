"""Importing a list of countries: first what would change, then the changes. The same list again changes nothing."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from partita import Procedure
from partita.errors import AlreadyExists, OperationError
from partita.recipes.history import FieldDifference, Planning, differences
from partita_services.countries.handlers import CountryData, Edit, export_all
from partita_services.countries.iso import Content, Event
from partita_services.countries.model import HISTORY, Country, country_versions

Verb: TypeAlias = Literal["create", "revise", "delete", "restore"]

Code: TypeAlias = tuple[str, str]
"""A unique value of a country: which of its codes, and what that is."""

COLUMNS: Final = ("alpha2Code", "alpha3Code", "numericCode", "name")
"""The columns of a list as CSV."""

ONE_AT_A_TIME: Final = (
    "Give a code to one country only. Where countries exchange codes, import first a list in which one has a free one."
)


class Proposal(Struct, frozen=True):
    """One version that an import would add, and how it differs from the one before."""

    verb: Verb
    event: Event
    differences: tuple[FieldDifference, ...]


def propose(events: Sequence[Event], *, whole: bool = False) -> Procedure[tuple[Proposal, ...]]:
    """What an import would change. Where the list is the `whole` one, countries that it does not have are deleted.

    Raises:
        OperationError: a country would get a code that another has, and does not give up before.
    """
    latest: dict[str, Country | None] = {}
    for alpha2 in dict.fromkeys(event.alpha2 for event in events):
        latest[alpha2] = yield from country_versions(alpha2).first()
    active = yield from export_all()
    if whole:
        missing = [country for country in active if country.alpha2 not in latest]
        latest |= {country.alpha2: country for country in missing}
        events = [*(Event(country.alpha2, None) for country in missing), *events]
    return tuple(_in_turn(_proposals(events, latest), active))


def apply(event: Event, edit: Edit = Edit()) -> Procedure[Country]:  # noqa: B008 - frozen
    """Add the version that an event asks for, by whom and for the reason that is given; or for the event's own.

    Raises:
        AlreadyExists: the country says so already, or something later.
    """
    latest = yield from country_versions(event.alpha2).consistent().first()
    if _is_past(event, latest) or verb_of(event, latest) is None:
        raise AlreadyExists(f"{event.alpha2} says so already.", current=latest)
    return (yield from _planning(event, latest, edit).run())


def verb_of(event: Event, latest: Country | None) -> Verb | None:
    """What an event means for a country as it is; None where it changes nothing."""
    if event.content is None:
        return None if latest is None or latest.deleted else "delete"
    if latest is None:
        return "create"
    if latest.deleted:
        return "restore"
    return "revise" if differences(latest, _after(event, latest)) else None


def read_csv(text: str) -> tuple[Event, ...]:
    """The events of a list as CSV, as the service exports it.

    Raises:
        OperationError: a column is missing, a line is not a country, or two are the same.
    """
    # What a line lacks is a blank: no code and no name, and no empty field either.
    rows = csv.DictReader(StringIO(text, newline=""), restval=" ")
    if missing := set(COLUMNS) - set(rows.fieldnames or ()):
        raise OperationError(f"The list has no column {', '.join(sorted(missing))}.", hint=f"It needs {COLUMNS}.")
    events: dict[str, Event] = {}
    lines: dict[str, int] = {}
    for row in rows:
        event = _event(row, rows.line_num)
        if event.alpha2 in events:
            raise OperationError(f"Lines {lines[event.alpha2]} and {rows.line_num} are both {event.alpha2}.")
        events[event.alpha2], lines[event.alpha2] = event, rows.line_num
    return tuple(events.values())


def _event(row: Mapping[str, str], line: int) -> Event:
    alpha2, alpha3, numeric, name = (row[column] for column in COLUMNS)
    try:
        country = Country(alpha2=alpha2, alpha3=alpha3, numeric=numeric or None, name=name)
    except ValueError as error:
        raise OperationError(f"Line {line} is not a country: {error}") from None
    return Event(country.alpha2, Content(country.name, country.alpha3, country.numeric))


def _proposals(events: Iterable[Event], latest: dict[str, Country | None]) -> Iterable[Proposal]:
    for event in events:
        before = latest[event.alpha2]
        verb = None if _is_past(event, before) else verb_of(event, before)
        if verb is not None:
            after = _after(event, before)
            latest[event.alpha2] = after
            yield Proposal(verb, event, differences(before, after) if before else ())


def _in_turn(proposals: Iterable[Proposal], active: Iterable[Country]) -> Iterator[Proposal]:
    """The proposals in an order in which every code is free when a country gets it: in theirs, where that is one."""
    holders = {code: country.alpha2 for country in active for code in _codes(country)}
    waiting = list(proposals)
    while waiting:
        proposal = _first_possible(waiting, holders)
        waiting.remove(proposal)
        alpha2 = proposal.event.alpha2
        others = {code: holder for code, holder in holders.items() if holder != alpha2}
        holders = others | dict.fromkeys(_codes(proposal.event.content), alpha2)
        yield proposal


def _first_possible(waiting: Iterable[Proposal], holders: Mapping[Code, str]) -> Proposal:
    next_of: dict[str, Proposal] = {}
    for proposal in waiting:
        next_of.setdefault(proposal.event.alpha2, proposal)  # those of one country keep their order
    refused: list[str] = []
    for proposal in next_of.values():
        taken = _taken(proposal.event, holders)
        if not taken:
            return proposal
        refused += taken
    raise OperationError(f"Codes are taken: {'; '.join(refused)}.", hint=ONE_AT_A_TIME)


def _taken(event: Event, holders: Mapping[Code, str]) -> list[str]:
    held = [(code, holders.get(code, event.alpha2)) for code in _codes(event.content)]
    return [
        f"{event.alpha2} would get the {field} {value!r} of {holder}"
        for (field, value), holder in held
        if holder != event.alpha2
    ]


def _codes(said: Country | Content | None) -> tuple[Code, ...]:
    codes = () if said is None else (("alpha3", said.alpha3), ("numeric", said.numeric))
    return tuple((field, value) for field, value in codes if value is not None)


def _is_past(event: Event, latest: Country | None) -> bool:
    return event.at is not None and latest is not None and event.at <= latest.created


def _planning(event: Event, latest: Country | None, edit: Edit) -> Planning[Country]:
    after, why = _after(event, latest), edit.why or event.why
    if latest is None:
        return HISTORY.create(after, at=event.at, by=edit.by, why=why)
    if after.deleted:
        return HISTORY.delete(latest, at=event.at, by=edit.by, why=why)
    changes = CountryData.model_construct(name=after.name, alpha3=after.alpha3, numeric=after.numeric).changes()
    write = HISTORY.restore if latest.deleted else HISTORY.revise
    return write(latest, *changes, at=event.at, by=edit.by, why=why)


def _after(event: Event, latest: Country | None) -> Country:
    content = event.content
    if content is None:
        assert latest is not None  # noqa: S101 - only what is there is deleted
        return latest.model_copy(update={"deleted": True})
    if latest is None:
        return Country(alpha2=event.alpha2, name=content.name, alpha3=content.alpha3, numeric=content.numeric)
    said = {"name": content.name, "alpha3": content.alpha3, "numeric": content.numeric, "deleted": False}
    return latest.model_copy(update=said)
