"""The time limit on completed tasks, applied to tasks that were completed before it was set, or under another limit.

It reads the whole table, so it runs in a maintenance session, a page at a time, and never in a request.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from partita import Page, Procedure
from partita.errors import ConditionFailed
from partita.operations import scan
from partita_services.todo.model import Status, Task, update_task

PAGE: Final = 100


class RetentionProgress(Struct, frozen=True):
    """The progress of the job. `cursor` continues it; None at the beginning and at the end."""

    keep: int | None
    """For how many seconds completed tasks are kept; None means for ever."""
    inspected: int = 0
    changed: int = 0
    overtaken: int = 0
    """Tasks that somebody changed in the meantime; the next run finds those that still need a change."""
    cursor: str | None = None
    done: bool = False


def retention_page(so_far: RetentionProgress) -> Procedure[RetentionProgress]:
    """Set or remove the time of deletion of the completed tasks on the next page."""
    page: Page[Task] = yield from scan(Task).page(PAGE, after=so_far.cursor)
    changed = overtaken = 0
    for task in _differing(page, so_far.keep):
        try:
            yield from update_task(task)
        except ConditionFailed:
            overtaken += 1
        else:
            changed += 1
    return replace(
        so_far,
        inspected=so_far.inspected + len(page),
        changed=so_far.changed + changed,
        overtaken=so_far.overtaken + overtaken,
        cursor=page.next_cursor,
        done=page.next_cursor is None,
    )


def _differing(page: Page[Task], keep: int | None) -> Iterator[Task]:
    """The completed tasks whose time of deletion differs from the setting, with the right time."""
    for task in page:
        if task.status is Status.COMPLETED and task.completed_at is not None:
            ttl = None if keep is None else task.completed_at + keep
            if task.ttl != ttl:
                yield task.model_copy(update={"ttl": ttl})
