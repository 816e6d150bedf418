"""The procedures of the countries service: they yield operations, which a sync or an async session runs.

Writes return a `Plan`, so that the route can commit it together with the record of its idempotency key.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Final

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from partita import Change, Operation, Precondition, Prefix, Procedure, Query, WalkResult, f
from partita.errors import AlreadyExists, ConditionFailed, ItemMissing, VersionConflict
from partita.recipes.history import UNWRITTEN, FieldDifference, as_of, differences
from partita.recipes.idempotency import Plan
from partita.recipes.texts import VisibleText
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
    export_withdrawn,
    folded,
    versions_with,
    withdrawn_countries,
    withdrawn_countries_named,
)

NewName = Annotated[Name, VisibleText()]
"""A name as operators write it; one that was stored earlier may have other characters."""

MAX_COUNTRIES: Final = 26 * 26
"""How many alpha-2 codes there can be."""

MAX_HISTORY: Final = 1_000
"""How many versions of a country are read at most to find one by its number."""


class Edit(Struct, frozen=True):
    """The author and the reason of a write."""

    by: str | None = None
    why: str | None = None


class Status(StrEnum):
    """Which countries are listed."""

    CURRENT = "current"
    WITHDRAWN = "withdrawn"


class CountryData(BaseModel):
    """The content of a country."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    name: Annotated[NewName, Field(examples=["Bolivia, Plurinational State of"])]
    alpha3: Annotated[Alpha3, Field(alias="alpha3Code", examples=["BOL"])]
    numeric: Annotated[Numeric, Field(alias="numericCode", examples=["068"])]

    def changes(self) -> tuple[Change, ...]:
        """Return the content as changes of a version."""
        return (
            f(Country.name).set(self.name),
            f(Country.alpha3).set(self.alpha3),
            f(Country.numeric).set(self.numeric),
        )


