"""Live changes of a user's tasks, as server-sent events that a reader can resume where it stopped."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from pydantic import BaseModel

from partita.http import NewsEvent, describe_news
from partita_services.todo.model import Task

Read = Callable[[Sequence[str]], Awaitable[Sequence[Task]]]
"""Reads the tasks with these identifiers; deleted tasks are omitted."""

STREAM: Final[dict[int | str, dict[str, Any]]] = describe_news(
    "`task` the current state of a changed task, null if it was deleted", "task"
)


class TaskNews(BaseModel):
    """A task that was written or deleted."""

    task_id: str
    task: Task | None


async def task_news(task_ids: Sequence[str], read: Read) -> Sequence[NewsEvent]:
    """The current state of tasks, including those that were deleted."""
    tasks = {task.task_id: task for task in await read(task_ids)}
    news = (TaskNews(task_id=task_id, task=tasks.get(task_id)) for task_id in task_ids)
    return [NewsEvent("task", each.model_dump_json()) for each in news]
