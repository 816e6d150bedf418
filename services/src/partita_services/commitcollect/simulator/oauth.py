"""Strava's OAuth: codes valid for one use, access tokens valid for six hours, refresh tokens valid for one use."""

from __future__ import annotations

import random
from typing import Any, Final

from msgspec.structs import replace

from partita.runtime import Clock
from partita_services.commitcollect.simulator.faults import bad_request, forbidden, unauthorized
from partita_services.commitcollect.simulator.world import Application, Code, Grant, World

ACCESS_SECONDS: Final = 21_600
CODE_SECONDS: Final = 600
READ: Final = "activity:read"
READ_ALL: Final = "activity:read_all"
SCOPES: Final = {
    "read": "View data about your public profile",
    READ: "View data about your activities",
    READ_ALL: "View data about your private activities",
    "profile:read_all": "View your complete Strava profile",
}
"""The scopes that can be requested, with the descriptions that the athlete sees."""


class OAuth:
    """The grants of athletes to one application."""

    def __init__(self, world: World, application: Application, clock: Clock, rng: random.Random) -> None:
        self._world = world
        self._application = application
        self._clock = clock
        self._rng = rng

    def check_client(self, client_id: str, client_secret: str | None = None) -> None:
        """Check that this is the registered application, and its secret if it is given.

        Raises:
            StravaFault: the application is unknown, or the secret is wrong.
        """
        known = self._application
        if client_id != known.client_id:
            raise bad_request("Application", "client_id")
        if client_secret is not None and client_secret != known.client_secret:
            raise unauthorized("Application", "client_secret")

    def approve(self, athlete_id: int, scopes: tuple[str, ...]) -> Code:
        """Store the athlete's approval of some scopes, and return its code."""
        code = Code(self._token(), athlete_id, scopes, self._clock() + CODE_SECONDS)
        self._world.codes[code.code] = code
        return code

    def exchange(self, code: str) -> dict[str, Any]:
        """Exchange a code for tokens.

        Raises:
            StravaFault: there is no such code, it was used, or it has expired.
        """
        approval = self._world.codes.pop(code, None)
        if approval is None or approval.expires_at < self._clock():
            raise bad_request("AuthorizationCode", "code")
        grant = self._granted(approval.athlete_id, approval.scopes)
        return {**self._shown(grant), "athlete": self._world.athletes[grant.athlete_id].shown()}

    def refresh(self, refresh_token: str) -> dict[str, Any]:
        """Exchange the newest refresh token, which this uses up, for new tokens.

        Raises:
            StravaFault: it is not the newest refresh token.
        """
        for grant in self._world.grants.values():
            if grant.refresh_token == refresh_token:
                return self._shown(self._granted(grant.athlete_id, grant.scopes))
        raise bad_request("RefreshToken", "refresh_token")

    def grant_of(self, access_token: str) -> Grant:
        """Return the grant of an access token.

        Raises:
            StravaFault: the token is unknown or has expired.
        """
        for grant in self._world.grants.values():
            if grant.access_token == access_token and self._clock() < grant.expires_at:
                return grant
        raise unauthorized()

    def reader(self, access_token: str) -> Grant:
        """Return the grant of an access token that may read activities.

        Raises:
            StravaFault: the token may not read activities, or is not valid.
        """
        grant = self.grant_of(access_token)
        if not {READ, READ_ALL} & set(grant.scopes):
            raise forbidden(f"{READ}_permission")
        return grant

    def expire(self, athlete_id: int) -> None:
        """Let an athlete's access token expire now; the refresh token stays."""
        grant = self._world.grants[athlete_id]
        self._world.grants[athlete_id] = replace(grant, expires_at=int(self._clock()))

    def _granted(self, athlete_id: int, scopes: tuple[str, ...]) -> Grant:
        grant = Grant(athlete_id, scopes, self._token(), self._token(), int(self._clock()) + ACCESS_SECONDS)
        self._world.grants[athlete_id] = grant
        return grant

    def _shown(self, grant: Grant) -> dict[str, Any]:
        return {
            "token_type": "Bearer",
            "expires_at": grant.expires_at,
            "expires_in": grant.expires_at - int(self._clock()),
            "refresh_token": grant.refresh_token,
            "access_token": grant.access_token,
        }

    def _token(self) -> str:
        return self._rng.randbytes(20).hex()