class RestoredData(BaseModel):
    """The content of a restored country that differs from its last content; `{}` if nothing differs."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    name: Annotated[NewName | SkipJsonSchema[None], Field(examples=["Bolivia"])] = None
    alpha3: Annotated[Alpha3 | SkipJsonSchema[None], Field(alias="alpha3Code", examples=["BOL"])] = None
    numeric: Annotated[Numeric | SkipJsonSchema[None], Field(alias="numericCode", examples=["068"])] = None

    def changes(self) -> tuple[Change, ...]:
        """Return the content as changes of a version."""
        name = () if self.name is None else (f(Country.name).set(self.name),)
        alpha3 = () if self.alpha3 is None else (f(Country.alpha3).set(self.alpha3),)
        numeric = () if self.numeric is None else (f(Country.numeric).set(self.numeric),)
        return (*name, *alpha3, *numeric)


class CountryGone(ItemMissing, code="country_gone"):
    """No country has the code at the requested instant; `current` is the last version that had it."""


class CountryDeleted(ConditionFailed, code="country_deleted"):
    """The country is deleted, and must be restored before it is changed."""

    hint = "Restore the country first."


class CountryNotDeleted(ConditionFailed, code="country_not_deleted"):
    """The country is not deleted, so restoring it cannot change its content."""

    hint = "Change the country with PUT."


def mark(version: Country) -> int:
    """The number of a version in its ETag: its creation time in microseconds, which is unique within a country."""
    return (version.created - UNWRITTEN) // timedelta(microseconds=1)


def show_country(code: str, instant: datetime | None = None) -> Procedure[Country]:
    """Return the country that has a code, now or at an instant.

    Raises:
        ItemMissing: no country had the code until then.
        CountryGone: the country that had the code is deleted, or has another code now.
    """
    version = yield from _newest(code, instant)
    is_over = version.expires is not None if instant is None else not version.holds_at(instant)
    if version.deleted or is_over:
        when = "" if instant is None else f" at {instant.isoformat()}"
        raise CountryGone(f"No country has the code {code.upper()}{when}.", current=version)
    return version


def list_countries(prefix: str | None, status: Status = Status.CURRENT) -> Query[Country]:
    """The countries by name, or those whose name begins with a prefix."""
    start = folded(prefix) if prefix else ""
    if status is Status.WITHDRAWN:
        return withdrawn_countries_named(Prefix(start)) if start else withdrawn_countries()
    return active_countries_named(Prefix(start)) if start else active_countries()


def export_all(status: Status = Status.CURRENT) -> Operation[WalkResult[Country]]:
    """All countries by name."""
    return (export_countries() if status is Status.CURRENT else export_withdrawn()).walk(max_items=MAX_COUNTRIES)


def history_of(code: str) -> Procedure[Query[Country]]:
    """Return the query for the versions of the country that has a code or was the last to have it, newest first.

    Raises:
        ItemMissing: no country ever had the code.
    """
    return HISTORY.versions((yield from _newest(code)).alpha2)


def compare(
    code: str, before: datetime | int, after: datetime | int
) -> Procedure[tuple[Country, Country, tuple[FieldDifference, ...]]]:
    """Return two versions of a country, each given by an instant or by its number, and their differences.

    Raises:
        ItemMissing: no country ever had the code, or the country has no such version.
    """
    alpha2 = (yield from _newest(code)).alpha2
    old = yield from _version(alpha2, before)
    new = yield from _version(alpha2, after)
    return old, new, differences(old, new)


def _version(alpha2: str, which: datetime | int) -> Procedure[Country]:
    if isinstance(which, datetime):
        version = yield from HISTORY.as_of(which, alpha2)
        if version is None:
            raise ItemMissing(f"{alpha2} had no version at {which.isoformat()}.")
        return version
    versions = yield from HISTORY.versions(alpha2).walk(max_items=MAX_HISTORY)
    for version in versions:
        if version.number == which:
            return version
    raise ItemMissing(f"{alpha2} has no version {which}.")


def write_country(
    alpha2: str,
    data: CountryData,
    only: Precondition | None = None,
    unless: Precondition | None = None,
    edit: Edit = Edit(),  # noqa: B008 - frozen
) -> Procedure[Plan[Country]]:
    """Plan to create a country, or to add a version with this content; an unchanged country gets no version.

    Raises:
        AlreadyExists: `unless` does not allow its latest version.
        CountryDeleted: it is deleted.
        VersionConflict: `only` does not allow its latest version.
    """
    latest = yield from _latest(alpha2)
    _check(latest, only)
    if latest is None:
        draft = Country(alpha2=alpha2, name=data.name, alpha3=data.alpha3, numeric=data.numeric)
        return (yield from HISTORY.create(draft, by=edit.by, why=edit.why))
    if unless is not None and not unless.allows(mark(latest)):
        raise AlreadyExists(f"The country {alpha2} exists, in a version that If-None-Match excludes.", current=latest)
    if latest.deleted:
        raise CountryDeleted(f"{alpha2} is deleted.", current=latest)
    return (yield from HISTORY.revise(latest, *data.changes(), by=edit.by, why=edit.why))


def delete_country(
    alpha2: str,
    only: Precondition | None = None,
    edit: Edit = Edit(),  # noqa: B008 - frozen
) -> Procedure[Plan[Country]]:
    """Plan to add a version that is marked as deleted; a deleted country gets no version.

    Raises:
        ItemMissing: there never was such a country.
        VersionConflict: `only` does not allow its latest version.
    """
    latest = _known(alpha2, (yield from _latest(alpha2)))
    _check(latest, only)
    return (yield from HISTORY.delete(latest, by=edit.by, why=edit.why))


def restore_country(
    alpha2: str,
    data: RestoredData | None,
    only: Precondition | None = None,
    edit: Edit = Edit(),  # noqa: B008 - frozen
) -> Procedure[Plan[Country]]:
    """Plan to add a version that is not deleted, with the last or new data; none if the country is not deleted.

    Raises:
        ItemMissing: there never was such a country.
        CountryNotDeleted: it is not deleted, and its content differs from the data.
        VersionConflict: `only` does not allow its latest version.
    """
    latest = _known(alpha2, (yield from _latest(alpha2)))
    _check(latest, only)
    changes = data.changes() if data else ()
    if not latest.deleted and differences(latest, latest.with_changes(*changes)):
        raise CountryNotDeleted(f"{alpha2} is not deleted.", current=latest)
    return (yield from HISTORY.restore(latest, *changes, by=edit.by, why=edit.why))


def _newest(code: str, instant: datetime | None = None) -> Procedure[Country]:
    versions = versions_with(code)
    if instant is None:
        return _known(code.upper(), (yield from versions.first()))
    version = yield from as_of(versions, instant)
    if version is None:
        raise ItemMissing(f"No country had the code {code.upper()} until {instant.isoformat()}.")
    return version


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
        raise VersionConflict("The country does not exist, so no version of it can be replaced.")
    if not only.allows(mark(latest)):
        raise VersionConflict("The country has changed since you read it.", current=latest)
