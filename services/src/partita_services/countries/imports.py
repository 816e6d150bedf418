"""Importing a list of countries: first show the changes, then make them. The same list again changes nothing."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct
from pydantic import ValidationError

from partita import Procedure
from partita.errors import AlreadyExists, OperationError
from partita.recipes.history import FieldDifference, Planning, differences
from partita.recipes.texts import VisibleText
from partita_services.countries.handlers import CountryData, Edit, export_all
from partita_services.countries.iso import Content, Event
from partita_services.countries.model import HISTORY, Country, country_versions

Verb: TypeAlias = Literal["create", "revise", "delete", "restore"]

Code: TypeAlias = tuple[str, str]
"""A unique value of a country: the name of the field, and the code."""

COLUMNS: Final = ("alpha2Code", "alpha3Code", "numericCode", "name")
"""The columns of a list as CSV."""
COLUMN_OF: Final[Mapping[str, str]] = dict(zip(("alpha2", "alpha3", "numeric", "name"), COLUMNS, strict=True))
"""The column of each field of a country."""

ONE_AT_A_TIME: Final = (
    "Give each code to one country only. If countries exchange codes, first import a list in which one has a free code."
)


class Proposal(Struct, frozen=True):
    """One version that an import would add, and how it differs from the previous version."""

    verb: Verb
    event: Event
    differences: tuple[FieldDifference, ...]


def propose(events: Sequence[Event], *, whole: bool = False) -> Procedure[tuple[Proposal, ...]]:
    """Return the changes of an import. If `whole` is set, countries that are missing from the list are deleted.

    Raises:
        OperationError: a country would get a code that another country has and does not release first.
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
    """Add the version of an event. If the edit has no reason, the version gets that of the event.

    Raises:
        AlreadyExists: the country has this content already, or a later version.
    """
    latest = yield from country_versions(event.alpha2).consistent().first()
    if _is_past(event, latest) or verb_of(event, latest) is None:
        raise AlreadyExists(f"The country {event.alpha2} has this content already, or a later version.", current=latest)
    return (yield from _planning(event, latest, edit).run())


def verb_of(event: Event, latest: Country | None) -> Verb | None:
    """Return what an event does to a country with this latest version; None if it changes nothing."""
    if event.content is None:
        return None if latest is None or latest.deleted else "delete"
    if latest is None:
        return "create"
    if latest.deleted:
        return "restore"
    return "revise" if differences(latest, _after(event, latest)) else None


def read_csv(text: str) -> tuple[Event, ...]:
    """Parse a list in CSV, as the service exports it, into events.

    Raises:
        OperationError: a column is missing, a line is not CSV or not a country, or two lines have the same country.
    """
    # A field that a short line lacks becomes a space, which is not a valid code or name, and not an empty field either.
    rows = csv.DictReader(StringIO(text, newline=""), restval=" ", strict=True)
    try:
        return _events(rows)
    except csv.Error as error:
        raise OperationError(f"Line {rows.reader.line_num} is not CSV: {error}.") from None


def _events(rows: csv.DictReader[str]) -> tuple[Event, ...]:
    if missing := set(COLUMNS) - set(rows.fieldnames or ()):
        names = ", ".join(f"'{column}'" for column in sorted(missing))
        raise OperationError(f"The list has no column {names}.", hint=f"A list has the columns {', '.join(COLUMNS)}.")
    events: dict[str, Event] = {}
    lines: dict[str, int] = {}
    for row in rows:
        event = _event(row, rows.line_num)
        if event.alpha2 in events:
            raise OperationError(f"Lines {lines[event.alpha2]} and {rows.line_num} both have the code {event.alpha2}.")
        events[event.alpha2], lines[event.alpha2] = event, rows.line_num
    return tuple(events.values())


def _event(row: Mapping[Any, Any], line: int) -> Event:
    if None in row:  # the values that no column has
        raise OperationError(f"Line {line} has more values than columns.", hint="Put a value with a comma in quotes.")
    alpha2, alpha3, numeric, name = (row[column] for column in COLUMNS)
    try:
        country = Country(alpha2=alpha2, alpha3=alpha3, numeric=numeric or None, name=name)
        VisibleText().checked(country.name)
    except ValidationError as error:
        wrong = [f"{COLUMN_OF[str(each['loc'][0])]}: {each['msg']}" for each in error.errors()]
        raise OperationError(f"Line {line} is not a country: {'; '.join(wrong)}.") from None
    except ValueError as error:
        raise OperationError(f"Line {line} is not a country: name: {error}.") from None
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
    """Yield the proposals in an order in which every code is free when a country gets it; if possible, unchanged."""
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
        next_of.setdefault(proposal.event.alpha2, proposal)  # proposals of one country keep their order
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
        assert latest is not None  # noqa: S101 - only existing countries are deleted
        return latest.model_copy(update={"deleted": True})
    if latest is None:
        return Country(alpha2=event.alpha2, name=content.name, alpha3=content.alpha3, numeric=content.numeric)
    said = {"name": content.name, "alpha3": content.alpha3, "numeric": content.numeric, "deleted": False}
    return latest.model_copy(update=said)
