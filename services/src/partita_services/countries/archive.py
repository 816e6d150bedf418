"""All versions at once: the list as of a day, the search through former names and codes, and the feed of changes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from partita import Condition, Page, Procedure, Span, all_of, any_of, f
from partita.errors import LimitExceeded
from partita_services.countries.model import Country, all_changes, all_versions, changes_within, folded

MAX_VERSIONS: Final = 20_000
"""How many versions are read at once; beyond that, the archive needs an index of its own."""

MAX_FOUND: Final = 50
"""How many countries a search gives."""

SETTLED: Final = timedelta(seconds=5)
"""How old a version is when the feed gives it: by then, whoever began to write before it has finished."""


class Match(Struct, frozen=True):
    """A country that a search found."""

    country: Country
    """Its latest version."""
    matched: Country
    """The newest of its versions that has what was searched for."""


class ChangePage(Struct, frozen=True):
    """Some changes in the order in which they were written."""

    items: tuple[Country, ...]
    next_cursor: str | None
    position: datetime | None
    """Where to go on once there are no more pages; None where nothing was given."""


def list_as_of(instant: datetime) -> Procedure[tuple[Country, ...]]:
    """All countries of an instant by name, as they were called then."""
    began = f(Country.created).le(instant)
    goes_on = any_of(f(Country.expires).missing(), f(Country.expires).gt(instant))
    held = yield from _all(all_of(began, goes_on, f(Country.deleted).eq(other=False)))
    return tuple(sorted(held, key=lambda version: (folded(version.name), version.alpha2)))


def search(text: str) -> Procedure[tuple[Match, ...]]:
    """The countries that have, or once had, all the words in their name, or the text as a code."""
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
    """The versions that were written after an instant, in that order, once they are settled."""
    page: Page[Country] = yield from changes_within(Span.after(since)).page(limit, after=cursor)
    settled = tuple(version for version in page if version.written and version.written <= now - SETTLED)
    more = page.next_cursor if len(settled) == len(page) else None
    return ChangePage(settled, more, settled[-1].written if settled else None)


def latest_changes(limit: int, cursor: str | None) -> Procedure[ChangePage]:
    """The versions that were written last, newest first: to look at, not to follow."""
    page = yield from all_changes().page(limit, after=cursor)
    return ChangePage(page.items, page.next_cursor, page.items[0].written if page.items else None)


def _all(condition: Condition | None = None) -> Procedure[Iterable[Country]]:
    query = all_versions() if condition is None else all_versions().where(condition)
    found = yield from query.walk(max_items=MAX_VERSIONS)
    if found.truncated:
        raise LimitExceeded(f"There are more than {MAX_VERSIONS} versions.", hint="Ask for one country.")
    return found.items


def _has(version: Country, words: list[str]) -> bool:
    codes = {code.casefold() for code in (version.alpha2, version.alpha3, version.numeric) if code}
    if len(words) == 1 and words[0] in codes:
        return True
    name = folded(version.name)
    return all(word in name for word in words)


def _rank(match: Match, words: list[str]) -> tuple[bool, bool, str]:
    """What is current comes first, then what begins like this, then by name."""
    name = folded(match.matched.name)
    is_former = match.country.deleted or match.matched.number != match.country.number
    return is_former, not name.startswith(words[0]), name


def _number(version: Country) -> int:
    return version.number
