"""Live changes: what became of a user's tasks, as server-sent events that a reader goes on with where it was."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Final

from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel

from partita_services.todo.model import Task
from partita_services.todo.projection import ChangeLog, TaskProjection

EVERY_SECONDS: Final = 0.5
SILENT_LOOKS: Final = 30
"""After so many looks without news a comment is sent, so that no proxy on the way closes the connection."""
MEDIA_TYPE: Final = "text/event-stream"

Read = Callable[[Sequence[str]], Awaitable[Sequence[Task]]]
"""Reads the tasks with these identifiers; those that are gone are left out."""

STREAM: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": (
            "Server-sent events. `ready` says from where on changes are sent, `task` that one has changed, null if it "
            "is gone, and `reset` that more has changed than is remembered: read the lists again."
        ),
        "content": {
            MEDIA_TYPE: {
                "schema": {
                    "type": "object",
                    "properties": {
                        "event": {"type": "string", "enum": ["ready", "task", "reset"]},
                        "id": {"type": "string"},
                        "data": {"type": "string", "contentMediaType": "application/json"},
                    },
                    "required": ["data"],
                }
            }
        },
    }
}


class TaskNews(BaseModel):
    """A task that was written or deleted."""

    task_id: str
    task: Task | None


async def task_news(
    user_id: str,
    projection: TaskProjection,
    read: Read,
    last: int | None,
    is_valid: Callable[[], Awaitable[bool]],
    stopping: threading.Event,
) -> AsyncIterator[str]:
    """What has changed after `last`, or from now on. It ends with the token of who asked, or with the server."""
    seen = await run_in_threadpool(projection.changes_after, user_id, last)
    yield _event("ready" if last is None else "reset" if seen.is_forgotten else "ready", seen.number)
    after, silent = last if last is not None and not seen.is_forgotten else seen.number, 0
    while not stopping.is_set() and await is_valid():
        seen = await run_in_threadpool(projection.changes_after, user_id, after)
        async for text in _told(seen, read):
            yield text
        silent = 0 if seen.task_ids else silent + 1
        after = seen.number
        if silent >= SILENT_LOOKS:
            silent = 0
            yield ": still here\n\n"
        await asyncio.sleep(EVERY_SECONDS)


async def _told(seen: ChangeLog, read: Read) -> AsyncIterator[str]:
    if seen.is_forgotten:
        yield _event("reset", seen.number)
    elif seen.task_ids:
        tasks = {task.task_id: task for task in await read(seen.task_ids)}
        for task_id in seen.task_ids:
            news = TaskNews(task_id=task_id, task=tasks.get(task_id))
            yield _event("task", seen.number, news.model_dump_json())


def _event(name: str, number: int, data: str = "{}") -> str:
    return f"event: {name}\nid: {number}\ndata: {data}\n\n"
