"""What the countries service does, as procedures: they say which operations run, and either kind of session runs them.

Writes give a `Plan`, so that the route can commit it together with the record of its idempotency key.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from partita import Change, Operation, Precondition, Prefix, Procedure, Query, WalkResult, f
from partita.errors import AlreadyExists, ConditionFailed, ItemMissing, VersionConflict
from partita.recipes.history import UNWRITTEN, FieldDifference, as_of, differences
from partita.recipes.idempotency import Plan
from partita_services.countries.model import (
    HISTORY,
    Alpha3,
    Country,
    Name,
    Numeric,
    active_countries,
    active_countries_named,
    country_versions,
    export_countries,
    folded,
    versions_with,
)

MAX_COUNTRIES: Final = 26 * 26
"""How many alpha-2 codes there can be."""


class CountryData(BaseModel):
    """What is said of a country."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    name: Annotated[Name, Field(examples=["Bolivia, Plurinational State of"])]
    alpha3: Annotated[Alpha3, Field(alias="alpha3Code", examples=["BOL"])]
    numeric: Annotated[Numeric, Field(alias="numericCode", examples=["068"])]

    def changes(self) -> tuple[Change, ...]:
        """The same as changes of a version."""
        return (
            f(Country.name).set(self.name),
            f(Country.alpha3).set(self.alpha3),
            f(Country.numeric).set(self.numeric),
        )


class CountryGone(ItemMissing, code="country_gone"):
    """No country has the code at the instant asked for; `current` is the last version that had it."""


class CountryDeleted(ConditionFailed, code="country_deleted"):
    """The country is deleted, and must be restored before it is changed."""

    hint = "Restore it first."


class CountryNotDeleted(ConditionFailed, code="country_not_deleted"):
    """The country is not deleted, so that restoring it cannot change what it says."""

    hint = "Change it with PUT."


def mark(version: Country) -> int:
    """The number of a version in its ETag: when it was created, in microseconds. It is unique within a country."""
    return (version.created - UNWRITTEN) // timedelta(microseconds=1)


def show_country(code: str, instant: datetime | None = None) -> Procedure[Country]:
    """The country that has a code, now or at an instant.

    Raises:
        ItemMissing: no country ever had the code by then.
        CountryGone: it is deleted, or has another code since.
    """
    version = yield from _newest(code, instant)
    is_over = version.expires is not None if instant is None else not version.holds_at(instant)
    if version.deleted or is_over:
        when = "" if instant is None else f" at {instant.isoformat()}"
        raise CountryGone(f"No country has the code {code.upper()}{when}.", current=version)
    return version


def list_countries(prefix: str | None) -> Query[Country]:
    """The current countries by name, or those whose name begins like this."""
    return active_countries_named(Prefix(start)) if prefix and (start := folded(prefix)) else active_countries()


def export_all() -> Operation[WalkResult[Country]]:
    """All current countries by name."""
    return export_countries().walk(max_items=MAX_COUNTRIES)


def show_history(code: str, limit: int, cursor: str | None) -> Procedure[tuple[tuple[Country, ...], str | None]]:
    """The versions of the country that has a code, or had it last, newest first; and where they go on.

    Raises:
        ItemMissing: no country ever had the code.
    """
    version = yield from _newest(code)
    page = yield from HISTORY.versions(version.alpha2).page(limit, after=cursor)
    return page.items, page.next_cursor


def compare(
    code: str, before: datetime, after: datetime
) -> Procedure[tuple[Country, Country, tuple[FieldDifference, ...]]]:
    """Two versions of a country, those of two instants, and in what they differ.

    Raises:
        ItemMissing: no country ever had the code, or it had no version at one of the instants.
    """
    alpha2 = (yield from _newest(code)).alpha2
    versions = []
    for instant in (before, after):
        version = yield from HISTORY.as_of(instant, alpha2)
        if version is None:
            raise ItemMissing(f"{alpha2} had no version at {instant.isoformat()}.")
        versions.append(version)
    old, new = versions
    return old, new, differences(old, new)


def write_country(
    alpha2: str, data: CountryData, only: Precondition | None = None, unless: Precondition | None = None
) -> Procedure[Plan[Country]]:
    """Create a country, or add a version that says this; none where it says so already.

    Raises:
        AlreadyExists: `unless` does not allow its version.
        CountryDeleted: it is deleted.
        VersionConflict: `only` does not allow its version.
    """
    latest = yield from _latest(alpha2)
    _check(latest, only)
    if latest is None:
        draft = Country(alpha2=alpha2, name=data.name, alpha3=data.alpha3, numeric=data.numeric)
        return (yield from HISTORY.create(draft))
    if unless is not None and not unless.allows(mark(latest)):
        raise AlreadyExists(f"There is a country {alpha2} already, in a version that must stay.", current=latest)
    if latest.deleted:
        raise CountryDeleted(f"{alpha2} is deleted.", current=latest)
    return (yield from HISTORY.revise(latest, *data.changes()))


def delete_country(alpha2: str, only: Precondition | None = None) -> Procedure[Plan[Country]]:
    """Add a version that says that the country is deleted; none where it is.

    Raises:
        ItemMissing: there never was such a country.
        VersionConflict: `only` does not allow its version.
    """
    latest = _known(alpha2, (yield from _latest(alpha2)))
    _check(latest, only)
    return (yield from HISTORY.delete(latest))


def restore_country(
    alpha2: str, data: CountryData | None, only: Precondition | None = None
) -> Procedure[Plan[Country]]:
    """Add a version that is not deleted, with what was said last or with new data; none where it is not deleted.

    Raises:
        ItemMissing: there never was such a country.
        CountryNotDeleted: it is not deleted, and says something else than the data.
        VersionConflict: `only` does not allow its version.
    """
    latest = _known(alpha2, (yield from _latest(alpha2)))
    _check(latest, only)
    changes = data.changes() if data else ()
    if not latest.deleted and differences(latest, latest.with_changes(*changes)):
        raise CountryNotDeleted(f"{alpha2} is not deleted.", current=latest)
    return (yield from HISTORY.restore(latest, *changes))


def _newest(code: str, instant: datetime | None = None) -> Procedure[Country]:
    versions = versions_with(code)
    version = yield from (versions.first() if instant is None else as_of(versions, instant))
    return _known(code.upper(), version)


def _latest(alpha2: str) -> Procedure[Country | None]:
    return (yield from country_versions(alpha2).consistent().first())


def _known(code: str, version: Country | None) -> Country:
    if version is None:
        raise ItemMissing(f"There is no country {code}.")
    return version


def _check(latest: Country | None, only: Precondition | None) -> None:
    if only is None:
        return
    if latest is None:
        raise VersionConflict("There is no such country to write over.")
    if not only.allows(mark(latest)):
        raise VersionConflict("The country has changed since you read it.", current=latest)
