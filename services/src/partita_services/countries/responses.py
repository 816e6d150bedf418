"""Responses of the countries API: versions and their differences as JSON and CSV, with ETags and how to cache them."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from io import StringIO
from typing import Any, Final, Self

from pydantic import BaseModel, Field

from partita.http import CamelModel, Instant, Problem
from partita.recipes.history import FieldDifference
from partita_services.countries.handlers import mark
from partita_services.countries.imports import COLUMNS
from partita_services.countries.model import Country

IMMUTABLE: Final = "public, max-age=31536000, immutable"
REVALIDATED: Final = "no-cache"


class CountryVersion(CamelModel):
    """One version of a country. `expiryDate` is null while it is open."""

    alpha2_code: str = Field(examples=["BO"])
    alpha3_code: str = Field(examples=["BOL"])
    numeric_code: str | None = Field(
        examples=["068"], description="text: leading zeros count; some withdrawn have none"
    )
    name: str = Field(examples=["Bolivia, Plurinational State of"])
    version_number: int = Field(examples=[1], description="counted from 1")
    is_deleted: bool
    create_date: Instant
    expiry_date: Instant | None

    @classmethod
    def of(cls, country: Country) -> Self:
        """The response for a version."""
        return cls(
            alpha2_code=country.alpha2,
            alpha3_code=country.alpha3,
            numeric_code=country.numeric,
            name=country.name,
            version_number=country.number,
            is_deleted=country.deleted,
            create_date=country.created,
            expiry_date=country.expires,
        )


class Versions(BaseModel):
    """One page of versions. `next_cursor` is null on the last one."""

    items: tuple[CountryVersion, ...]
    next_cursor: str | None

    @classmethod
    def of(cls, countries: Iterable[Country], next_cursor: str | None) -> Self:
        """The response for a page."""
        return cls(items=tuple(CountryVersion.of(country) for country in countries), next_cursor=next_cursor)


class FieldChange(BaseModel):
    """A field that differs between two versions."""

    field: str = Field(examples=["name"])
    before: Any = Field(examples=["Turkey"])
    after: Any = Field(examples=["Türkiye"])

    @classmethod
    def of(cls, difference: FieldDifference) -> Self:
        """The response for a difference, under the field's name in the table."""
        name = Country.__entity__.attribute(difference.field)
        return cls(field=name, before=difference.before, after=difference.after)


class Comparison(CamelModel):
    """Two versions of a country and the fields in which they differ."""

    before: CountryVersion
    after: CountryVersion
    changes: tuple[FieldChange, ...]


class GoneProblem(Problem):
    """A problem: no country has the code. `country` is the last version that had it."""

    country: CountryVersion


def version_tag(country: Country) -> str:
    """The ETag of a version. It changes once, when the version is closed."""
    if country.expires is None:
        return f'"{mark(country)}"'
    return f'"{mark(country)}-{mark(country.model_copy(update={"created": country.expires}))}"'


def caching(*versions: Country) -> str:
    """How a response that shows these versions may be cached: a closed version never changes again."""
    return IMMUTABLE if all(version.expires is not None for version in versions) else REVALIDATED


def csv_text(countries: Iterable[Country]) -> str:
    """A list as CSV (RFC 4180), which an import takes too."""
    text = StringIO()
    lines = csv.writer(text)
    lines.writerow(COLUMNS)
    lines.writerows((c.alpha2, c.alpha3, c.numeric or "", c.name) for c in countries)
    return text.getvalue()
