"""Arguments of access patterns as text: the fields of a form, and the values that are parsed from its texts."""

from __future__ import annotations

from datetime import date, datetime
from typing import ClassVar

import pytest

from partita import Entity, Key, Prefix, Registry, Span, Table, query
from partita.patterns._arguments import Parameter, UnfitArgument, operation_of, parameters_of
from partita_services.countries.model import TABLE as COUNTRIES
from partita_services.countries.model import active_countries_named
from partita_services.todo.model import (
    TABLE,
    Status,
    tasks_by_ids,
    tasks_due_within,
    tasks_with_status,
)

READINGS = Table("readings", registry=Registry())


class Reading(Entity, table=READINGS):
    primary: ClassVar = Key("SENSOR#{sensor}", "TAKEN#{taken}")
    sensor: int
    taken: datetime


@query(Reading, Reading.primary)
def readings_within(sensor: int, taken: Span[datetime]) -> None: ...


FIRST, LAST = date(2026, 1, 1), date(2026, 1, 31)


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("2026-01-01..2026-01-31", Span.between(FIRST, LAST)),
        ("2026-01-01", Span.between(FIRST, FIRST)),
        ("2026-01-01..", Span.since(FIRST)),
        ("..2026-01-31", Span.until(LAST)),
    ],
)
def test_a_range_is_written_with_two_dots(text: str, span: Span[date]) -> None:
    texts = {"user_id": "u1", "due_date": text}
    assert operation_of(TABLE.patterns["tasks_due_within"], texts) == tasks_due_within("u1", span)


def test_each_kind_of_parameter_is_read_from_text() -> None:
    status = operation_of(TABLE.patterns["tasks_with_status"], {"user_id": "u1", "status": "pending"})
    assert status == tasks_with_status("u1", Status.PENDING)
    prefix = operation_of(COUNTRIES.patterns["active_countries_named"], {"listed": "bo"})
    assert prefix == active_countries_named(Prefix("bo"))
    several = operation_of(TABLE.patterns["tasks_by_ids"], {"user_id": "u1", "task_ids": '["a", "b"]'})
    assert several == tasks_by_ids("u1", ["a", "b"])


@pytest.mark.parametrize(
    ("pattern", "texts", "said"),
    [
        ("tasks_with_status", {"user_id": "u1"}, ("status", "'' does not fit: Input should be 'pending'")),
        ("tasks_due_on", {"user_id": "u1", "due_date": "soon"}, ("due_date", "'soon' does not fit: ")),
        ("tasks_by_ids", {"user_id": "u1", "task_ids": "a"}, ("task_ids", "'a' does not fit: ")),
        ("tasks_matching", {"tasks": "all"}, ("tasks", "'all' does not fit: it cannot be written as text.")),
    ],
)
def test_what_does_not_fit_is_named(pattern: str, texts: dict[str, str], said: tuple[str, str]) -> None:
    with pytest.raises(UnfitArgument) as unfit:
        operation_of(TABLE.patterns[pattern], texts)
    assert (unfit.value.parameter, str(unfit.value)[: len(said[1])]) == said


def test_a_form_knows_what_to_ask_for() -> None:
    user = Parameter("user_id", "text")
    states = tuple(Status)
    expected = {
        "user_by_id": [user],
        "tasks_with_status": [user, Parameter("status", "choice", choices=states)],
        "tasks_due_on": [user, Parameter("due_date", "date")],
        "tasks_due_within": [user, Parameter("due_date", "date", is_range=True)],
        "tasks_by_ids": [user, Parameter("task_ids", "json")],
        "create_task": [Parameter("task", "json")],
        "tasks_matching": None,
    }
    assert {name: parameters_of(TABLE.patterns[name]) for name in expected} == expected
    readings = parameters_of(READINGS.patterns["readings_within"])
    assert readings == [Parameter("sensor", "number"), Parameter("taken", "instant", is_range=True)]
    assert parameters_of(COUNTRIES.patterns["active_countries_named"]) == [Parameter("listed", "text", is_prefix=True)]
