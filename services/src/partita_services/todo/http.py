"""The To-Do API: from HTTP to the handlers and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final

from fastapi import APIRouter, Body, Depends, Header, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from partita import Procedure
from partita.change import RecentChanges, changes_after
from partita.http import (
    CurrentCaller,
    CurrentProjection,
    CurrentState,
    Db,
    FieldPaging,
    IfMatch,
    IfNoneMatch,
    LagView,
    LastEventId,
    NewsEvent,
    Now,
    Once,
    PartialListing,
    TokenCheck,
    add_personal_routes,
    change_news,
    describe_problems,
    etag,
    is_not_modified,
    known_parameters,
    news_response,
    once_by,
    operators_only,
    precondition_problems,
    refuse_key,
    response_of,
)
from partita.recipes.idempotency import CommandOutcome, Plan, StoredResponse
from partita_services.todo import handlers, live
from partita_services.todo.bulk import Deletion, TaskResult, change_status, delete_completed
from partita_services.todo.changes import TaskChange, TaskDraft
from partita_services.todo.filters import TaskFilter, Zone, find_tasks, served_by, today_in
from partita_services.todo.handlers import Profile
from partita_services.todo.model import REQUESTS, Status, Task, User
from partita_services.todo.personal import PERSONAL
from partita_services.todo.projection import Counts, TaskProjection
from partita_services.todo.search import MAX_FOUND
from partita_services.todo.settings import keep_completed

ROUTER: Final = APIRouter(dependencies=[Depends(known_parameters)])
add_personal_routes(ROUTER, PERSONAL, "todo")

_IDENTIFIER: Final = "01K9ZQ3V7M2Y8R4C6T1XWNB5HD"
MAX_BULK: Final = 100

TaskId = Annotated[str, Path(max_length=64, examples=[_IDENTIFIER])]
TimeZone = Annotated[
    Zone | SkipJsonSchema[None], Header(alias="X-Time-Zone", description="the caller's, which determines the day")
]


async def _keep() -> int | None:
    return keep_completed()


Keep = Annotated[int | None, Depends(_keep)]
OnceByCaller = Annotated[Once, Depends(once_by(REQUESTS))]


class TaskQuery(TaskFilter, FieldPaging[Task]):
    """The filters of a list of tasks, and the page."""

    time_zone: Zone | None = Field(default=None, description="instead of the header `X-Time-Zone`; the default is UTC")


class TaskListing(PartialListing[Task]):
    """One page of tasks."""

    served_by: str = Field(description="the index that the tasks were read from, or `table`", examples=["GSI1"])


class SearchQuery(FieldPaging[Task]):
    """The words to search for, and the page of the results."""

    model_config = ConfigDict(extra="forbid")

    q: str = Field(max_length=200, description="words, all of which a task must have; the last one may be a prefix")


class SearchListing(PartialListing[Task]):
    """One page of the tasks that a search found, best first."""

    complete: bool = Field(
        description=f"whether all matches are found; of more than {MAX_FOUND:,}, only the last changed are"
    )
    lag: LagView


class CountsQuery(BaseModel):
    """Whose tasks to count."""

    model_config = ConfigDict(extra="forbid")

    all_users: bool = Field(default=False, description="count the tasks of all users; for operators only")


class CurrentCounts(Counts):
    """The counts, and how far they lag behind the table."""

    lag: LagView


class StatusChange(BaseModel):
    """A status for many tasks."""

    model_config = ConfigDict(extra="forbid")

    task_ids: list[Annotated[str, Field(min_length=1, max_length=64)]] = Field(
        min_length=1, max_length=MAX_BULK, examples=[[_IDENTIFIER]]
    )
    status: Status


class BulkResult(BaseModel):
    """The outcome for each task."""

    results: list[TaskResult]


@ROUTER.get("/me", responses=describe_problems(404))
async def show_me(caller: CurrentCaller, db: Db) -> User:
    """The caller's profile."""
    return await db.run(handlers.show_user(caller.user_id))


@ROUTER.put(
    "/me",
    dependencies=[Depends(refuse_key)],
    responses={201: {"model": User, "description": "The profile is new."}, **describe_problems(409)},
)
async def write_me(caller: CurrentCaller, db: Db, now: Now, profile: Profile, response: Response) -> User:
    """Write the caller's profile. The response is 409 if another user has the email."""
    user = await db.run(handlers.write_user(caller.user_id, profile, now))
    response.status_code = 201 if user.version == 1 else 200
    return user


@ROUTER.post("/tasks", status_code=201, response_model=Task, responses=describe_problems(409))
async def create_task(
    once: OnceByCaller, caller: CurrentCaller, now: Now, keep: Keep, draft: TaskDraft, request: Request
) -> Response:
    """Create a task."""
    root = request.scope["root_path"]

    def created(task: Task) -> StoredResponse:
        headers = {"Location": f"{root}/tasks/{task.task_id}", "ETag": etag(task.version)}
        return StoredResponse.of(task, status=201, headers=headers)

    return await once(handlers.add_task(caller.user_id, draft, now, keep), created)


@ROUTER.get("/tasks", responses=describe_problems(400))
async def list_tasks(
    caller: CurrentCaller, db: Db, now: Now, wanted: Annotated[TaskQuery, Query()], zone: TimeZone = None
) -> TaskListing:
    """The caller's tasks, by any combination of filters."""
    today = today_in(wanted.time_zone or zone, now)
    tasks = find_tasks(caller.user_id, wanted, today)
    page = await db.run(wanted.fields.narrow(tasks).page(wanted.limit, after=wanted.cursor))
    shown = wanted.fields.show(page.items)
    return TaskListing(items=shown, next_cursor=page.next_cursor, served_by=served_by(tasks))


