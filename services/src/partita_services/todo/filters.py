"""Lists of tasks by any combination of filters: one index is read, and the other conditions filter its key range."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Annotated, Final, NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator
from pydantic.json_schema import WithJsonSchema

from partita import Condition, Query, Span, all_of, f, not_
from partita_services.todo.model import (
    OPEN,
    Category,
    Priority,
    Status,
    Task,
    completed_tasks,
    overdue_tasks,
    tasks_by_category,
    tasks_by_due_date,
    tasks_by_priority,
    tasks_by_status,
    tasks_due_on,
    tasks_due_within,
    tasks_in_category,
    tasks_matching,
    tasks_of_user,
    tasks_with_priority,
    tasks_with_status,
)

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_OF_THE_MACHINE: Final = {"Factory", "localtime", "posixrules"}
"""Files that some systems store next to the time zones: the server's own time zone, and placeholders."""
_ZONES: Final = sorted(available_timezones() - _OF_THE_MACHINE)
_ZONE_SCHEMA: Final = {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_+/-]{1,63}$", "examples": ["Europe/Berlin"]}
"""The names are left out because they depend on the machine, and the API description must not."""


def _written_as_a_day(value: object) -> object:
    # Pydantic would also accept a number, as a timestamp.
    if isinstance(value, date) or (isinstance(value, str) and _DAY.fullmatch(value)):
        return value
    raise ValueError("a day must be written as YYYY-MM-DD")


def _known_zone(name: str) -> str:
    if name not in _ZONES:
        raise ValueError("this is not a time zone; write one such as Europe/Berlin")
    return name


Day = Annotated[date, BeforeValidator(_written_as_a_day), Field(examples=["2026-12-24"])]
Zone = Annotated[str, AfterValidator(_known_zone), WithJsonSchema(_ZONE_SCHEMA)]


class Sort(StrEnum):
    """The fields by which tasks can be sorted, each with an index that contains only tasks with the field."""

    STATUS = "status"
    DUE_DATE = "due_date"
    PRIORITY = "priority"
    CATEGORY = "category"


class TaskFilter(BaseModel):
    """The filters of a list: a task must match all of those that are given."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    status: Status | None = None
    priority: Priority | None = None
    category: Category | None = None
    due: Day | None = None
    due_from: Day | None = None
    due_to: Day | None = Field(default=None, description="included")
    has_due: bool | None = None
    has_priority: bool | None = None
    overdue: bool | None = Field(default=None, description="due before today, and neither completed nor cancelled")
    completed: bool | None = None
    sort: Sort | None = Field(default=None, description="by this field; tasks without it are omitted")

    @field_validator("due_to")
    @classmethod
    def _range_runs_forward(cls, last: date | None, others: ValidationInfo) -> date | None:
        first = others.data.get("due_from")
        if first is not None and last is not None and last < first:
            raise ValueError("due_to is before due_from")
        return last


class _Filter(NamedTuple):
    """One filter: the list of exactly its tasks, if there is one, and the condition to filter other lists."""

    tasks: Query[Task] | None
    condition: Condition


_SORTED: Final[Mapping[Sort, Callable[[str], Query[Task]]]] = {
    Sort.STATUS: tasks_by_status,
    Sort.DUE_DATE: tasks_by_due_date,
    Sort.PRIORITY: tasks_by_priority,
    Sort.CATEGORY: tasks_by_category,
}


def find_tasks(user_id: str, wanted: TaskFilter, today: date) -> Query[Task]:
    """The tasks of a user that match all filters.

    The index of `sort` is read if that is given; otherwise the index of the most selective filter.
    """
    filters = list(_filters(user_id, wanted, today))
    if wanted.sort is not None:
        chosen = _SORTED[wanted.sort](user_id)
    else:
        served = next((each for each in filters if each.tasks is not None), None)
        chosen = tasks_of_user(user_id) if served is None or served.tasks is None else served.tasks
        filters = [each for each in filters if each is not served]
    return tasks_matching(chosen, all_of(*(each.condition for each in filters))) if filters else chosen


def served_by(tasks: Query[Task]) -> str:
    """The index that a list is read from, or the table."""
    return tasks.key.index or "table"


def today_in(zone: str | None, now: float) -> date:
    """The current date in a time zone; in UTC if that is None."""
    return datetime.fromtimestamp(now, ZoneInfo(zone) if zone else UTC).date()


def _filters(user_id: str, wanted: TaskFilter, today: date) -> Iterator[_Filter]:
    """The given filters, most selective first."""
    if wanted.due is not None:
        yield _Filter(tasks_due_on(user_id, wanted.due), f(Task.due_date).eq(wanted.due))
    if wanted.category is not None:
        yield _Filter(tasks_in_category(user_id, wanted.category), f(Task.category).eq(wanted.category))
    if wanted.overdue is not None:
        is_overdue = all_of(f(Task.due_date).lt(today), f(Task.status).is_in(OPEN))
        yield _Filter(overdue_tasks(user_id, today), is_overdue) if wanted.overdue else _Filter(None, not_(is_overdue))
    if wanted.due_from is not None or wanted.due_to is not None:
        span = Span(wanted.due_from, wanted.due_to)
        yield _Filter(tasks_due_within(user_id, span), _within(wanted.due_from, wanted.due_to))
    if wanted.status is not None:
        yield _Filter(tasks_with_status(user_id, wanted.status), f(Task.status).eq(wanted.status))
    yield from _whether(user_id, wanted)


def _whether(user_id: str, wanted: TaskFilter) -> Iterator[_Filter]:
    if wanted.completed is not None:
        is_completed = f(Task.status).eq(Status.COMPLETED)
        yield _Filter(completed_tasks(user_id), is_completed) if wanted.completed else _Filter(None, not_(is_completed))
    if wanted.priority is not None:
        yield _Filter(tasks_with_priority(user_id, wanted.priority), f(Task.priority).eq(wanted.priority))
    if wanted.has_due is not None:
        has_due = f(Task.due_date).exists()
        yield (
            _Filter(tasks_by_due_date(user_id), has_due)
            if wanted.has_due
            else _Filter(None, f(Task.due_date).missing())
        )
    if wanted.has_priority is not None:
        yield _prioritized(user_id, has_priority=wanted.has_priority)


def _prioritized(user_id: str, *, has_priority: bool) -> _Filter:
    if has_priority:
        return _Filter(tasks_by_priority(user_id), f(Task.priority).exists())
    return _Filter(None, f(Task.priority).missing())


def _within(first: date | None, last: date | None) -> Condition:
    return f(Task.due_date).between(first or date.min, last or date.max)
