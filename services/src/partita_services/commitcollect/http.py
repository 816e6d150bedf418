"""The API of CommitCollect: its routes and parameters. Browsers call it with their session."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, Final

from fastapi import APIRouter, Body, Depends, Path, Query, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from pydantic import ConfigDict, Field, model_validator

from partita import retry_on_conflict
from partita.change import RecentChanges, changes_after
from partita.errors import PartitaError, VersionConflict
from partita.http import (
    CurrentProjection,
    CurrentState,
    Db,
    FieldPaging,
    FieldProblem,
    HttpProblem,
    IfNoneMatch,
    LastEventId,
    Now,
    Once,
    PartialListing,
    Resources,
    add_personal_routes,
    change_news,
    describe_problems,
    is_not_modified,
    known_parameters,
    news_response,
    once_by,
    refuse_key,
    response_of,
)
from partita.recipes.idempotency import StoredResponse
from partita_services.commitcollect import handlers, live
from partita_services.commitcollect.collectibles.http import ROUTER as MODELS
from partita_services.commitcollect.handlers import (
    Creation,
    MilestoneDraft,
    MilestoneEdit,
    ModelUnavailable,
    NotConnected,
    TooMany,
    WindowInvalid,
)
from partita_services.commitcollect.jobs.announcing import forward_notices
from partita_services.commitcollect.jobs.disconnect import request_disconnect
from partita_services.commitcollect.jobs.erasure import request_deletion
from partita_services.commitcollect.live import UserChanges
from partita_services.commitcollect.model import REQUESTS, latest_workouts
from partita_services.commitcollect.personal import PERSONAL
from partita_services.commitcollect.responses import (
    AccountView,
    AwardView,
    BackfillView,
    Deletion,
    Disconnecting,
    EventView,
    MilestoneView,
    WorkoutView,
)
from partita_services.commitcollect.signin.browser import (
    CurrentCookie,
    CurrentTrace,
    CurrentVisitor,
    as_caller,
    same_site,
)
from partita_services.commitcollect.work import Tools, do_async

ROUTER: Final = APIRouter(
    dependencies=[Depends(same_site), Depends(known_parameters)], responses=describe_problems(403)
)
add_personal_routes(ROUTER, PERSONAL, "commitcollect", caller=as_caller, erase=False)

ROUTER.include_router(MODELS)

MilestoneId = Annotated[str, Path(min_length=1, max_length=64, examples=["01K9ZQ3V7M2Y8R4C6T1XWNB5HD"])]
OnceByVisitor = Annotated[Once, Depends(once_by(REQUESTS, as_caller))]
NO_KEY: Final = Depends(refuse_key)


class AwardQuery(FieldPaging[AwardView]):
    """The query parameters of the list of awards."""

    model_config = ConfigDict(extra="forbid")

    milestone_id: str | None = Field(default=None, min_length=1, max_length=64, description="of this milestone only")


class AuditQuery(FieldPaging[EventView]):
    """The query parameters of the audit trail: all events, one correlation id, or one type in one month."""

    model_config = ConfigDict(extra="forbid")

    correlation_id: str | None = Field(default=None, min_length=1, max_length=64)
    event_type: str | None = Field(default=None, pattern="^[a-z_]{1,40}$", examples=["part_awarded"])
    month: str | None = Field(default=None, pattern="^[0-9]{4}(0[1-9]|1[0-2])$", examples=["202605"])

    @model_validator(mode="after")
    def _is_one_question(self) -> AuditQuery:
        if (self.event_type is None) != (self.month is None):
            raise ValueError("event_type and month must be given together.")
        if self.correlation_id is not None and self.event_type is not None:
            raise ValueError("correlation_id and event_type cannot be combined.")
        return self


@ROUTER.get("/me", responses=describe_problems(404))
async def show_me(visitor: CurrentVisitor, db: Db, now: Now, tools: Resources[Tools]) -> AccountView:
    """The user, the state of the connection to Strava, and the progress of a backfill."""
    settings = tools.application.settings
    account = await db.run(handlers.show_account(visitor.user_id, settings.client_id, now))
    return AccountView.of(account, settings.strava_url)


@ROUTER.delete("/me", status_code=202, dependencies=[NO_KEY])
async def delete_me(
    visitor: CurrentVisitor,
    db: Db,
    tools: Resources[Tools],
    trace: CurrentTrace,
    cookie: CurrentCookie,
    response: Response,
) -> Deletion:
    """Delete the account and everything in it, and end all sessions of the user."""
    await do_async(request_deletion(visitor.user_id, trace), db, tools)
    cookie.clear(response)
    return Deletion()


@ROUTER.delete("/me/connection", status_code=202, dependencies=[NO_KEY], responses=describe_problems(409))
async def disconnect(visitor: CurrentVisitor, db: Db, tools: Resources[Tools], trace: CurrentTrace) -> Disconnecting:
    """Disconnect Strava: workouts are removed, milestones and awards stay. The request is idempotent."""
    if not await do_async(request_disconnect(visitor.user_id, trace), db, tools):
        raise HttpProblem(409, "not_connected", "There is no connection to Strava.")
    return Disconnecting()


@ROUTER.post("/sync", status_code=202, dependencies=[NO_KEY], responses=describe_problems(409))
async def synchronise(visitor: CurrentVisitor, db: Db, tools: Resources[Tools], trace: CurrentTrace) -> BackfillView:
    """Read the last weeks from Strava again, in the background. The request can be repeated."""
    try:
        work = handlers.synchronise(tools.application, visitor.user_id, trace)
        return BackfillView.of(await do_async(work, db, tools))
    except NotConnected as refused:
        raise HttpProblem(409, "not_connected", str(refused), hint="Sign in with Strava again.") from refused


@ROUTER.get("/milestones", responses={304: {"description": "Not modified"}, **describe_problems(400)})
async def list_milestones(
    visitor: CurrentVisitor,
    db: Db,
    now: Now,
    trace: CurrentTrace,
    paging: Annotated[FieldPaging[MilestoneView], Query()],
    response: Response,
    if_none_match: IfNoneMatch = None,
) -> PartialListing[MilestoneView]:
    """The user's milestones with their progress, active ones first."""
    page = await db.run(handlers.list_milestones(visitor.user_id, paging.limit, paging.cursor, now, trace))
    listing = PartialListing.of(page, paging.fields, MilestoneView.of)
    tag = f'"{hashlib.sha256(listing.model_dump_json().encode()).hexdigest()[:32]}"'
    if is_not_modified(if_none_match, tag):
        return Response(status_code=304, headers={"ETag": tag})  # type: ignore[return-value]  # instead of the model
    response.headers["ETag"] = tag
    return listing


