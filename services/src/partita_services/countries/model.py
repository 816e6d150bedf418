"""The data model of the countries service: one table of versions and claims on codes, with five indexes.

| item | partition key | sort key |
| --- | --- | --- |
| version of a country | alpha-2 code | the instant it was created |
| claim on a code | `UNIQUE#alpha3#BOL` | `CLAIM` |
| request with an idempotency key | `IDEMPOTENCY#<caller>#<key>` | `METADATA` |
| rate limit of a caller | `RATE#<caller>` | `BUCKET` |

An alpha-2 code has two characters, so no country can have the key of any other item.

A version has about 450 bytes, a page of 100 versions 45 KB. Writing a version costs 2 WCU on the table, because it is
in a transaction, and 1 on each of four indexes: by both codes, in the list of current or withdrawn countries, and in
the list of all changes. Closing the previous version costs the same, and a claim costs 2.
"""

from __future__ import annotations

import unicodedata
from datetime import datetime
from typing import Annotated, ClassVar, Final

from pydantic import Field, StringConstraints

from partita import Index, Key, Prefix, Query, Rcu, Span, Table, Transaction, Wcu, f, get, pattern, query, transact
from partita.recipes.history import UNWRITTEN, History, Revision
from partita.recipes.idempotency import Idempotency, IdempotencyRecord, Plan
from partita.recipes.rate_limit import Rate, RateBucket, RateLimits
from partita.recipes.unique import Claim, Unique
from partita.store import PutItem, UpdateItem

TABLE: Final = Table(
    "countries",
    hash="alpha2Code",
    range="createDate",
    indexes=[
        Index("GSI-Alpha3", hash="alpha3Code", range="createDate"),
        Index("GSI-Numeric", hash="numericCode", range="createDate"),
        Index("GSI-Active", hash="activeList", range="activeName"),
        Index("GSI-Withdrawn", hash="withdrawnList", range="withdrawnName"),
        Index("GSI-Changes", hash="changeList", range="changeDate"),
    ],
    ttl="ttl",
    stream="NEW_AND_OLD_IMAGES",
)

PAGE: Final = Rcu(8)
"""A page of 100 versions; most are a quarter of that."""

EVERYTHING: Final = Rcu(250)
"""All versions of all countries: the 317 versions of the standard cost 12 RCU."""

MAX_LISTED: Final = 100
"""How many characters of a name the list is sorted by."""

