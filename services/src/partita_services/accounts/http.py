"""The Accounts API: from HTTP to the handlers and back. Any authenticated caller may use every account."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Final, Self, TypeVar

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from partita import AsyncSession, Procedure, retry_on_conflict
from partita.errors import ConditionFailed, ItemMissing
from partita.http import CurrentCaller, Db, HttpProblem, Once, describe_problems, etag, once_by, response_of
from partita.recipes.idempotency import Plan, StoredResponse
from partita.recipes.versioned import Versioned
from partita_services.accounts import handlers
from partita_services.accounts.handlers import AccountContent, AccountDraft, Movement, Transfer, TransferOrder
from partita_services.accounts.model import REQUESTS, Account, AccountId

R = TypeVar("R")

ROUTER: Final = APIRouter()

AccountPath = Annotated[AccountId, Path(examples=["acc-1001"])]
OnceByCaller = Annotated[Once, Depends(once_by(REQUESTS))]


_ETAG: Final = r'^("[0-9]{1,16}"|[0-9]{1,16})$'
IF_MATCH: Final = {
    "name": "If-Match",
    "in": "header",
    "required": True,
    "description": "The `ETag` of the account that you have read, or its `last_write`. Without it: 428.",
    "schema": {"type": "string", "pattern": _ETAG},
    "example": '"1767268800000"',
}
"""For the description only: to FastAPI the header is optional, because its absence is 428 and not 422."""


def describe_conflict() -> dict[int | str, dict[str, Any]]:
    """The 409 of a route, whose problem shows the account as it is, for the OpenAPI description."""
    described = describe_problems(409)
    described[409]["description"] = "Conflict; `current` is the account as it is"
    (content,) = described[409]["content"].values()
    current = {"properties": {"current": {"$ref": "#/components/schemas/AccountView"}}}
    content["schema"] = {"allOf": [content["schema"], current]}
    return described


def _last_write(
    if_match: Annotated[str | None, Header(pattern=_ETAG, include_in_schema=False)] = None,
) -> int:
    if if_match is None:
        hint = "Read the account, and send its ETag in If-Match."
        raise HttpProblem(428, "precondition_required", "The request does not say which version it changes.", hint=hint)
    return int(if_match.strip('"'))


LastWrite = Annotated[int, Depends(_last_write)]
"""The version that a request changes; 428 where it does not name one."""


class ReadOptions(BaseModel):
    """How an account is read."""

    model_config = ConfigDict(extra="forbid")

    consistent: bool = Field(default=False, description="by a strongly consistent read, which sees the last write")


class AccountView(BaseModel):
    """An account, as flat as it is stored."""

    pk: str = Field(examples=["acc-1001"])
    name: str = Field(examples=["Ada Lovelace"])
    balance: int = Field(examples=[125_000], description="in minor units, such as cents")
    data_version: int = Field(examples=[1], description="the schema that the account is shown in")
    last_write: int = Field(examples=[1_767_268_800_000], description="what `If-Match` names")

    @classmethod
    def of(cls, account: Account) -> Self:
        """The account as it is shown."""
        return cls(**account.data.model_dump(), data_version=account.data_version, last_write=account.last_write)


class TransferView(BaseModel):
    """Both accounts after a transfer."""

    amount: int = Field(examples=[2_500])
    source: AccountView = Field(serialization_alias="from")
    target: AccountView = Field(serialization_alias="to")

    @classmethod
    def of(cls, transfer: Transfer) -> Self:
        """The transfer as it is shown."""
        source, target = AccountView.of(transfer.source), AccountView.of(transfer.target)
        return cls(amount=transfer.amount, source=source, target=target)


@ROUTER.post("/accounts", status_code=201, response_model=AccountView, responses=describe_conflict())
async def open_account(once: OnceByCaller, db: Db, request: Request, draft: AccountDraft) -> Response:
    """Open an account; 409 with the current one where its key is taken."""

    def opened(account: Account) -> StoredResponse:
        location = f"{request.scope['root_path']}/accounts/{account.data.pk}"
        return _response(account, status=201, Location=location)

    with _current_in_problems():
        return await once(handlers.add_account(draft, db.context.clock()), opened)


@ROUTER.get("/accounts/{pk}", responses=describe_problems(404))
async def show_account(
    caller: CurrentCaller,  # noqa: ARG001 - whoever it is
    db: Db,
    pk: AccountPath,
    options: Annotated[ReadOptions, Query()],
    response: Response,
) -> AccountView:
    """One account, with its `ETag`."""
    account = await db.run(handlers.show_account(pk, consistent=options.consistent))
    response.headers["ETag"] = etag(account.last_write)
    return AccountView.of(account)


@ROUTER.put(
    "/accounts/{pk}",
    responses=describe_problems(404, 428) | describe_conflict(),
    openapi_extra={"parameters": [IF_MATCH]},
)
async def replace_account(
    caller: CurrentCaller,  # noqa: ARG001 - whoever it is
    db: Db,
    pk: AccountPath,
    content: AccountContent,
    last_write: LastWrite,
    response: Response,
) -> AccountView:
    """Write an account over the version that you have read; 409 with the current one where it has changed since."""
    with _current_in_problems():
        account = await db.run(handlers.replace_account(pk, content, last_write))
    response.headers["ETag"] = etag(account.last_write)
    return AccountView.of(account)


@ROUTER.delete(
    "/accounts/{pk}",
    status_code=204,
    responses=describe_problems(404, 428) | describe_conflict(),
    openapi_extra={"parameters": [IF_MATCH]},
)
async def remove_account(
    caller: CurrentCaller,  # noqa: ARG001 - whoever it is
    db: Db,
    pk: AccountPath,
    last_write: LastWrite,
) -> None:
    """Delete the version of an account that you have read; 409 with the current one where it has changed since."""
    with _current_in_problems():
        await db.run(handlers.remove_account(pk, last_write))


@ROUTER.post(
    "/accounts/{pk}/deposit", response_model=AccountView, responses=describe_problems(404) | describe_conflict()
)
async def deposit(once: OnceByCaller, db: Db, pk: AccountPath, movement: Movement) -> Response:
    """Add money to an account."""
    now = db.context.clock()
    return await _respond_once(once, db, lambda: handlers.deposit(pk, movement, now), _response)


@ROUTER.post(
    "/accounts/{pk}/withdraw", response_model=AccountView, responses=describe_problems(404) | describe_conflict()
)
async def withdraw(once: OnceByCaller, db: Db, pk: AccountPath, movement: Movement) -> Response:
    """Take money out of an account; 409 where it has less, which leaves it as it is."""
    now = db.context.clock()
    return await _respond_once(once, db, lambda: handlers.withdraw(pk, movement, now), _response)


@ROUTER.post("/transfers", response_model=TransferView, responses=describe_problems(404) | describe_conflict())
async def transfer(once: OnceByCaller, db: Db, order: TransferOrder) -> Response:
    """Move money from one account to another: both change, or neither."""
    now = db.context.clock()
    return await _respond_once(
        once, db, lambda: handlers.transfer(order, now), lambda done: StoredResponse.of(TransferView.of(done))
    )


async def _respond_once(
    once: Once, db: AsyncSession, plan: Callable[[], Procedure[Plan[R]]], respond: Callable[[R], StoredResponse]
) -> Response:
    """Run a plan, made again while other writers are first."""
    with _current_in_problems():
        return response_of(await db.run(retry_on_conflict(lambda: once.command(plan(), respond))))


def _response(account: Account, status: int = 200, **headers: str) -> StoredResponse:
    return StoredResponse.of(
        AccountView.of(account), status=status, headers={"ETag": etag(account.last_write), **headers}
    )


@contextmanager
def _current_in_problems() -> Iterator[None]:
    """The problem of a conflict shows the account as it is, which the failed condition brings along."""
    try:
        yield
    except ItemMissing:
        raise
    except ConditionFailed as error:
        members: dict[str, Any] = {}
        if isinstance(error.current, Versioned):
            members["current"] = AccountView.of(error.current).model_dump()
        raise HttpProblem(409, error.code, error.message, hint=error.hint or None, members=members) from error
