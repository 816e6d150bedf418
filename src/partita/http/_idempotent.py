"""Idempotent routes: the header `Idempotency-Key`, and a call that runs a plan once or replays its response.

OnceByCaller = Annotated[Once, Depends(once_by(REQUESTS))]

@ROUTER.post("/tasks", status_code=201, response_model=Task)
async def create_task(once: OnceByCaller, caller: CurrentCaller, draft: TaskDraft, now: Now) -> Response:
    return await once(handlers.add_task(caller.user_id, draft, now), created)
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final, TypeAlias, TypeVar

from fastapi import Depends, Header, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import AfterValidator, WithJsonSchema

from partita import AsyncSession, Procedure
from partita.http._dependencies import Db, current_caller
from partita.http._problems import HttpProblem
from partita.http.identity import Caller
from partita.recipes.idempotency import (
    Command,
    CommandOutcome,
    Idempotency,
    Plan,
    StoredResponse,
    fingerprint,
    run_plan,
)

R = TypeVar("R")

REPLAYED: Final = "Idempotent-Replayed"
"""The header of a replayed response."""
_REPLAYED: Final = REPLAYED.lower().encode()
_WITHOUT_BODY: Final = (204, 304)
_KEY: Final = r'^("[ !#-~]{1,255}"|[!#-~]{1,255})$'
_is_key: Final = re.compile(_KEY).fullmatch


def _key(text: str) -> str:
    if _is_key(text) is None:
        raise ValueError("a key has 1 to 255 visible ASCII characters, and may be in quotes")
    return text


_Key: TypeAlias = Annotated[str, AfterValidator(_key), WithJsonSchema({"type": "string", "pattern": _KEY})]

IdempotencyKey = Annotated[
    _Key | None,
    Header(
        description="A key that the caller chooses for this request, quoted or bare, of at most 255 characters. "
        f"If the request is repeated, it changes nothing and returns the first response with `{REPLAYED}: true`.",
        examples=['"8e03978e-40d5-43dd-bc93-6894a57f9324"'],
    ),
]
"""The `Idempotency-Key` of a request; None without one."""


class _Given(Response):
    """A stored response, with the headers that Starlette would add."""

    def __init__(self, stored: StoredResponse, *, replayed: bool) -> None:
        self.status_code = stored.status
        self.background = None
        self.body = stored.body.encode()
        headers = {name.lower().encode("latin-1"): value.encode("latin-1") for name, value in stored.headers.items()}
        if replayed:
            headers[_REPLAYED] = b"true"
        if stored.status not in _WITHOUT_BODY:
            headers.setdefault(b"content-length", b"%d" % len(self.body))
        if self.body:
            headers.setdefault(b"content-type", b"application/json")
        self.raw_headers = list(headers.items())


class Once:
    """Runs the plan of one request: at most once if the request has a key, otherwise unconditionally."""

    def __init__(self, requests: Idempotency[Any], db: AsyncSession, command: Command | None) -> None:
        self._requests = requests
        self._db = db
        self._command = command

    async def __call__(self, plan: Plan[R] | Procedure[Plan[R]], respond: Callable[[R], StoredResponse]) -> Response:
        """Run the plan and return its response, or replay the stored one. Raises the errors of `command`."""
        return response_of(await self._db.run(self.command(plan, respond)))

    def command(
        self, plan: Plan[R] | Procedure[Plan[R]], respond: Callable[[R], StoredResponse]
    ) -> Procedure[CommandOutcome[R]]:
        """Return the same as a procedure, which `retry_on_conflict` can run again with a new plan.

        outcome = await db.run(retry_on_conflict(lambda: once.command(handlers.deposit(pk, amount), respond)))
        outcome.result, outcome.replayed, response_of(outcome)

        Args:
            plan: what to write, or a procedure that reads and returns it. It does not run on a replay.
            respond: turns the plan's result into the response that is stored and sent.

        Raises:
            IdempotencyMismatch: the key was used with another request.
            IdempotencyInProgress: the first request with the key is still running.
        """
        if self._command is None:
            return _run(plan, respond)
        return self._requests.run(self._command, plan, respond)


def once_by(requests: Idempotency[Any], caller: Callable[..., Any] = current_caller) -> Callable[..., Awaitable[Once]]:
    """Return the dependency of routes whose commands are remembered, separately for each caller.

    Args:
        requests: stores the commands.
        caller: the dependency that returns the `Caller`; by default it reads the token of the request.
    """

    async def once(
        request: Request,
        db: Db,
        caller: Caller = Depends(caller),  # noqa: B008 - an annotation could not name a variable
        idempotency_key: IdempotencyKey = None,
    ) -> Once:
        if idempotency_key is None:
            return Once(requests, db, None)
        if sum(name == b"idempotency-key" for name, _ in request.scope["headers"]) > 1:
            said = {"type": "too_many", "loc": ("header", "idempotency-key"), "msg": "it may be given only once"}
            raise RequestValidationError([said])
        payload = fingerprint(request.method, request.url.path, request.url.query, await request.body())
        return Once(requests, db, Command(caller.user_id, idempotency_key.strip('"'), payload))

    return once


async def refuse_key(idempotency_key: Annotated[str | None, Header(include_in_schema=False)] = None) -> None:
    """A dependency of routes that are safe to repeat without a key: it refuses a key, so that no client relies on it.

    Raises:
        HttpProblem: 422, the request has an `Idempotency-Key`.
    """
    if idempotency_key is not None:
        detail = "This request does not accept an Idempotency-Key: it is safe to send it again without one."
        raise HttpProblem(422, "idempotency_key_refused", detail, hint="Send the request without the header.")


def response_of(outcome: CommandOutcome[Any]) -> Response:
    """The response to a command. A replayed one has the header `Idempotent-Replayed`."""
    return _Given(outcome.response, replayed=outcome.replayed)


def _run(plan: Plan[R] | Procedure[Plan[R]], respond: Callable[[R], StoredResponse]) -> Procedure[CommandOutcome[R]]:
    result = yield from run_plan(plan)
    return CommandOutcome(respond(result), result=result)
