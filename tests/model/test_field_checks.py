"""Fields whose values would not read back as they were stored are refused when the class is created."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from enum import Enum
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, PlainSerializer
from tests.model.declare import entity, refused, table

from partita import Index, Key


class Revocable(BaseModel):
    roles: frozenset[str] = frozenset({"user"})


class Demanding(BaseModel):
    roles: frozenset[str]


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)

    day: date


class TwoNames(BaseModel):
    name: str = Field(validation_alias="in", serialization_alias="out")


class Hidden(BaseModel):
    secret: str = Field(exclude=True)


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [
        (Revocable, "Revocable.roles: DynamoDB has no empty set"),
        (Demanding | None, "Demanding.roles: DynamoDB has no empty set"),
        (list[Demanding], "Demanding.roles: DynamoDB has no empty set"),
        (dict[str, frozenset[str]], "a map of sets could lose some of its keys"),
        (list[dict[str, set[int]]], "a map of sets could lose some of its keys"),
        (Strict, "Strict is strict"),
        (TwoNames, "TwoNames.name is stored under one alias and read under another"),
        (tuple[Hidden, ...], "Hidden.secret has exclude=True"),
    ],
)
def test_a_field_that_would_not_read_back_the_same_is_refused(kind: Any, complaint: str) -> None:
    with refused(complaint):
        entity(annotations={"field": kind})


def test_a_set_that_is_none_by_default_is_refused() -> None:
    with refused("a set needs an empty default"):
        entity(annotations={"tags": frozenset[str] | None}, tags=None)


def test_two_fields_that_are_stored_as_one_are_refused() -> None:
    with refused("two fields are stored as 'name'"):
        entity(annotations={"first": str, "last": str}, first=Field(alias="name"), last=Field(alias="name"))


@pytest.mark.parametrize("kind", [date, timedelta, str, bool])
def test_a_ttl_is_an_instant_or_a_number(kind: type) -> None:
    with refused("must be a datetime or a number of seconds"):
        entity(on=table(ttl="gone_at"), annotations={"gone_at": kind})


def test_an_instant_that_loses_its_fraction_cannot_be_in_the_primary_key() -> None:
    with refused("a TTL stores whole seconds"):
        entity(Key("USER#{user_id}", "S#{gone_at}"), on=table(ttl="gone_at"), annotations={"gone_at": datetime})


class Urgency(Enum):
    LOW = "low"

    def __key__(self) -> str:
        return "1"


@pytest.mark.parametrize("kind", [Urgency, Annotated[str, PlainSerializer(str.upper)]])
def test_a_field_that_is_a_key_attribute_is_stored_as_it_is_asked_for(kind: Any) -> None:
    with refused("is a key attribute itself, but is stored in a custom form"):
        entity(Key("{level}", "TASK#{task_id}"), on=table(hash="level", indexes=[]), annotations={"level": kind})


def test_a_field_that_is_an_index_key_and_may_be_none_is_none_by_default() -> None:
    place = table(indexes=[Index("GSI1", hash="code", range=False)])
    with refused("so its default must be None"):
        entity(on=place, annotations={"code": str | None}, by_code=Key("{code}", index="GSI1"))