@ROUTER.get("/tasks/search", responses=describe_problems(400))
async def search_tasks(
    caller: CurrentCaller,
    db: Db,
    projection: CurrentProjection[TaskProjection],
    wanted: Annotated[SearchQuery, Query()],
) -> SearchListing:
    """The caller's tasks that have all the words in title or description, best first."""
    search, cursors = f"search|{caller.user_id}|{wanted.q}", db.context.cursors
    offset = cursors.open(wanted.cursor, search)["offset"] if wanted.cursor is not None else 0
    lag = await LagView.of(projection)
    found = await run_in_threadpool(projection.sink.search, caller.user_id, wanted.q, wanted.limit + 1, offset)
    tasks = await db.run(handlers.show_tasks(caller.user_id, found.task_ids[: wanted.limit]))
    more = cursors.seal({"offset": offset + wanted.limit}, search) if len(found.task_ids) > wanted.limit else None
    return SearchListing(items=wanted.fields.show(tasks), next_cursor=more, complete=found.complete, lag=lag)


@ROUTER.get("/tasks/counts", responses=describe_problems(403))
async def count_tasks(
    caller: CurrentCaller, projection: CurrentProjection[TaskProjection], wanted: Annotated[CountsQuery, Query()]
) -> CurrentCounts:
    """How many tasks the caller has, by status and by priority; operators can count the tasks of all users."""
    if wanted.all_users:
        operators_only(caller)
    lag = await LagView.of(projection)
    counts = await run_in_threadpool(projection.sink.counts, None if wanted.all_users else caller.user_id)
    return CurrentCounts(**counts.model_dump(), lag=lag)


@ROUTER.post("/tasks/bulk/status", dependencies=[Depends(refuse_key)])
async def change_status_of_many(
    caller: CurrentCaller, db: Db, now: Now, keep: Keep, change: StatusChange
) -> BulkResult:
    """Give many tasks the same status, and return the outcome for each. Repeating the call is harmless."""
    work = change_status(caller.user_id, change.task_ids, change.status, now, keep=keep)
    return BulkResult(results=await db.run(work))


@ROUTER.post("/tasks/bulk/delete-completed", dependencies=[Depends(refuse_key)])
async def delete_completed_tasks(caller: CurrentCaller, db: Db) -> Deletion:
    """Delete the caller's completed tasks, up to 1,000 in one call. Repeating the call is harmless."""
    return await db.run(delete_completed(caller.user_id))


@ROUTER.get("/tasks/stream", response_class=StreamingResponse, responses=live.STREAM)
async def stream_tasks(
    state: CurrentState[Any],
    caller: CurrentCaller,
    db: Db,
    projection: CurrentProjection[TaskProjection],
    is_valid: TokenCheck,
    last_event_id: LastEventId = None,
) -> StreamingResponse:
    """The caller's tasks as server-sent events, whenever one is written or deleted, until the token expires."""

    async def changes_since(after: int | None) -> RecentChanges:
        return await run_in_threadpool(changes_after, projection.sink, after, [caller.user_id])

    async def events_of(task_ids: Sequence[str]) -> Sequence[NewsEvent]:
        return await live.task_news(task_ids, lambda ids: db.run(handlers.show_tasks(caller.user_id, ids)))

    return news_response(change_news(changes_since, events_of, last_event_id, is_valid, state.stopping))


@ROUTER.get(
    "/tasks/{task_id}",
    responses={304: {"description": "The client already has this version"}, **describe_problems(404)},
)
async def show_task(
    caller: CurrentCaller, db: Db, task_id: TaskId, response: Response, if_none_match: IfNoneMatch = None
) -> Task:
    """One task."""
    task = await db.run(handlers.show_task(caller.user_id, task_id))
    tag = etag(task.version)
    if is_not_modified(if_none_match, tag):
        return Response(status_code=304, headers={"ETag": tag})  # type: ignore[return-value]  # instead of the model
    response.headers["ETag"] = tag
    return task


@ROUTER.patch("/tasks/{task_id}", response_model=Task, responses=describe_problems(404, 409, 412))
async def change_task(
    once: OnceByCaller,
    caller: CurrentCaller,
    db: Db,
    now: Now,
    keep: Keep,
    task_id: TaskId,
    change: Annotated[TaskChange, Body()],
    only: IfMatch,
) -> Response:
    """Change some fields of a task; null clears a field, and a field that is left out stays."""

    def commit(plan: Procedure[Plan[Task]]) -> Procedure[CommandOutcome[Task]]:
        return once.command(plan, _changed)

    with precondition_problems(only):
        work = handlers.change_task_by(commit, caller.user_id, task_id, change, now, only, keep=keep)
        return response_of(await db.run(work))


@ROUTER.delete("/tasks/{task_id}", status_code=204, response_class=Response, responses=describe_problems(404, 409, 412))
async def delete_task(once: OnceByCaller, caller: CurrentCaller, task_id: TaskId, only: IfMatch) -> Response:
    """Delete a task."""
    with precondition_problems(only):
        return await once(handlers.remove_task(caller.user_id, task_id, only), lambda _: StoredResponse(204))


def _changed(task: Task) -> StoredResponse:
    return StoredResponse.of(task, headers={"ETag": etag(task.version)})
