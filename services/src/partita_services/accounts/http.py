"""The Accounts API: its routes, parameters and responses. Only the owner and users with a grant reach an account."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Final, Literal, TypeVar

from fastapi import APIRouter, Depends, Header, Path, Request, Response
from fastapi import Query as QueryParameters
from fastapi.exceptions import RequestValidationError
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from partita import AsyncSession, Procedure, Query, new_ulid, retry_on_conflict
from partita.errors import AlreadyExists, ConditionFailed, ItemMissing
from partita.http import (
    CurrentCaller,
    CurrentProjection,
    CurrentState,
    Db,
    FieldPaging,
    HttpProblem,
    LastEventId,
    Once,
    PartialListing,
    Role,
    TokenCheck,
    add_personal_routes,
    change_news,
    describe_problems,
    etag,
    known_parameters,
    news_response,
    once_by,
    refuse_key,
    response_of,
)
from partita.recipes.idempotency import Plan, StoredResponse, run_plan
from partita.recipes.texts import VisibleText
from partita.recipes.versioned import Versioned
from partita_services.accounts import handlers, live, movements, statements
from partita_services.accounts.access import PERSONAL, Actor, NotAllowed, reach, reach_with_right
from partita_services.accounts.handlers import AccountContent, AccountDraft, GrantDraft
from partita_services.accounts.live import AccountChanges
from partita_services.accounts.model import (
    REQUESTS,
    Account,
    AccountData,
    AccountId,
    Entry,
    Month,
    UserId,
    accounts_of,
    latest_entries,
    versions_of,
)
from partita_services.accounts.movements import Movement, Occasion, TransferOrder
from partita_services.accounts.responses import (
    AccountSummary,
    AccountView,
    EntryView,
    GrantView,
    ReachedAccount,
    StatementCsv,
    Statements,
    StatementView,
    VersionView,
    describe_conflict,
)

R = TypeVar("R")

ROUTER: Final = APIRouter(dependencies=[Depends(known_parameters)])

add_personal_routes(ROUTER, PERSONAL, "accounts")

CSV_PAGE: Final = 1_000

AccountPath = Annotated[AccountId, Path(examples=["acc-1001"])]
MonthPath = Annotated[Month, Path(examples=["2026-05"])]
UserPath = Annotated[UserId, Path(examples=["bob"])]
NewUserPath = Annotated[UserId, VisibleText(), Path(examples=["bob"])]
OnceByCaller = Annotated[Once, Depends(once_by(REQUESTS))]
NO_KEY: Final = Depends(refuse_key)

_ETAG: Final = r'^("[0-9]{1,16}"|[0-9]{1,16})$'
IF_MATCH: Final = {
    "name": "If-Match",
    "in": "header",
    "required": True,
    "description": "The `ETag` of the account that you have read, or its `last_write`. If missing, the status is 428.",
    "schema": {"type": "string", "pattern": _ETAG},
    "example": '"1767268800000"',
}
"""For the OpenAPI description only. FastAPI treats the header as optional, because its absence is 428, not 422."""


def _last_write(if_match: Annotated[str | None, Header(include_in_schema=False)] = None) -> int:
    if if_match is None:
        hint = "Read the account, and send its ETag in If-Match."
        raise HttpProblem(428, "precondition_required", "The request has no If-Match header.", hint=hint)
    if re.fullmatch(_ETAG, if_match) is None:
        why = "this is neither the ETag of an account nor its last_write"
        raise RequestValidationError([{"type": "etag", "loc": ("header", "if-match"), "msg": why}])
    return int(if_match.strip('"'))


async def _actor(caller: CurrentCaller) -> Actor:
    return Actor(caller.user_id, is_operator=caller.role is Role.OPERATOR)


async def _occasion(actor: CurrentActor, db: Db) -> Occasion:
    return Occasion(actor, db.context.clock(), new_ulid())


CurrentActor = Annotated[Actor, Depends(_actor)]
CurrentOccasion = Annotated[Occasion, Depends(_occasion)]
LastWrite = Annotated[int, Depends(_last_write)]
"""The version that a request changes; 428 if the request does not name one."""


class ReadOptions(BaseModel):
    """The query parameters of reading an account."""

    consistent: bool = Field(default=False, description="use a strongly consistent read, which sees the last write")


class AccountsQuery(FieldPaging[AccountSummary]):
    """The query parameters of the list of accounts."""

    shared: bool = Field(default=False, description="list the accounts of others that the caller may see or use")
    owner: UserId | None = Field(
        default=None, examples=["ada"], description="list the accounts of this user; for operators only"
    )


class EntriesQuery(FieldPaging[EntryView]):
    """The query parameters of the list of entries."""

    month: Month | None = Field(
        default=None, examples=["2026-05"], description="only this month, oldest first; without it, newest first"
    )
    order: Literal["oldest", "newest"] | None = Field(default=None, description="overrides the order")


@ROUTER.get("/accounts", responses=describe_problems(400, 403))
async def list_accounts(
    actor: CurrentActor, db: Db, wanted: Annotated[AccountsQuery, QueryParameters()]
) -> PartialListing[AccountSummary]:
    """The caller's own accounts by key, or the accounts of others that the caller may see."""
    owner = wanted.owner or actor.user_id
    if owner != actor.user_id and not actor.is_operator:
        raise HttpProblem(403, "forbidden", "Only operators may list the accounts of others.")
    if wanted.shared:
        page = await db.run(handlers.shared_accounts(owner, wanted.limit, wanted.cursor))
    else:
        own = wanted.fields.narrow(accounts_of(owner))
        page = await db.run(own.page(wanted.limit, after=wanted.cursor))
    return PartialListing.of(page, wanted.fields, AccountSummary.of)