@ROUTER.post("/milestones", status_code=201, response_model=MilestoneView, responses=describe_problems(404, 409))
async def create_milestone(
    once: OnceByVisitor,
    visitor: CurrentVisitor,
    db: Db,
    now: Now,
    tools: Resources[Tools],
    trace: CurrentTrace,
    draft: MilestoneDraft,
) -> Response:
    """Commit to a milestone. Parts that earlier workouts have earned are awarded at once."""
    with _problems():
        outcome = await db.run(
            retry_on_conflict(
                lambda: once.command(handlers.add_milestone(visitor.user_id, draft, now), _created),
                when=handlers.is_outdated,
            )
        )
    if outcome.result is not None:
        await db.run(handlers.audit_creation(outcome.result, trace))
    # Also if the response is a replay: the process that handled the first request may have died before this.
    created = MilestoneView.model_validate_json(outcome.response.body)
    await db.run(handlers.after_creation(visitor.user_id, created.milestone_id, now, trace))
    if created.parts_earned:
        with suppress(PartitaError):  # if this fails, a worker does it later
            await do_async(forward_notices(), db, tools)
    return response_of(outcome)


@ROUTER.get("/milestones/{milestone_id}", responses=describe_problems(404))
async def show_milestone(
    visitor: CurrentVisitor, db: Db, now: Now, trace: CurrentTrace, milestone_id: MilestoneId
) -> MilestoneView:
    """One milestone with its progress."""
    return MilestoneView.of(await db.run(handlers.show_milestone(visitor.user_id, milestone_id, now, trace)))


