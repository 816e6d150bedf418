"""Reminders: once a day, at the hour that a user has chosen, a message with the tasks that are due.

Each user who wants reminders has a slot: an item with the time of the next reminder. A worker reads the slots that are
due. It moves each to the next day in the transaction that writes the message to the outbox, so there is one message per
day, however many workers there are and wherever they die.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, time, timedelta
from typing import Any, Final
from zlib import crc32
from zoneinfo import ZoneInfo

from partita import Procedure, Session, Span, f, update
from partita.errors import ConditionFailed, TransactionCancelled
from partita.queue import Body
from partita_services.todo.model import (
    OPEN,
    REMINDERS,
    SLOT_SHARDS,
    ReminderSlot,
    Task,
    User,
    drop_slot,
    latest_user,
    move_reminder,
    overdue_tasks,
    slot_at,
    slots_until,
    tasks_due_on,
    tasks_matching,
)

MAX_TASKS: Final = 100
"""The maximum number of tasks of each kind in a message."""
MAX_SLOTS: Final = 100
"""The maximum number of reminders of a shard that are written at once."""
_FIELDS: Final = {"task_id", "title", "due_date", "priority", "category"}


class TasksDue(Body, frozen=True):
    """The tasks of a user that are due today, and those that are overdue."""

    kind = "tasks_due"

    user_id: str
    email: str
    name: str
    day: str
    due: list[dict[str, Any]]
    overdue: list[dict[str, Any]]
    more: bool
    """Whether there are more tasks than the message contains."""


def next_reminder(remind_at: str, zone: str | None, now: float) -> int:
    """Return the next time after `now` at which it is the hour of reminders."""
    place = ZoneInfo(zone) if zone else UTC
    local = datetime.fromtimestamp(now, place)
    hour = time.fromisoformat(remind_at)
    for days in range(3):  # one more day may be needed if a clock change skips or repeats the hour
        at = datetime.combine(local.date() + timedelta(days=days), hour, place).timestamp()
        if at > now:
            return int(at)
    raise ValueError(f"No time after now is {remind_at}.")


def slot_of(user_id: str, due_at: int) -> ReminderSlot:
    """The slot of a user for a reminder at this time."""
    return ReminderSlot(shard=crc32(user_id.encode()) % SLOT_SHARDS, due_at=due_at, user_id=user_id)


def remind_all(db: Session, now: float, limit: int = MAX_SLOTS) -> int:
    """Write the reminders that are due. Return how many messages were written."""
    written = 0
    for shard in range(SLOT_SHARDS):
        for slot in db.run(slots_until(shard, Span.until(int(now))).page(limit)):
            written += db.run(remind(slot, now))
    return written


def remind(slot: ReminderSlot, now: float) -> Procedure[bool]:
    """Write the reminder of a slot that is due, and move the slot. Return whether a message was written."""
    user = yield from latest_user(slot.user_id)
    if user is None or user.remind_at is None or user.next_reminder != slot.due_at:
        yield from drop_slot(slot_at(slot.shard, slot.due_at, slot.user_id))
        return False
    message = yield from _tasks_due(user, now)
    following = slot_of(user.user_id, next_reminder(user.remind_at, user.time_zone, now))
    change = update(user, f(User.next_reminder).set(following.due_at))
    said = () if message is None else (REMINDERS.message(message, group=user.user_id, now=now),)
    try:
        yield from move_reminder(change, slot_at(slot.shard, slot.due_at, slot.user_id), following, said)
    except (ConditionFailed, TransactionCancelled):
        return False  # another worker was first, or the user changed the profile
    return message is not None


def _tasks_due(user: User, now: float) -> Procedure[TasksDue | None]:
    day = datetime.fromtimestamp(now, ZoneInfo(user.time_zone) if user.time_zone else UTC).date()
    open_today = tasks_matching(tasks_due_on(user.user_id, day), f(Task.status).is_in(OPEN))
    due = yield from open_today.page(MAX_TASKS)
    late = yield from overdue_tasks(user.user_id, day).page(MAX_TASKS)
    if not due and not late:
        return None
    more = due.next_cursor is not None or late.next_cursor is not None
    return TasksDue(user.user_id, user.email, user.name, day.isoformat(), _named(due), _named(late), more)


def _named(tasks: Iterable[Task]) -> list[dict[str, Any]]:
    return [task.model_dump(mode="json", include=_FIELDS, exclude_none=True) for task in tasks]
