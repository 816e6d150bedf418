"""Lists of countries in requests, and the options of an import."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

from partita.http import CamelModel
from partita.recipes.texts import VisibleText
from partita_services.countries.handlers import MAX_COUNTRIES, NewName
from partita_services.countries.iso import Content, Event
from partita_services.countries.model import Alpha2, Alpha3, Numeric

Reason = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"\S", max_length=200), VisibleText()]
"""Why a version is written."""


class ImportOptions(BaseModel):
    """The options of an import."""

    whole: bool = Field(
        default=False, examples=[False], description="whether countries that are missing from the list are deleted"
    )
    apply: bool = Field(
        default=False, examples=[True], description="whether the versions are added; if not, they are only shown"
    )
    reason: Reason | None = Field(
        default=None, examples=["newsletter VI-16"], description="the reason, stored in the versions"
    )


class ListedCountry(CamelModel):
    """A country of a list."""

    model_config = ConfigDict(extra="forbid")

    alpha2_code: Alpha2 = Field(examples=["BO"])
    alpha3_code: Alpha3 = Field(examples=["BOL"])
    numeric_code: Numeric | None = Field(default=None, examples=["068"])
    name: NewName = Field(examples=["Bolivia"])

    def event(self) -> Event:
        """Return the event that sets this content."""
        return Event(self.alpha2_code, Content(self.name, self.alpha3_code, self.numeric_code))


class ImportDraft(ImportOptions):
    """A list, and the options of its import."""

    model_config = ConfigDict(extra="forbid")

    countries: list[ListedCountry] = Field(
        max_length=MAX_COUNTRIES,
        examples=[[{"alpha2Code": "BO", "alpha3Code": "BOL", "numericCode": "068", "name": "Bolivia"}]],
    )

    @field_validator("countries")
    @classmethod
    def _each_once(cls, countries: list[ListedCountry]) -> list[ListedCountry]:
        codes = [country.alpha2_code for country in countries]
        if twice := [code for code in codes if codes.count(code) > 1]:
            raise ValueError(f"{twice[0]} is in the list twice")
        return countries