Alpha2 = Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$", max_length=2)]
Alpha3 = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$", max_length=3)]
Numeric = Annotated[str, StringConstraints(pattern=r"^[0-9]{3}$", max_length=3)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class Country(Revision, table=TABLE):
    """One version of a country. The numeric code is a string, because of its leading zeros."""

    primary: ClassVar = Key("{alpha2}", "{created}")
    by_alpha3: ClassVar = Key("{alpha3}", "{created}", index="GSI-Alpha3")
    by_numeric: ClassVar = Key("{numeric}", "{created}", index="GSI-Numeric")
    active: ClassVar = Key("ACTIVE", "{listed}#{alpha2}", index="GSI-Active")
    withdrawn: ClassVar = Key("WITHDRAWN", "{retired}#{alpha2}", index="GSI-Withdrawn")
    changes: ClassVar = Key("CHANGE", "{written}#{alpha2}", index="GSI-Changes")

    alpha2: Annotated[Alpha2, Field(alias="alpha2Code", max_length=2, examples=["BO"])]
    name: Annotated[Name, Field(examples=["Bolivia, Plurinational State of"])]
    alpha3: Annotated[Alpha3, Field(alias="alpha3Code", examples=["BOL"])]
    numeric: Annotated[Numeric | None, Field(alias="numericCode", examples=["068"])] = None
    created: Annotated[datetime, Field(alias="createDate", examples=["2026-01-01T12:00:00.000000Z"])] = UNWRITTEN
    expires: Annotated[datetime | None, Field(alias="expiryDate")] = None
    deleted: Annotated[bool, Field(alias="isDeleted")] = False
    number: Annotated[int, Field(alias="versionNumber")] = 0
    author: Annotated[str | None, Field(alias="writtenBy", examples=["ada"])] = None
    reason: Annotated[str | None, Field(examples=["ISO 3166-1 newsletter VI-16"])] = None
    written: Annotated[datetime | None, Field(alias="writtenAt")] = None

    def listing(self) -> str:
        """Return the folded name, by which countries are listed."""
        return folded(self.name) or self.alpha2


class CodeClaim(Claim, table=TABLE):
    """The claim of a country on a code."""

    primary: ClassVar = Key("UNIQUE#{field}#{value}", "CLAIM")


class Request(IdempotencyRecord, table=TABLE):
    """A stored write request and its response, so that repeating it adds no version."""

    primary: ClassVar = Key("IDEMPOTENCY#{scope}#{key}", "METADATA")


class CallerBucket(RateBucket, table=TABLE):
    """The remaining requests of a caller's rate limit."""

    primary: ClassVar = Key("RATE#{caller}", "BUCKET")


@query(Country, Country.primary, newest_first=True, budget=PAGE)
def country_versions(alpha2: str) -> None:
    """All versions of a country, newest first."""


@query(Country, Country.by_alpha3, newest_first=True, budget=PAGE)
def versions_with_alpha3(alpha3: str) -> None:
    """All versions with an alpha-3 code, newest first; several countries may have had it, one after another."""


@query(Country, Country.by_numeric, newest_first=True, budget=PAGE)
def versions_with_numeric(numeric: str) -> None:
    """All versions with a numeric code, newest first; several countries may have had it, one after another."""


@query(Country, Country.active, budget=PAGE)
def active_countries() -> None:
    """The current countries, by name."""


@query(Country, Country.active, budget=PAGE)
def active_countries_named(listed: Prefix[str]) -> None:
    """The current countries whose folded name begins with a prefix."""


@query(Country, Country.active, budget=Rcu(40))
def export_countries() -> None:
    """All current countries by name, in one page."""


@query(Country, Country.withdrawn, budget=PAGE)
def withdrawn_countries() -> None:
    """The deleted countries, by name."""


@query(Country, Country.withdrawn, budget=PAGE)
def withdrawn_countries_named(retired: Prefix[str]) -> None:
    """The deleted countries whose folded name begins with a prefix."""


@query(Country, Country.withdrawn, budget=Rcu(40))
def export_withdrawn() -> None:
    """All deleted countries by name, in one page."""


@query(Country, Country.changes, budget=PAGE)
def changes_within(written: Span[datetime]) -> None:
    """The versions that were written in a span of time, in the order of writing."""


@query(Country, Country.changes, newest_first=True, budget=PAGE)
def all_changes() -> None:
    """All versions, the last written first."""


@query(Country, Country.changes, budget=EVERYTHING)
def all_versions() -> None:
    """Every version of every country, in the order of writing."""


@get(CodeClaim, budget=Rcu(1))
def claim_on_code(field: str, value: str) -> None:
    """The claim on a code: which country has it, or since when no country has it."""


@pattern(budget=Wcu(20), writes={Country: (PutItem, UpdateItem), CodeClaim: (PutItem, UpdateItem)})
def write_version(plan: Plan[Country]) -> Transaction:
    """Close the previous version, add the next, and move the claims on codes; 20 WCU if both codes change."""
    return transact(*plan.actions)


HISTORY: Final = History(
    country_versions,
    claim_on_code,
    unique=(
        Unique(claim_on_code, Country, f(Country.alpha3), owner=f(Country.alpha2)),
        Unique(claim_on_code, Country, f(Country.numeric), owner=f(Country.alpha2)),
    ),
    write=write_version,
)

REQUESTS: Final = Idempotency(Request, budget=Rcu(1))
LIMITS: Final = RateLimits(CallerBucket, Rate(burst=600, per_second=100))


def folded(name: str) -> str:
    """Return a name without case and accents, for searching and sorting."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    return plain.casefold().strip()[:MAX_LISTED]


def versions_with(code: str) -> Query[Country]:
    """All versions with a code: alpha-2, alpha-3 or numeric, in any case."""
    code = code.upper()
    if code.isdecimal():
        return versions_with_numeric(code)
    return country_versions(code) if len(code) == len("BO") else versions_with_alpha3(code)