@ROUTER.post(
    "/accounts", status_code=201, response_model=AccountView, responses=describe_problems(403) | describe_conflict()
)
async def open_account(
    once: OnceByCaller, occasion: CurrentOccasion, request: Request, draft: AccountDraft
) -> Response:
    """Open an account. The status is 409 if the key is taken, with the current account if the caller owns it."""

    def opened(account: Account) -> StoredResponse:
        location = f"{request.scope['root_path']}/accounts/{account.data.pk}"
        return _response(account, status=201, Location=location)

    with _problems(occasion.actor):
        return await once(handlers.add_account(draft, occasion), opened)


@ROUTER.get("/stream", response_class=StreamingResponse, responses=live.STREAM)
async def stream_accounts(
    state: CurrentState[Any],
    actor: CurrentActor,
    db: Db,
    projection: CurrentProjection[AccountChanges],
    is_valid: TokenCheck,
    last_event_id: LastEventId = None,
) -> StreamingResponse:
    """Server-sent events about changed accounts that the caller may see. The stream ends when the token expires."""
    listener = live.Listener(actor, projection.sink, db)
    news = change_news(listener.changes_since, listener.events_of, last_event_id, is_valid, state.stopping)
    return news_response(news)


@ROUTER.get("/accounts/{pk}", responses=describe_problems(404))
async def show_account(
    actor: CurrentActor, db: Db, pk: AccountPath, options: Annotated[ReadOptions, QueryParameters()], response: Response
) -> ReachedAccount:
    """One account, with its `ETag` and what the caller may do with it."""
    account, right = await db.run(reach_with_right(actor, pk, consistent=options.consistent))
    response.headers["ETag"] = etag(account.last_write)
    return ReachedAccount.reached(account, right)


@ROUTER.put(
    "/accounts/{pk}",
    dependencies=[NO_KEY],
    responses=describe_problems(403, 404, 428) | describe_conflict(),
    openapi_extra={"parameters": [IF_MATCH]},
)
async def replace_account(
    occasion: CurrentOccasion,
    db: Db,
    pk: AccountPath,
    content: AccountContent,
    last_write: LastWrite,
    response: Response,
) -> AccountView:
    """Replace the version of an account that you have read; 409 with the current account if it has changed since."""
    with _problems(occasion.actor):
        account = await db.run(run_plan(handlers.replace_account(pk, content, last_write, occasion)))
    response.headers["ETag"] = etag(account.last_write)
    return AccountView.of(account)


