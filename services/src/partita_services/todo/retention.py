"""The time limit on completed tasks, given to those that were completed before it was set, or under another one.

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
    """How far the job has come. `cursor` continues it; None when it has seen everything."""

    keep: int | None
    """For how many seconds completed tasks are kept; None for ever."""
    inspected: int = 0
    changed: int = 0
    overtaken: int = 0
    """Tasks that somebody changed meanwhile; the next run finds those that still need it."""
    cursor: str | None = None
    done: bool = False


def retention_page(so_far: RetentionProgress) -> Procedure[RetentionProgress]:
    """Give the completed tasks of the next page the time at which they are deleted, or take it from them."""
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
    """The completed tasks whose time of deletion is not what the setting says, as they should be."""
    for task in page:
        if task.status is Status.COMPLETED and task.completed_at is not None:
            ttl = None if keep is None else task.completed_at + keep
            if task.ttl != ttl:
                yield task.model_copy(update={"ttl": ttl})
