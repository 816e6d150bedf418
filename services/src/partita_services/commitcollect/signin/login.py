"""Login through Strava: the athlete identifies the user, and belongs to one user only."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from urllib.parse import urlencode

from msgspec import Struct

from partita import Action, Procedure
from partita.errors import PartitaError, TransactionCancelled
from partita.recipes.audit import Trace
from partita.recipes.web_sessions import new_session_id
from partita_services.commitcollect.audit import AUDIT, AthleteLinked, LoggedIn, LoggedOut, LoggedOutEverywhere
from partita_services.commitcollect.jobs.backfill import start_backfill
from partita_services.commitcollect.jobs.subscription import SubscribeJob
from partita_services.commitcollect.model import AthleteOwner, Connection, Profile, connection_of, owner_of
from partita_services.commitcollect.signin.sessions import SESSIONS, begin_login, finish_login
from partita_services.commitcollect.strava.interface import SCOPES, Exchange, Grant, StravaError, Unauthorized
from partita_services.commitcollect.strava.settings import Settings
from partita_services.commitcollect.strava.tokens import call_strava
from partita_services.commitcollect.work import Application, TryLater, Work, send
from partita_services.commitcollect.writes import connect, join


class LoginRefused(Exception):
    """The sign-in failed; the page explains the code."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Departure(Struct, frozen=True):
    """The redirect to Strava: the address, and the value that the browser keeps in a cookie until it comes back."""

    url: str
    browser: str


class Return(Struct, frozen=True):
    """The redirect back from Strava: its parameters, and the values of the browser's cookies."""

    state: str
    browser: str
    code: str
    scopes: frozenset[str]
    error: str = ""
    session_id: str = ""
    """The id of the session that the browser already has."""


def depart(settings: Settings, now: int) -> Procedure[Departure]:
    """Begin a sign-in, and return the redirect to Strava."""
    state, browser = new_session_id(), new_session_id()
    yield from begin_login(state, browser, now)
    query = {
        "client_id": settings.client_id,
        "redirect_uri": settings.callback_url,
        "response_type": "code",
        "approval_prompt": "auto",
        "scope": ",".join(SCOPES),
        "state": state,
    }
    return Departure(f"{settings.strava_url}/oauth/authorize?{urlencode(query)}", browser)


def arrive(app: Application, back: Return, trace: Trace) -> Work[str]:
    """Sign in a browser that comes back from Strava, and return the id of its session.

    Raises:
        LoginRefused: the athlete refused, the state is not the browser's, or the athlete belongs to another user.
    """
    yield from _check_state(back)
    if back.error:
        raise LoginRefused("access_denied")
    if not _may_read(back.scopes):
        raise LoginRefused("scope_missing")
    try:
        grant = yield from call_strava(app, Exchange(back.code))
    except Unauthorized as refusal:
        raise LoginRefused("access_denied") from refusal
    except (StravaError, TryLater) as trouble:
        raise LoginRefused("strava_unavailable") from trouble
    return (yield from _log_in(app, back, grant, trace))


def log_out(session_id: str, user_id: str, trace: Trace) -> Procedure[None]:
    """End a session."""
    yield from SESSIONS.end(session_id)
    yield from AUDIT.append(LoggedOut(), user_id=user_id, trace=trace)


def log_out_everywhere(user_id: str, trace: Trace) -> Procedure[None]:
    """End all sessions of a user."""
    ended = yield from SESSIONS.end_all(user_id)
    yield from AUDIT.append(LoggedOutEverywhere(browsers=ended), user_id=user_id, trace=trace)


def _check_state(back: Return) -> Procedure[None]:
    """Check the state, which is valid once, in the browser that it was issued to, for ten minutes."""
    try:
        attempt = yield from finish_login(back.state, back.browser)
    except PartitaError as error:
        raise LoginRefused("state_invalid") from error
    if attempt is None:
        raise LoginRefused("state_invalid")


def _may_read(scopes: Collection[str]) -> bool:
    return bool({"activity:read", "activity:read_all"} & set(scopes))


def _log_in(app: Application, back: Return, grant: Grant, trace: Trace) -> Work[str]:
    athlete_id, now = str(grant.athlete.id), datetime.fromtimestamp(app.clock(), UTC)
    owner = yield from owner_of(athlete_id).consistent()
    yield from _check_same_user(back.session_id, owner)
    user_id = owner.user_id if owner else app.new_id()
    before = (yield from connection_of(user_id).consistent()) if owner else None
    connection = _connection(app, user_id, grant, back.scopes, now)
    session_id = new_session_id()
    entry: list[Action] = [SESSIONS.create(session_id, user_id)]
    entry += [SESSIONS.end(back.session_id)] if back.session_id else []
    try:
        if owner is None:
            profile = Profile(user_id=user_id, athlete_id=athlete_id, name=grant.athlete.name, created_at=now)
            yield from join(profile, connection, entry)
        else:
            yield from connect(connection, entry)
    except TransactionCancelled as cancelled:
        raise LoginRefused("account_closing" if owner else "athlete_taken") from cancelled
    yield from _audit(connection, trace, is_new=owner is None)
    job = SubscribeJob(trace.request_id, trace.correlation_id, user_id)
    yield from send(job, "application", f"subscribe-{connection.link_id}")
    yield from start_backfill(app, connection, trace, before.lost_at if before else None)
    return session_id


def _check_same_user(session_id: str, owner: AthleteOwner | None) -> Procedure[None]:
    """Check that a signed-in user connects their own athlete."""
    session = (yield from SESSIONS.resolve(session_id)) if session_id else None
    if session is not None and (owner is None or owner.user_id != session.user_id):
        raise LoginRefused("athlete_taken")


def _connection(app: Application, user_id: str, grant: Grant, scopes: Collection[str], now: datetime) -> Connection:
    return Connection(
        user_id=user_id,
        athlete_id=str(grant.athlete.id),
        athlete_name=grant.athlete.name,
        link_id=app.new_id(),
        scopes=tuple(sorted(scopes)),
        sealed=app.vault.seal(grant, user_id),
        expires_at=grant.expires_at,
        connected_at=now,
    )


def _audit(connection: Connection, trace: Trace, *, is_new: bool) -> Procedure[None]:
    linked = AthleteLinked(athlete_id=connection.athlete_id, scopes=" ".join(connection.scopes))
    yield from AUDIT.append(linked, user_id=connection.user_id, trace=trace)
    yield from AUDIT.append(LoggedIn(is_new_user=is_new), user_id=connection.user_id, trace=trace)
