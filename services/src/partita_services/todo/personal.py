"""What To-Do keeps of a user: their tasks, their profile, and the claim on their email; and how that is erased."""

from __future__ import annotations

from typing import Final

from partita import Procedure, retry_on_conflict
from partita.recipes.idempotency import Plan
from partita.recipes.personal import PersonalData, PersonalItems
from partita_services.todo.model import (
    USERS,
    EmailClaim,
    Erased,
    delete_tasks,
    delete_user,
    latest_user,
    tasks_of_user,
    user_by_id,
)


def forget_user(user_id: str) -> Procedure[int]:
    """Delete a user's profile, so that another may have the email; how many there were."""

    def forget() -> Procedure[int]:
        user = yield from latest_user(user_id)
        if user is None:
            return 0
        plan = USERS.delete(user)
        yield from Plan(user, delete_user(plan)).run()
        return 1

    return (yield from retry_on_conflict(forget))


PERSONAL: Final = PersonalData(
    PersonalItems("tasks", tasks_of_user, delete=delete_tasks),
    PersonalItems("profile", user_by_id, erase=forget_user, also=(EmailClaim,)),
    record=Erased,
)
