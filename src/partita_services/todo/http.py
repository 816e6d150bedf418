"""The To-Do API: from HTTP to the handlers and back."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Body, Path, Query, Request, Response

from partita.http import CurrentCaller, Db, IfMatch, Listing, Now, Paging, describe_problems, etag, precondition
from partita_services.todo import handlers
from partita_services.todo.handlers import Profile, TaskChange, TaskDraft, TaskFilter
from partita_services.todo.model import Task, User

ROUTER: Final = APIRouter()

TaskId = Annotated[str, Path(max_length=64, examples=["01K9ZQ3V7M2Y8R4C6T1XWNB5HD"])]


class TaskQuery(TaskFilter, Paging):
    """Which tasks, and which page of them."""


@ROUTER.get("/me", responses=describe_problems(404))
async def show_me(caller: CurrentCaller, db: Db) -> User:
    """The caller's profile."""
    return await db.run(handlers.show_user(caller.user_id))


@ROUTER.put("/me", responses={201: {"model": User, "description": "The profile is new."}})
async def write_me(caller: CurrentCaller, db: Db, now: Now, profile: Profile, response: Response) -> User:
    """Write the caller's profile."""
    user = await db.run(handlers.write_user(caller.user_id, profile, now))
    response.status_code = 201 if user.version == 1 else 200
    return user


@ROUTER.post("/tasks", status_code=201)
async def create_task(
    caller: CurrentCaller, db: Db, now: Now, draft: TaskDraft, request: Request, response: Response
) -> Task:
    """Create a task."""
    task = await db.run(handlers.add_task(caller.user_id, draft, now))
    response.headers["Location"] = f"{request.scope['root_path']}/tasks/{task.task_id}"
    response.headers["ETag"] = etag(task.version)
    return task


@ROUTER.get("/tasks", responses=describe_problems(400))
async def list_tasks(caller: CurrentCaller, db: Db, wanted: Annotated[TaskQuery, Query()]) -> Listing[Task]:
    """The caller's tasks, by any combination of filters."""
    tasks = handlers.find_tasks(caller.user_id, wanted)
    return Listing.of(await db.run(tasks.page(wanted.limit, after=wanted.cursor)))


@ROUTER.get("/tasks/{task_id}", responses=describe_problems(404))
async def show_task(caller: CurrentCaller, db: Db, task_id: TaskId, response: Response) -> Task:
    """One task."""
    task = await db.run(handlers.show_task(caller.user_id, task_id))
    response.headers["ETag"] = etag(task.version)
    return task


@ROUTER.patch("/tasks/{task_id}", responses=describe_problems(404, 409, 412))
async def change_task(
    caller: CurrentCaller,
    db: Db,
    now: Now,
    task_id: TaskId,
    change: Annotated[TaskChange, Body()],
    only: IfMatch,
    response: Response,
) -> Task:
    """Change some fields of a task; null clears a field, and what is left out stays."""
    with precondition(only):
        task = await db.run(handlers.change_task(caller.user_id, task_id, change, now, only))
    response.headers["ETag"] = etag(task.version)
    return task


@ROUTER.delete("/tasks/{task_id}", status_code=204, response_class=Response, responses=describe_problems(404, 412))
async def delete_task(caller: CurrentCaller, db: Db, task_id: TaskId, only: IfMatch) -> None:
    """Delete a task."""
    with precondition(only):
        await db.run(handlers.remove_task(caller.user_id, task_id, only))
