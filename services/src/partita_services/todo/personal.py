"""The data that To-Do stores about a user (tasks, profile, and the claim on the email), and how it is erased."""

from __future__ import annotations

from typing import Final

from partita import Procedure, delete, retry_on_conflict
from partita.recipes.idempotency import Plan
from partita.recipes.personal import PersonalData, PersonalItems
from partita_services.todo.model import (
    USERS,
    EmailClaim,
    Erased,
    delete_tasks,
    delete_user,
    latest_user,
    slot_at,
    tasks_of_user,
    user_by_id,
)
from partita_services.todo.reminders import slot_of


def forget_user(user_id: str) -> Procedure[int]:
    """Delete a user's profile, so that another user may have the email. Return how many were deleted."""

    def forget() -> Procedure[int]:
        user = yield from latest_user(user_id)
        if user is None:
            return 0
        plan = USERS.delete(user)
        slots = () if user.next_reminder is None else (slot_of(user_id, user.next_reminder),)
        dropped = [delete(slot_at(slot.shard, slot.due_at, user_id)) for slot in slots]
        yield from Plan(user, delete_user(Plan(user, *plan.actions, *dropped))).run()
        return 1

    return (yield from retry_on_conflict(forget))


PERSONAL: Final = PersonalData(
    PersonalItems("tasks", tasks_of_user, delete=delete_tasks, fields=("title", "description", "category")),
    PersonalItems("profile", user_by_id, erase=forget_user, also=(EmailClaim,), fields=("email", "name", "value")),
    record=Erased,
)