@ROUTER.patch("/milestones/{milestone_id}", dependencies=[NO_KEY], responses=describe_problems(404, 409))
async def edit_milestone(
    visitor: CurrentVisitor,
    db: Db,
    now: Now,
    trace: CurrentTrace,
    milestone_id: MilestoneId,
    edit: Annotated[MilestoneEdit, Body()],
) -> MilestoneView:
    """Change an active milestone, or cancel it; 409 with `current_version` if the version differs."""
    with _problems():
        work = handlers.edit_milestone(visitor.user_id, milestone_id, edit, now, trace)
        return MilestoneView.of(await db.run(work))


@ROUTER.get("/stream", response_class=StreamingResponse, responses=live.STREAM)
async def stream_changes(
    state: CurrentState[Tools],
    visitor: CurrentVisitor,
    db: Db,
    projection: CurrentProjection[UserChanges],
    last_event_id: LastEventId = None,
) -> StreamingResponse:
    """Server-sent events about changes of the user's data. The stream ends with the session."""

    async def changes_since(after: int | None) -> RecentChanges:
        return await run_in_threadpool(changes_after, projection.sink, after, [visitor.user_id])

    is_valid = live.session_check(db, visitor.session_id)
    return news_response(change_news(changes_since, live.user_news, last_event_id, is_valid, state.stopping))


@ROUTER.get("/workouts", responses=describe_problems(400))
async def list_workouts(
    visitor: CurrentVisitor, db: Db, paging: Annotated[FieldPaging[WorkoutView], Query()]
) -> PartialListing[WorkoutView]:
    """The user's workouts, newest first."""
    page = await db.run(latest_workouts(visitor.user_id).page(paging.limit, after=paging.cursor))
    return PartialListing.of(page, paging.fields, WorkoutView.of)


@ROUTER.get("/awards", responses=describe_problems(400))
async def list_awards(
    visitor: CurrentVisitor, db: Db, wanted: Annotated[AwardQuery, Query()]
) -> PartialListing[AwardView]:
    """The earned parts, by milestone."""
    awards = handlers.list_awards(visitor.user_id, wanted.milestone_id)
    page = await db.run(awards.page(wanted.limit, after=wanted.cursor))
    return PartialListing.of(page, wanted.fields, AwardView.of)


@ROUTER.get("/audit", responses=describe_problems(400))
async def list_events(
    visitor: CurrentVisitor, db: Db, wanted: Annotated[AuditQuery, Query()]
) -> PartialListing[EventView]:
    """The user's audit trail, newest first."""
    events = handlers.list_events(visitor.user_id, wanted.correlation_id, wanted.event_type, wanted.month)
    page = await db.run(events.page(wanted.limit, after=wanted.cursor))
    return PartialListing.of(page, wanted.fields, EventView.of)


def _created(created: Creation) -> StoredResponse:
    view = MilestoneView.of(created)
    return StoredResponse.of(
        view, status=201, headers={"Location": f"/commitcollect/api/milestones/{view.milestone_id}"}
    )


@contextmanager
def _problems() -> Iterator[None]:
    """Turn errors of the handlers into problems."""
    try:
        yield
    except VersionConflict as conflict:
        members = {"current_version": conflict.current.version}
        hint = "Read the milestone again, and repeat the change with its current version."
        raise HttpProblem(409, conflict.code, conflict.message, hint=hint, members=members) from conflict
    except TooMany as refused:
        raise HttpProblem(409, "too_many_milestones", str(refused)) from refused
    except (WindowInvalid, ModelUnavailable) as refused:
        field = "ends_on" if isinstance(refused, WindowInvalid) else "model_id"
        problem = FieldProblem(location="body", field=field, message=str(refused))
        detail = f"{problem.field}: {problem.message}"
        raise HttpProblem(422, "invalid_request", detail, members={"errors": [problem]}) from refused
