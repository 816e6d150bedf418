"""Responses of the countries API: versions and their differences as JSON and CSV, their ETags and cache headers."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from io import StringIO
from typing import Any, Final, Literal, Self, TypeAlias

from pydantic import BaseModel, Field

from partita.http import CamelModel, Instant, PartialListing, Problem
from partita.recipes.history import FieldDifference
from partita_services.countries.archive import Match
from partita_services.countries.handlers import mark
from partita_services.countries.imports import COLUMNS, Proposal, Verb
from partita_services.countries.model import Country

What: TypeAlias = Literal["created", "changed", "deleted"]
"""What a version did to its country."""

IMMUTABLE: Final = "public, max-age=31536000, immutable"
REVALIDATED: Final = "no-cache"


class CountryVersion(CamelModel):
    """One version of a country. `expiryDate` is null while the version is open."""

    alpha2_code: str = Field(examples=["BO"])
    alpha3_code: str = Field(examples=["BOL"])
    numeric_code: str | None = Field(
        examples=["068"], description="text with leading zeros; some withdrawn countries have none"
    )
    name: str = Field(examples=["Bolivia, Plurinational State of"])
    version_number: int = Field(examples=[1], description="counted from 1")
    is_deleted: bool
    create_date: Instant
    expiry_date: Instant | None
    written_by: str | None = Field(examples=["ada"], description="who wrote it; null if unknown")
    reason: str | None = Field(examples=["ISO 3166-1 newsletter VI-16"], description="the reason, if one was given")
    written_at: Instant | None = Field(description="when it was written; later than `createDate` if it is from a list")

    @classmethod
    def of(cls, country: Country) -> Self:
        """Return the response for a version."""
        return cls(
            alpha2_code=country.alpha2,
            alpha3_code=country.alpha3,
            numeric_code=country.numeric,
            name=country.name,
            version_number=country.number,
            is_deleted=country.deleted,
            create_date=country.created,
            expiry_date=country.expires,
            written_by=country.author,
            reason=country.reason,
            written_at=country.written,
        )


class ChangeView(CountryVersion):
    """A version in the feed of changes, and what it did to its country."""

    change: What

    @classmethod
    def of(cls, country: Country) -> Self:
        """Return the response for a change."""
        change: What = "deleted" if country.deleted else "created" if country.number == 1 else "changed"
        return cls(**CountryVersion.of(country).model_dump(by_alias=False), change=change)


class Changes(PartialListing[ChangeView]):
    """One page of changes. If `next_cursor` is null, continue later with `since` set to `position`."""

    position: Instant | None = Field(description="the `writtenAt` of the last change; null if the page is empty")


class MatchView(CamelModel):
    """A country that a search found, and the version that matches."""

    country: CountryVersion = Field(description="the latest version of the country")
    matched: CountryVersion = Field(description="the newest version that matches")
    is_former: bool = Field(description="whether the country is deleted, or the match is not its latest version")

    @classmethod
    def of(cls, match: Match) -> Self:
        """Return the response for a match."""
        country, matched = match.country, match.matched
        is_former = country.deleted or matched.number != country.number
        return cls(country=CountryVersion.of(country), matched=CountryVersion.of(matched), is_former=is_former)


class Matches(BaseModel):
    """The results of a search, current countries first."""

    items: tuple[MatchView, ...]


class FieldChange(BaseModel):
    """A field that differs between two versions."""

    field: str = Field(examples=["name"])
    before: Any = Field(examples=["Turkey"])
    after: Any = Field(examples=["Türkiye"])

    @classmethod
    def of(cls, difference: FieldDifference) -> Self:
        """Return the response for a difference, with the name of the field in the table."""
        name = Country.__entity__.attribute(difference.field)
        return cls(field=name, before=difference.before, after=difference.after)


class Comparison(CamelModel):
    """Two versions of a country and the fields in which they differ."""

    before: CountryVersion
    after: CountryVersion
    changes: tuple[FieldChange, ...]


class ImportedChange(CamelModel):
    """A version that an import adds, or would add."""

    change: Verb
    alpha2_code: str = Field(examples=["BO"])
    name: str | None = Field(examples=["Bolivia"], description="the name in the list; null if the country is deleted")
    differences: tuple[FieldChange, ...]

    @classmethod
    def of(cls, proposal: Proposal) -> Self:
        """Return the response for a proposal."""
        content = proposal.event.content
        return cls(
            change=proposal.verb,
            alpha2_code=proposal.event.alpha2,
            name=None if content is None else content.name,
            differences=tuple(map(FieldChange.of, proposal.differences)),
        )


class ImportResult(BaseModel):
    """The changes of an import."""

    applied: bool = Field(description="whether the versions were added, or only shown")
    changes: tuple[ImportedChange, ...]

    @classmethod
    def of(cls, proposals: Iterable[Proposal], *, applied: bool) -> Self:
        """Return the response for an import."""
        return cls(applied=applied, changes=tuple(map(ImportedChange.of, proposals)))


class GoneProblem(Problem):
    """A problem: no country has the code any more. `country` is the last version that had it."""

    country: CountryVersion


def version_tag(country: Country) -> str:
    """Return the ETag of a version. It changes once, when the version is closed."""
    if country.expires is None:
        return f'"{mark(country)}"'
    return f'"{mark(country)}-{mark(country.model_copy(update={"created": country.expires}))}"'


def caching(*versions: Country) -> str:
    """Return the Cache-Control value for a response with these versions: closed versions never change again."""
    return IMMUTABLE if all(version.expires is not None for version in versions) else REVALIDATED


def csv_text(countries: Iterable[Country]) -> str:
    """Return a list as CSV (RFC 4180), which can be imported again."""
    text = StringIO()
    lines = csv.writer(text)
    lines.writerow(COLUMNS)
    lines.writerows((c.alpha2, c.alpha3, c.numeric or "", c.name) for c in countries)
    return text.getvalue()
