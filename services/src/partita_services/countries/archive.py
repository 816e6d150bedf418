"""Reads over all versions: the list as of an instant, the search in former names and codes, and the feed of changes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from partita import Condition, Page, Procedure, Span, all_of, any_of, f
from partita.errors import LimitExceeded
from partita_services.countries.model import Country, all_changes, all_versions, changes_within, folded

MAX_VERSIONS: Final = 20_000
"""How many versions are read in one request at most; for more, the archive would need an index of its own."""

MAX_FOUND: Final = 50
"""How many countries a search returns at most."""

SETTLED: Final = timedelta(seconds=5)
"""How old a version must be before the feed returns it: by then, all writes that began before it have finished."""


class Match(Struct, frozen=True):
    """A country that a search found."""

    country: Country
    """Its latest version."""
    matched: Country
    """The newest of its versions that matches the search."""


class ChangePage(Struct, frozen=True):
    """A page of changes in the order of writing."""

    items: tuple[Country, ...]
    next_cursor: str | None
    position: datetime | None
    """Where to continue once there are no more pages; None if the page is empty."""


def list_as_of(instant: datetime) -> Procedure[tuple[Country, ...]]:
    """Return all countries as of an instant, sorted by their names at that time."""
    began = f(Country.created).le(instant)
    goes_on = any_of(f(Country.expires).missing(), f(Country.expires).gt(instant))
    held = yield from _all(all_of(began, goes_on, f(Country.deleted).eq(other=False)))
    return tuple(sorted(held, key=lambda version: (folded(version.name), version.alpha2)))


def search(text: str) -> Procedure[tuple[Match, ...]]:
    """The countries whose current or former name contains all the words, or which have or had the text as a code."""
    words = folded(text).split()
    if not words:
        return ()
    latest: dict[str, Country] = {}
    matched: dict[str, Country] = {}
    for version in (yield from _all()):
        alpha2 = version.alpha2
        latest[alpha2] = max(latest.get(alpha2, version), version, key=_number)
        if _has(version, words):
            matched[alpha2] = max(matched.get(alpha2, version), version, key=_number)
    found = [Match(latest[alpha2], version) for alpha2, version in matched.items()]
    return tuple(sorted(found, key=lambda match: _rank(match, words))[:MAX_FOUND])


def changes(since: datetime, now: datetime, limit: int, cursor: str | None) -> Procedure[ChangePage]:
    """Return the versions that were written after an instant and are settled, in the order of writing."""
    page: Page[Country] = yield from changes_within(Span.after(since)).page(limit, after=cursor)
    settled = tuple(version for version in page if version.written and version.written <= now - SETTLED)
    more = page.next_cursor if len(settled) == len(page) else None
    return ChangePage(settled, more, settled[-1].written if settled else None)


def latest_changes(limit: int, cursor: str | None) -> Procedure[ChangePage]:
    """Return the last written versions, newest first: for display, not for following the feed."""
    page = yield from all_changes().page(limit, after=cursor)
    return ChangePage(page.items, page.next_cursor, page.items[0].written if page.items else None)


def _all(condition: Condition | None = None) -> Procedure[Iterable[Country]]:
    query = all_versions() if condition is None else all_versions().where(condition)
    found = yield from query.walk(max_items=MAX_VERSIONS)
    if found.truncated:
        raise LimitExceeded(f"There are more than {MAX_VERSIONS} versions.", hint="Request a single country.")
    return found.items


def _has(version: Country, words: list[str]) -> bool:
    codes = {code.casefold() for code in (version.alpha2, version.alpha3, version.numeric) if code}
    if len(words) == 1 and words[0] in codes:
        return True
    name = folded(version.name)
    return all(word in name for word in words)


def _rank(match: Match, words: list[str]) -> tuple[bool, bool, str]:
    """The sort key: current matches first, then names that begin with the first word, then by name."""
    name = folded(match.matched.name)
    is_former = match.country.deleted or match.matched.number != match.country.number
    return is_former, not name.startswith(words[0]), name


def _number(version: Country) -> int:
    return version.number