@ROUTER.delete(
    "/accounts/{pk}",
    status_code=204,
    dependencies=[NO_KEY],
    responses=describe_problems(403, 404, 428) | describe_conflict(),
    openapi_extra={"parameters": [IF_MATCH]},
)
async def remove_account(occasion: CurrentOccasion, db: Db, pk: AccountPath, last_write: LastWrite) -> None:
    """Close the version of an account that you have read; 409 with the current account if it has changed since."""
    with _problems(occasion.actor):
        await db.run(run_plan(handlers.remove_account(pk, last_write, occasion)))


MOVEMENT: Final = describe_problems(403, 404) | describe_conflict()


@ROUTER.post("/accounts/{pk}/deposit", status_code=201, response_model=EntryView, responses=MOVEMENT)
async def deposit(
    once: OnceByCaller, occasion: CurrentOccasion, db: Db, pk: AccountPath, movement: Movement
) -> Response:
    """Add money to an account, and return the ledger entry."""
    return await _entered_once(once, db, occasion, lambda: movements.deposit(pk, movement, occasion))


@ROUTER.post("/accounts/{pk}/withdraw", status_code=201, response_model=EntryView, responses=MOVEMENT)
async def withdraw(
    once: OnceByCaller, occasion: CurrentOccasion, db: Db, pk: AccountPath, movement: Movement
) -> Response:
    """Withdraw money from an account, and return the ledger entry; 409 without a change if the balance is too low."""
    return await _entered_once(once, db, occasion, lambda: movements.withdraw(pk, movement, occasion))


@ROUTER.post("/transfers", status_code=201, response_model=EntryView, responses=MOVEMENT)
async def transfer(once: OnceByCaller, occasion: CurrentOccasion, db: Db, order: TransferOrder) -> Response:
    """Move money from the caller's account to any other: both change, or neither. Returns the entry of the first."""
    return await _entered_once(once, db, occasion, lambda: movements.transfer(order, occasion))


@ROUTER.get("/accounts/{pk}/entries", responses=describe_problems(400, 404))
async def list_entries(
    actor: CurrentActor, db: Db, pk: AccountPath, wanted: Annotated[EntriesQuery, QueryParameters()]
) -> PartialListing[EntryView]:
    """The entries of an account's ledger, newest first, or the entries of a month."""
    data = (await db.run(reach(actor, pk, consistent=False))).data
    found, usual = _entries(data, wanted.month)
    found = found if wanted.order in (None, usual) else found.reversed()
    page = await db.run(wanted.fields.narrow(found).page(wanted.limit, after=wanted.cursor))
    return PartialListing.of(page, wanted.fields, EntryView.of)


@ROUTER.get("/accounts/{pk}/statements", responses=describe_problems(404))
async def list_statements(actor: CurrentActor, db: Db, pk: AccountPath) -> Statements:
    """The statements of all months in which money moved, newest first."""
    account = await db.run(reach(actor, pk, consistent=False))
    found = await db.run(statements.statements(account.data))
    return Statements(items=tuple(map(StatementView.of, found)))


@ROUTER.get(
    "/accounts/{pk}/statements/{month}.csv",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}, **describe_problems(404)},
)
async def export_statement(actor: CurrentActor, db: Db, pk: AccountPath, month: MonthPath) -> StreamingResponse:
    """The entries of a month as CSV, oldest first, with the balance after each."""
    account = (await db.run(reach(actor, pk, consistent=False))).data
    table = StatementCsv((await db.run(statements.statement(account, month))).opening)

    async def lines() -> AsyncIterator[str]:
        yield table.header()
        cursor, is_first = None, True
        while is_first or cursor is not None:
            page = await db.run(statements.entries_of(account, month).page(CSV_PAGE, after=cursor))
            yield table.lines(page)
            cursor, is_first = page.next_cursor, False

    headers = {"Content-Disposition": f'attachment; filename="{pk}-{month}.csv"'}
    return StreamingResponse(lines(), headers=headers, media_type="text/csv")


@ROUTER.get("/accounts/{pk}/statements/{month}", responses=describe_problems(404))
async def show_statement(actor: CurrentActor, db: Db, pk: AccountPath, month: MonthPath) -> StatementView:
    """The statement of a month; `GET /accounts/{pk}/entries?month=` has its entries."""
    account = await db.run(reach(actor, pk, consistent=False))
    return StatementView.of(await db.run(statements.statement(account.data, month)))


