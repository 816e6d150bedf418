"""Importing a list of countries: first what would change, then the changes. The same list again changes nothing."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from partita import Procedure
from partita.errors import AlreadyExists, OperationError
from partita.recipes.history import Difference, Planning, differences
from partita_services.countries.handlers import CountryData, export_all
from partita_services.countries.iso import Content, Event
from partita_services.countries.model import HISTORY, Country, country_versions

Verb: TypeAlias = Literal["create", "revise", "delete", "restore"]

COLUMNS: Final = ("alpha2Code", "alpha3Code", "numericCode", "name")
"""The columns of a list as CSV."""


class Proposal(Struct, frozen=True):
    """One version that an import would add, and how it differs from the one before."""

    verb: Verb
    event: Event
    differences: tuple[Difference, ...]


def propose(events: Sequence[Event], *, whole: bool = False) -> Procedure[tuple[Proposal, ...]]:
    """What an import would change. Where the list is the `whole` one, countries that it does not have are deleted."""
    latest: dict[str, Country | None] = {}
    for alpha2 in dict.fromkeys(event.alpha2 for event in events):
        latest[alpha2] = yield from country_versions(alpha2).first()
    if whole:
        active = yield from export_all()
        missing = [country for country in active if country.alpha2 not in latest]
        latest |= {country.alpha2: country for country in missing}
        events = [*(Event(country.alpha2, None) for country in missing), *events]
    return tuple(_proposals(events, latest))


def apply(event: Event) -> Procedure[Country]:
    """Add the version that an event asks for.

    Raises:
        AlreadyExists: the country says so already, or something later.
    """
    latest = yield from country_versions(event.alpha2).consistent().first()
    if _is_past(event, latest) or verb_of(event, latest) is None:
        raise AlreadyExists(f"{event.alpha2} says so already.", current=latest)
    return (yield from _planning(event, latest).run())


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
        OperationError: a column is missing, or a line is no country.
    """
    rows = csv.DictReader(StringIO(text))
    if missing := set(COLUMNS) - set(rows.fieldnames or ()):
        raise OperationError(f"The list has no column {', '.join(sorted(missing))}.", hint=f"It needs {COLUMNS}.")
    return tuple(_event(row, line) for line, row in enumerate(rows, start=2))


def _event(row: Mapping[str, str], line: int) -> Event:
    try:
        data = CountryData(name=row["name"], alpha3=row["alpha3Code"], numeric=row["numericCode"])
        country = Country(alpha2=row["alpha2Code"], name=data.name, alpha3=data.alpha3, numeric=data.numeric)
    except ValueError as error:
        raise OperationError(f"Line {line} is no country: {error}") from None
    return Event(country.alpha2, Content(country.name, country.alpha3, country.numeric))


def _proposals(events: Iterable[Event], latest: dict[str, Country | None]) -> Iterable[Proposal]:
    for event in events:
        before = latest[event.alpha2]
        verb = None if _is_past(event, before) else verb_of(event, before)
        if verb is not None:
            after = _after(event, before)
            latest[event.alpha2] = after
            yield Proposal(verb, event, differences(before, after) if before else ())


def _is_past(event: Event, latest: Country | None) -> bool:
    return event.at is not None and latest is not None and event.at <= latest.created


def _planning(event: Event, latest: Country | None) -> Planning[Country]:
    after = _after(event, latest)
    if latest is None:
        return HISTORY.create(after, at=event.at)
    if after.deleted:
        return HISTORY.delete(latest, at=event.at)
    changes = CountryData.model_construct(name=after.name, alpha3=after.alpha3, numeric=after.numeric).changes()
    return (HISTORY.restore if latest.deleted else HISTORY.revise)(latest, *changes, at=event.at)


def _after(event: Event, latest: Country | None) -> Country:
    content = event.content
    if content is None:
        assert latest is not None  # noqa: S101 - only what is there is deleted
        return latest.model_copy(update={"deleted": True})
    if latest is None:
        return Country(alpha2=event.alpha2, name=content.name, alpha3=content.alpha3, numeric=content.numeric)
    said = {"name": content.name, "alpha3": content.alpha3, "numeric": content.numeric, "deleted": False}
    return latest.model_copy(update=said)
