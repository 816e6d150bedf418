"""What a route may ask for: the session, the caller, the time."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from partita import AsyncSession
from partita.http._identity import Caller, Verifier, unauthenticated

_BEARER: Final = HTTPBearer(auto_error=False, bearerFormat="JWT", description="`partita token --user ID` prints one.")


def _session(request: Request) -> AsyncSession:
    session: AsyncSession = request.app.state.session
    return session


def current_caller(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)]
) -> Caller:
    """Who sent the request, by its token."""
    identity: Verifier = request.app.state.identity
    if credentials is None:
        raise unauthenticated("The request has no token.", identity.hint)
    return identity.caller(credentials.credentials)


def _resources(request: Request) -> Any:
    return request.app.state.resources


def _now(request: Request) -> int:
    return int(_session(request).context.clock())


Db = Annotated[AsyncSession, Depends(_session)]
"""The session that runs operations."""

CurrentCaller = Annotated[Caller, Depends(current_caller)]
"""Who sent the request; 401 without a token."""

Now = Annotated[int, Depends(_now)]
"""The time in seconds since the epoch."""

Resources = Annotated[Any, Depends(_resources)]
"""What the service has opened for its routes (`Service.resources`)."""