@ROUTER.get("/accounts/{pk}/versions", responses=describe_problems(400, 404))
async def list_versions(
    actor: CurrentActor, db: Db, pk: AccountPath, wanted: Annotated[FieldPaging[VersionView], QueryParameters()]
) -> PartialListing[VersionView]:
    """The versions of an account, newest first, and who wrote each. Movements of money are entries instead."""
    account = await db.run(reach(actor, pk, consistent=False))
    found = wanted.fields.narrow(versions_of(*account.data.ledger))
    return PartialListing.of(await db.run(found.page(wanted.limit, after=wanted.cursor)), wanted.fields, VersionView.of)


@ROUTER.get("/accounts/{pk}/grants", responses=describe_problems(400, 403, 404))
async def list_grants(
    actor: CurrentActor, db: Db, pk: AccountPath, wanted: Annotated[FieldPaging[GrantView], QueryParameters()]
) -> PartialListing[GrantView]:
    """The users who may see or use the caller's account."""
    with _problems(actor):
        page = await db.run(handlers.list_grants(pk, actor, wanted.limit, wanted.cursor))
    return PartialListing.of(page, wanted.fields, GrantView.of)


@ROUTER.put("/accounts/{pk}/grants/{user_id}", dependencies=[NO_KEY], responses=describe_problems(403, 404))
async def grant_access(
    occasion: CurrentOccasion, db: Db, pk: AccountPath, user_id: NewUserPath, draft: GrantDraft
) -> GrantView:
    """Let another user see or use the caller's account. The request is idempotent."""
    with _problems(occasion.actor):
        return GrantView.of(await db.run(handlers.grant_access(pk, user_id, draft, occasion)))


@ROUTER.delete(
    "/accounts/{pk}/grants/{user_id}", status_code=204, dependencies=[NO_KEY], responses=describe_problems(403, 404)
)
async def revoke_access(actor: CurrentActor, db: Db, pk: AccountPath, user_id: UserPath) -> None:
    """Revoke a user's grant on the caller's account, or give up the caller's own grant."""
    with _problems(actor):
        await db.run(handlers.revoke_access(pk, user_id, actor))


def _entries(data: AccountData, month: str | None) -> tuple[Query[Entry], str]:
    """The query for the entries of a ledger or of a month, and its order."""
    if month is None:
        return latest_entries(*data.ledger), "newest"
    return statements.entries_of(data, month), "oldest"


async def _entered_once(
    once: Once, db: AsyncSession, occasion: Occasion, plan: Callable[[], Procedure[Plan[Entry]]]
) -> Response:
    """Run a plan once per idempotency key. It is planned again if another writer was faster."""

    def entered(entry: Entry) -> StoredResponse:
        return StoredResponse.of(EntryView.of(entry), status=201)

    with _problems(occasion.actor):
        return response_of(await db.run(retry_on_conflict(lambda: once.command(plan(), entered))))


def _response(account: Account, status: int = 200, **headers: str) -> StoredResponse:
    return StoredResponse.of(
        AccountView.of(account), status=status, headers={"ETag": etag(account.last_write), **headers}
    )


@contextmanager
def _problems(actor: Actor) -> Iterator[None]:
    """Turn errors into problems. That of a conflict contains the current account, if the caller may see it."""
    try:
        yield
    except NotAllowed as error:
        raise HttpProblem(403, error.code, error.message, hint=error.hint or None) from error
    except ItemMissing:
        raise
    except ConditionFailed as error:
        members: dict[str, Any] = {}
        current = error.current
        is_shown = isinstance(current, Versioned) and (not isinstance(error, AlreadyExists) or _owns(actor, current))
        if is_shown:
            members["current"] = AccountView.of(current).model_dump()
        detail = "There is already an account with this key." if isinstance(error, AlreadyExists) else error.message
        raise HttpProblem(409, error.code, detail, hint=error.hint or None, members=members) from error


def _owns(actor: Actor, account: Account) -> bool:
    return actor.is_operator or account.data.owner == actor.user_id
