"""What a route may ask for: the session, the caller, the time."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Depends, Request, Security
from fastapi.concurrency import run_in_threadpool
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from partita import AsyncSession
from partita.http._identity import Caller, Verifier, unauthenticated

_BEARER: Final = HTTPBearer(auto_error=False, bearerFormat="JWT", description="`partita token --user ID` prints one.")


# Each of these is a coroutine although it never waits: FastAPI runs plain functions in a thread, which costs more than
# all that they do.


async def _session(request: Request) -> AsyncSession:
    session: AsyncSession = request.app.state.session
    return session


async def current_caller(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)]
) -> Caller:
    """Who sent the request, by its token."""
    identity: Verifier = request.app.state.identity
    if credentials is None:
        raise unauthenticated("The request has no token.", identity.hint)
    if identity.waits:
        return await run_in_threadpool(identity.caller, credentials.credentials)
    return identity.caller(credentials.credentials)


async def _resources(request: Request) -> Any:
    return request.app.state.resources


async def _now(request: Request) -> int:
    return int((await _session(request)).context.clock())


Db = Annotated[AsyncSession, Depends(_session)]
"""The session that runs operations."""

CurrentCaller = Annotated[Caller, Depends(current_caller)]
"""Who sent the request; 401 without a token."""

Now = Annotated[int, Depends(_now)]
"""The time in seconds since the epoch."""

Resources = Annotated[Any, Depends(_resources)]
"""What the service has opened for its routes (`Service.resources`)."""
