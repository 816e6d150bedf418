"""Calls to Strava for a user, with valid tokens: refreshed in time, by one worker at a time, and never lost.

| | generation in the store | |
| --- | --- | --- |
| a worker claims the refresh, for a time | 7 | others have to try later |
| it requests new ones from Strava | 7 | the old refresh token is used up now |
| it writes the new ones, if there are still those of 7 | 8 | whoever read 7 takes these |

The write depends on the generation, and not on the claim: tokens that Strava has given are newer than those that they
were given for, however late they are written. Killed between Strava's response and that write, a worker takes the new
tokens with it; the next one is refused by Strava, and the user is asked to connect again.
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
"""Tokens that expire within so long are refreshed."""
LEASE_MS: Final = 30_000
"""Longer than Strava may take to respond."""
BUSY_SECONDS: Final = 1.0


class ConnectionLost(Exception):
    """Strava does not let us in for this user: the user has to connect again, or has gone."""


def call_as_user(app: Application, connection: Connection, request: Callable[[str], StravaRequest[R]]) -> Work[R]:
    """Send a request with the user's access token; where Strava refuses it, with a new one.

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
    """Send a request, unless Strava wants us to wait: that is remembered for all workers.

    Raises:
        TryLater: it does.
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
    """The connection with newer tokens than these, whoever got them.

    Raises:
        ConnectionLost: Strava does not give any, or the user has gone.
        TryLater: another worker is about to.
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
    """Be the one who refreshes these tokens. A claim that ends too late to be true was made by a wrong clock."""
    now = int(app.clock() * 1000)
    until = f(Connection.refreshing_until)
    nobody_does = any_of(until.missing(), until.le(now), until.gt(now + 2 * LEASE_MS))
    return _still_at(connection, until.set(now + LEASE_MS)).when(nobody_does)


def _newer(current: Connection | None, connection: Connection) -> Connection:
    """What another worker has written, where it is newer than what this one has."""
    if current is None or current.state is ConnectionState.RECONNECT:
        raise ConnectionLost
    if (current.link_id, current.generation) == (connection.link_id, connection.generation):
        raise TryLater(BUSY_SECONDS)
    return current


def _keep(app: Application, connection: Connection, tokens: Tokens) -> Procedure[Connection]:
    """Write new tokens over those that they were given for."""
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
    """Ask the user to connect again, unless there are newer tokens."""
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
    """Let another worker try, unless one does already."""
    until = f(Connection.refreshing_until)
    try:
        yield from _still_at(claimed, until.remove()).when(until.eq(claimed.refreshing_until))
    except ConditionFailed:
        return


def _opened(app: Application, connection: Connection) -> Procedure[Tokens]:
    """The tokens; those of a key that this installation does not have any more are lost."""
    try:
        return app.vault.open(connection.sealed, connection.user_id)
    except SealBroken as broken:
        yield from _give_up(app, connection)
        raise ConnectionLost from broken
