"""Lists of countries as callers give them, and what is to be done with them."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

from partita.http import CamelModel
from partita_services.countries.handlers import MAX_COUNTRIES
from partita_services.countries.iso import Content, Event
from partita_services.countries.model import Alpha2, Alpha3, Name, Numeric

Reason = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"\S", max_length=200)]
"""Why a version is written."""


class ImportOptions(BaseModel):
    """What is done with a list."""

    whole: bool = Field(
        default=False, examples=[False], description="whether countries that it does not have are deleted"
    )
    apply: bool = Field(
        default=False, examples=[True], description="whether the versions are added; otherwise they are only shown"
    )
    reason: Reason | None = Field(
        default=None, examples=["newsletter VI-16"], description="why, which the versions keep"
    )


class ListedCountry(CamelModel):
    """A country of a list."""

    model_config = ConfigDict(extra="forbid")

    alpha2_code: Alpha2 = Field(examples=["BO"])
    alpha3_code: Alpha3 = Field(examples=["BOL"])
    numeric_code: Numeric | None = Field(default=None, examples=["068"])
    name: Name = Field(examples=["Bolivia"])

    def event(self) -> Event:
        """What it asks for."""
        return Event(self.alpha2_code, Content(self.name, self.alpha3_code, self.numeric_code))


class ImportDraft(ImportOptions):
    """A list, and what is done with it."""

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
