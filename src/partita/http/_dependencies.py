"""Dependencies of routes: the session, the caller, the time, and the resources that the service opened."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Annotated, Any, Final

from fastapi import Depends, Request, Security
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.models import HTTPBearer
from fastapi.security.base import SecurityBase
from typing_extensions import TypeVar

from partita import AsyncSession
from partita.http._headers import raw_header
from partita.http._problems import HttpProblem
from partita.http._state import state_of
from partita.http.identity import Caller, Verifier, unauthenticated

R = TypeVar("R")


class _BearerToken(SecurityBase):
    """Return the bearer token of a request, or None. Like FastAPI's `HTTPBearer`, without a model for each request."""

    def __init__(self) -> None:
        text = "A token of this installation (`partita token --user ID` prints one), or of its issuer if it has one."
        self.model = HTTPBearer(bearerFormat="JWT", description=text)
        self.scheme_name = "HTTPBearer"

    async def __call__(self, request: Request) -> str | None:
        given = raw_header(request.scope, b"authorization") or b""
        scheme, _, token = given.decode("latin-1").partition(" ")
        return (token.strip() or None) if scheme.lower() == "bearer" else None


_Token = Annotated[str | None, Security(_BearerToken())]
_UNAUTHENTICATED: Final = 401


# These dependencies are coroutines although they never wait: FastAPI runs plain functions in a thread, which costs more
# than their whole work.


async def known_parameters(request: Request) -> None:
    """Refuse a query parameter that the route does not have, and a repeated one that is not a list.

    To use it for a router: `APIRouter(dependencies=[Depends(known_parameters)])`.

    Raises:
        RequestValidationError: 422, which names the parameter. Without this check a misspelt parameter would be
            ignored, and so would all but the last of several values.
    """
    if not request.scope["query_string"]:  # as of most requests, for which no parameters need to be parsed
        return
    described: dict[str, Any] = request.app.openapi()["paths"][request.scope["route"].path][request.method.lower()]
    known = {each["name"]: each["schema"] for each in described.get("parameters", ()) if each["in"] == "query"}
    wrong = [("extra_forbidden", name, _unknown(known)) for name in request.query_params if name not in known]
    names = [name for name, _ in request.query_params.multi_items()]
    single = [name for name, schema in known.items() if "array" not in _types(schema)]
    wrong += [("too_many", name, "it may be given only once") for name in single if names.count(name) > 1]
    if wrong:
        raise RequestValidationError([{"type": kind, "loc": ("query", name), "msg": why} for kind, name, why in wrong])


def _unknown(known: Iterable[str]) -> str:
    return f"this route has no such parameter; its parameters are: {', '.join(sorted(known)) or 'none'}"


def _types(schema: dict[str, Any]) -> set[Any]:
    """The types that a parameter's own schema allows, without following references."""
    return {each.get("type") for each in (schema, *schema.get("anyOf", ()))}


async def _session(request: Request) -> AsyncSession:
    return state_of(request).session


async def current_caller(request: Request, token: _Token) -> Caller:
    """Return the caller that the request's token names, and count the request for the rate limit of this caller."""
    # The same as `_verified` and `admit`, without a coroutine for each of them: every request runs this.
    state = state_of(request)
    caller = _known(state.identity, token)
    if caller is None:
        caller = await _verified(request, token)
    if state.limiter is not None:
        await state.limiter.admit(caller.user_id)
    return caller


def _known(identity: Verifier, token: str | None) -> Caller | None:
    if token is None:
        raise unauthenticated("The request has no token.", identity.hint)
    return identity.known(token)


async def _verified(request: Request, token: str | None) -> Caller:
    identity = state_of(request).identity
    caller = _known(identity, token)
    return await run_in_threadpool(identity.caller, token or "") if caller is None else caller


async def admit(request: Request, user_id: str) -> None:
    """Count a request of a caller, if the service has a rate limit; for services that identify callers by other means.

    Raises:
        RateLimited: 429, the caller has sent too many requests.
    """
    limiter = state_of(request).limiter
    if limiter is not None:
        await limiter.admit(user_id)


async def _token_check(request: Request, token: _Token) -> Callable[[], Awaitable[bool]]:
    async def is_valid() -> bool:
        try:
            await _verified(request, token)  # does not count towards the rate limit: this is not a new request
        except HttpProblem as problem:
            return problem.status_code != _UNAUTHENTICATED  # an unreachable issuer does not make the token invalid
        return True

    return is_valid


async def _resources(request: Request) -> Any:
    return state_of(request).resources


async def _now(request: Request) -> int:
    return int(state_of(request).session.context.clock())


Db = Annotated[AsyncSession, Depends(_session)]
"""The session that runs operations."""

CurrentCaller = Annotated[Caller, Depends(current_caller)]
"""The caller who sent the request; 401 without a valid token."""

TokenCheck = Annotated[Callable[[], Awaitable[bool]], Depends(_token_check)]
"""Checks whether the request's token is still valid, for streaming responses: `if not await is_valid(): return`."""

Now = Annotated[int, Depends(_now)]
"""The time in seconds since the epoch."""

Resources = Annotated[R, Depends(_resources)]
"""The resources that the service opened for its routes (`Service.resources`): `tools: Resources[Tools]`."""
