"""ISO 3166-1 as a list of events: which entry began, changed or was withdrawn, and when.

The entries are from pycountry: 249 current and 31 withdrawn ones, with the day or year of withdrawal. The dates on
which codes were assigned, and former names, are from the notices of the ISO 3166 maintenance agency. A notice without
a day counts as the first of January. The standard itself begins in 1974.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from msgspec import Struct

FIRST_EDITION: Final = "1974"

ASSIGNED: Final = {
    "1975": "PG",
    "1977": "BJ DJ TV",
    "1979": "TF KI",
    "1980": "VU ZW",
    "1984": "BF",
    "1985": "AI",
    "1986": "AW FM MH MP PW UM",
    "1989-12-05": "MM",
    "1992-06-15": "BY",
    "1992-08-30": "AM AZ BA EE GE HR KZ KG LT LV MD RU SI TJ TM UZ",
    "1993-06-15": "CZ SK",
    "1993-07-12": "ER MK YT GS",
    "1997-07-14": "CD",
    "1999-10-01": "PS",
    "2002-05-20": "TL",
    "2004-02-13": "AX",
    "2006-03-29": "GG IM JE",
    "2006-09-26": "ME RS",
    "2007-09-21": "BL MF",
    "2010-12-15": "BQ CW SX",
    "2011-08-11": "SS",
}
"""The current alpha-2 codes that were assigned after 1974, by the day of their assignment."""

ASSIGNED_AND_WITHDRAWN: Final = {"FXFR": "1993", "CSXX": "2003-07-23"}
"""The days of assignment of withdrawn entries, by the alpha-4 code that they got on withdrawal."""

FORMERLY: Final = {
    "CV": ("Cape Verde", "CPV", "2013-11-26"),
    "CZ": ("Czech Republic", "CZE", "2016-05-17"),
    "LY": ("Libyan Arab Jamahiriya", "LBY", "2011-11-08"),
    "MK": ("Macedonia, the former Yugoslav Republic of", "MKD", "2019-02-15"),
    "RO": ("Romania", "ROM", "2002-02-01"),
    "SZ": ("Swaziland", "SWZ", "2018-11-26"),
    "TR": ("Turkey", "TUR", "2022-07-11"),
}
"""The former name and alpha-3 code of current entries, and the day on which these changed."""

_SINCE: Final = {code: day for day, codes in ASSIGNED.items() for code in codes.split()}


class Content(Struct, frozen=True):
    """The content of an entry."""

    name: str
    alpha3: str
    numeric: str | None


class Event(Struct, frozen=True):
    """An entry gets this content at an instant, or now; without content, the entry is withdrawn."""

    alpha2: str
    content: Content | None
    at: datetime | None = None
    why: str | None = None


def iso_events() -> tuple[Event, ...]:
    """Return all events of the standard in order. At the same instant, codes become free before they are assigned."""
    import pycountry  # noqa: PLC0415 - its data is needed only here

    entries = [event for entry in pycountry.historic_countries for event in _withdrawn(entry)]
    entries += [event for entry in pycountry.countries for event in _current(entry)]
    said = {(event.alpha2, event.at) for event in entries if event.content is not None}
    events = [event for event in entries if event.content is not None or (event.alpha2, event.at) not in said]
    return tuple(sorted(events, key=lambda event: (event.at, event.content is not None, event.alpha2)))


def _withdrawn(entry: Any) -> Iterator[Event]:
    since = _day(ASSIGNED_AND_WITHDRAWN.get(entry.alpha_4, FIRST_EDITION))
    yield Event(entry.alpha_2, _content(entry), since, "Assigned")
    yield Event(entry.alpha_2, None, _day(entry.withdrawal_date), "Withdrawn from the standard")


def _current(entry: Any) -> Iterator[Event]:
    since = _SINCE.get(entry.alpha_2, FIRST_EDITION)
    if entry.alpha_2 in FORMERLY:
        name, alpha3, until = FORMERLY[entry.alpha_2]
        yield Event(entry.alpha_2, Content(name, alpha3, entry.numeric), _day(since), "Assigned")
        yield Event(entry.alpha_2, _content(entry), _day(until), "Changed in the standard")
    else:
        yield Event(entry.alpha_2, _content(entry), _day(since), "Assigned")


def _content(entry: Any) -> Content:
    return Content(entry.name, entry.alpha_3, getattr(entry, "numeric", None))


def _day(text: str) -> datetime:
    return datetime.fromisoformat(text if "-" in text else f"{text}-01-01").replace(tzinfo=UTC)
