"""What the countries service does, as procedures: they say which operations run, and either kind of session runs them.

Writes give a `Plan`, so that the route can commit it together with the record of its idempotency key.
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

MAX_COUNTRIES: Final = 26 * 26
"""How many alpha-2 codes there can be."""

MAX_HISTORY: Final = 1_000
"""How many versions of a country are looked through for one of a number."""


class Edit(Struct, frozen=True):
    """Who writes, and why."""

    by: str | None = None
    why: str | None = None


class Status(StrEnum):
    """Which countries are listed."""

    CURRENT = "current"
    WITHDRAWN = "withdrawn"


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


class RestoredData(BaseModel):
    """What is said of a country that is restored, where that is not what it said last; `{}` for nothing else."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    name: Annotated[Name | SkipJsonSchema[None], Field(examples=["Bolivia"])] = None
    alpha3: Annotated[Alpha3 | SkipJsonSchema[None], Field(alias="alpha3Code", examples=["BOL"])] = None
    numeric: Annotated[Numeric | SkipJsonSchema[None], Field(alias="numericCode", examples=["068"])] = None

    def changes(self) -> tuple[Change, ...]:
        """The same as changes of a version."""
        name = () if self.name is None else (f(Country.name).set(self.name),)
        alpha3 = () if self.alpha3 is None else (f(Country.alpha3).set(self.alpha3),)
        numeric = () if self.numeric is None else (f(Country.numeric).set(self.numeric),)
        return (*name, *alpha3, *numeric)


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


def list_countries(prefix: str | None, status: Status = Status.CURRENT) -> Query[Country]:
    """The countries by name, or those whose name begins like this."""
    start = folded(prefix) if prefix else ""
    if status is Status.WITHDRAWN:
        return withdrawn_countries_named(Prefix(start)) if start else withdrawn_countries()
    return active_countries_named(Prefix(start)) if start else active_countries()


def export_all(status: Status = Status.CURRENT) -> Operation[WalkResult[Country]]:
    """All countries by name."""
    return (export_countries() if status is Status.CURRENT else export_withdrawn()).walk(max_items=MAX_COUNTRIES)


def history_of(code: str) -> Procedure[Query[Country]]:
    """The versions of the country that has a code, or had it last, newest first.

    Raises:
        ItemMissing: no country ever had the code.
    """
    return HISTORY.versions((yield from _newest(code)).alpha2)


def compare(
    code: str, before: datetime | int, after: datetime | int
) -> Procedure[tuple[Country, Country, tuple[FieldDifference, ...]]]:
    """Two versions of a country, each by an instant or by its number, and in what they differ.

    Raises:
        ItemMissing: no country ever had the code, or it had no such version.
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
        return (yield from HISTORY.create(draft, by=edit.by, why=edit.why))
    if unless is not None and not unless.allows(mark(latest)):
        raise AlreadyExists(f"There is a country {alpha2} already, in a version that must stay.", current=latest)
    if latest.deleted:
        raise CountryDeleted(f"{alpha2} is deleted.", current=latest)
    return (yield from HISTORY.revise(latest, *data.changes(), by=edit.by, why=edit.why))


def delete_country(
    alpha2: str,
    only: Precondition | None = None,
    edit: Edit = Edit(),  # noqa: B008 - frozen
) -> Procedure[Plan[Country]]:
    """Add a version that says that the country is deleted; none where it is.

    Raises:
        ItemMissing: there never was such a country.
        VersionConflict: `only` does not allow its version.
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
    return (yield from HISTORY.restore(latest, *changes, by=edit.by, why=edit.why))


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
