"""Calls to Strava for a user with valid tokens, which one worker at a time refreshes before they expire.

| | generation in the store | |
| --- | --- | --- |
| a worker claims the refresh, for a limited time | 7 | other workers have to try later |
| it requests new tokens from Strava | 7 | the old refresh token is used up now |
| it writes the new tokens, if generation 7 is still stored | 8 | workers that read 7 use the new tokens |

The write depends on the generation, not on the claim: the new tokens are always newer than the tokens from which they
were obtained, however late they are written. If a worker is killed between Strava's response and that write, the new
tokens are lost. Strava then refuses the old ones, and the user is asked to connect again.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, TypeVar

from partita import Change, Procedure, Update, any_of, f
from partita.errors import ConditionFailed
from partita_services.commitcollect.model import Connection, ConnectionState
from partita_services.commitcollect.strava.interface import (
    LimitReached,
    Refresh,
    StravaError,
    StravaRequest,
    Tokens,
    Unauthorized,
)
from partita_services.commitcollect.strava.model import RateLimit, limit_of, save_limit
from partita_services.commitcollect.strava.vault import SealBroken
from partita_services.commitcollect.work import Application, TryLater, Work
from partita_services.commitcollect.writes import change_connection

R = TypeVar("R")

EARLY_SECONDS: Final = 300
"""How long before their expiry tokens are refreshed."""
LEASE_MS: Final = 30_000
"""How long a claim lasts: longer than Strava may take to respond."""
BUSY_SECONDS: Final = 1.0


class ConnectionLost(Exception):
    """Strava refuses the user's tokens: the user has to connect again, or has disconnected."""


def call_as_user(app: Application, connection: Connection, request: Callable[[str], StravaRequest[R]]) -> Work[R]:
    """Send a request with the user's access token; if Strava refuses it, send it again with a new token.

    Raises:
        ConnectionLost: Strava has refused twice.
        TryLater: another worker refreshes the tokens, or the limit is reached.
    """
    if connection.state is ConnectionState.RECONNECT:
        raise ConnectionLost
    if connection.expires_at - app.clock() < EARLY_SECONDS:
        connection = yield from refreshed(app, connection)
    tokens = yield from _opened(app, connection)
    try:
        return (yield from call_strava(app, request(tokens.access_token)))
    except Unauthorized:
        connection = yield from refreshed(app, connection)
    tokens = yield from _opened(app, connection)
    try:
        return (yield from call_strava(app, request(tokens.access_token)))
    except Unauthorized as refusal:
        yield from _give_up(app, connection)
        raise ConnectionLost from refusal


def call_strava(app: Application, request: StravaRequest[R]) -> Work[R]:
    """Send a request, unless the rate limit is used up, which is stored for all workers.

    Raises:
        TryLater: the rate limit is used up.
    """
    client_id = app.settings.client_id
    if request.is_read:
        limit = yield from limit_of(client_id)
        if limit is not None and limit.open_at.timestamp() > app.clock():
            raise TryLater(limit.open_at.timestamp() - app.clock())
    try:
        return (yield from request)
    except LimitReached as reached:
        yield from save_limit(RateLimit(client_id=client_id, open_at=reached.open_at))
        raise TryLater(max(reached.open_at.timestamp() - app.clock(), BUSY_SECONDS)) from reached


def refreshed(app: Application, connection: Connection) -> Work[Connection]:
    """Return the connection with newer tokens than these, obtained by this or another worker.

    Raises:
        ConnectionLost: Strava refuses to refresh them, or the user has disconnected.
        TryLater: another worker is refreshing them.
    """
    try:
        claimed = yield from _claim(app, connection)
    except ConditionFailed as failed:
        return _newer(failed.current, connection)
    old = yield from _opened(app, claimed)
    try:
        tokens = yield from call_strava(app, Refresh(old.refresh_token))
    except Unauthorized as refusal:
        yield from _give_up(app, claimed)
        raise ConnectionLost from refusal
    except (StravaError, TryLater):
        yield from _release(claimed)
        raise
    return (yield from _keep(app, claimed, tokens))


def _claim(app: Application, connection: Connection) -> Update[Connection]:
    """Claim the refresh of these tokens. A claim that ends implausibly late was made with a wrong clock."""
    now = int(app.clock() * 1000)
    until = f(Connection.refreshing_until)
    nobody_does = any_of(until.missing(), until.le(now), until.gt(now + 2 * LEASE_MS))
    return _still_at(connection, until.set(now + LEASE_MS)).when(nobody_does)


def _newer(current: Connection | None, connection: Connection) -> Connection:
    """Return the connection that another worker has written, if it is newer than this one."""
    if current is None or current.state is ConnectionState.RECONNECT:
        raise ConnectionLost
    if (current.link_id, current.generation) == (connection.link_id, connection.generation):
        raise TryLater(BUSY_SECONDS)
    return current


def _keep(app: Application, connection: Connection, tokens: Tokens) -> Procedure[Connection]:
    """Write new tokens over those from which they were obtained."""
    changes = (
        f(Connection.sealed).set(app.vault.seal(tokens, connection.user_id)),
        f(Connection.expires_at).set(tokens.expires_at),
        f(Connection.generation).set(connection.generation + 1),
        f(Connection.state).set(ConnectionState.CONNECTED),
        f(Connection.lost_at).remove(),
        f(Connection.refreshing_until).remove(),
    )
    try:
        return (yield from _still_at(connection, *changes))
    except ConditionFailed as failed:
        if isinstance(failed.current, Connection):
            return failed.current  # the user has connected again
        raise ConnectionLost from failed


def _give_up(app: Application, connection: Connection) -> Procedure[None]:
    """Mark the connection so that the user is asked to connect again, unless there are newer tokens."""
    changes = (
        f(Connection.state).set(ConnectionState.RECONNECT),
        f(Connection.lost_at).set(datetime.fromtimestamp(app.clock(), UTC)),
    )
    try:
        yield from _still_at(connection, *changes)
    except ConditionFailed:
        return


def _still_at(connection: Connection, *changes: Change) -> Update[Connection]:
    return change_connection(connection, *changes).when(f(Connection.generation).eq(connection.generation))


def _release(claimed: Connection) -> Procedure[None]:
    """Release the claim, unless another worker has claimed the refresh since."""
    until = f(Connection.refreshing_until)
    try:
        yield from _still_at(claimed, until.remove()).when(until.eq(claimed.refreshing_until))
    except ConditionFailed:
        return


def _opened(app: Application, connection: Connection) -> Procedure[Tokens]:
    """Decrypt the tokens. Tokens under a key that this installation no longer has are lost."""
    try:
        return app.vault.open(connection.sealed, connection.user_id)
    except SealBroken as broken:
        yield from _give_up(app, connection)
        raise ConnectionLost from broken
