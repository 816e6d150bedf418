"""The OpenAPI descriptions of API and site are correct: generated requests get only responses that they describe."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from hypothesis import assume
from schemathesis.config import SchemathesisConfig
from schemathesis.core.parameters import ParameterLocation
from schemathesis.specs.openapi.checks import positive_data_acceptance
from tests.services.commitcollect.strava_model import ATHLETE
from tests.services.commitcollect.world import SETTINGS, World, new_world
from tests.services.described import CONFIG, IDENTITY, MODES, Case, made_up, routes_in
from tests.services.routes import routes_of

from partita import AsyncSession
from partita.app import build_app
from partita.http import AppState, Caller, Role
from partita_services.commitcollect.bootstrap import SERVICE
from partita_services.commitcollect.http import ROUTER
from partita_services.commitcollect.signin.browser import SECURE

pytestmark = pytest.mark.slow

ENDLESS = "GET /stream"
ROUTES = tuple(route for route in routes_of(ROUTER) if route != ENDLESS)

SITE = (
    "GET /auth/login",
    "GET /auth/callback",
    "POST /auth/logout",
    "POST /auth/logout-everywhere",
    "GET /webhooks/strava/{address}",
    "POST /webhooks/strava/{address}",
)
WITHOUT_PARAMETERS = (
    "GET /me",
    "GET /me/data",
    "DELETE /me",
    "DELETE /me/connection",
    "POST /sync",
    "GET /models",
    "GET /auth/login",
    "POST /auth/logout",
    "POST /auth/logout-everywhere",
)
"""Routes without parameters, which have no wrong requests except for the session, which the test adds."""
ENDS_THE_SESSION = ("DELETE /me", "DELETE /me/connection", "POST /auth/logout", "POST /auth/logout-everywhere")
FOR_OPERATORS = ("PUT /models/{model_id}", "POST /models/{model_id}/retire")
MORE_THAN_A_SCHEMA = ("POST /milestones", "PATCH /milestones/{milestone_id}", "PUT /models/{model_id}")
"""Routes with rules on windows, versions or pictures that a schema cannot express."""
NO_SCHEMA_SAYS = {"cursor", "idempotency-key", "event_type", "month", "correlation_id"}
"""Parameters with rules that a schema cannot express: valid cursors and keys, and the allowed combinations."""


def app_of(world: World) -> Any:
    session = AsyncSession(world.db.store, clock=world.clock, secret=b"fake")
    return build_app([SERVICE], AppState(session, IDENTITY, {SERVICE.name: world.tools}))


def check(route: str, mode: schemathesis.GenerationMode) -> None:
    """Call one route with generated requests, and fail on a response that is not described."""
    description = "/commitcollect/api/openapi.json" if route in ROUTES else "/commitcollect/openapi.json"
    with new_world() as world:
        config = SchemathesisConfig.from_dict(CONFIG)
        method, path = route.split()
        schema = schemathesis.openapi.from_asgi(description, app_of(world), config=config)
        sessions = [world.log_in(ATHLETE)]
        there = {"milestone_id": world.commit().milestone_id, "address": SETTINGS.webhook_key}
        there |= {"model_id": "lighthouse"}
        operator = {"Authorization": f"Bearer {IDENTITY.token(Caller('boss', Role.OPERATOR))}"}

        @made_up(schema[path][method], mode, examples=12)
        def responses_are_described(case: Case) -> None:
            assume(not _has_a_bad_cookie(case))
            if mode is schemathesis.GenerationMode.POSITIVE:
                case.path_parameters.update({name: there[name] for name in case.path_parameters})
            if route in ENDS_THE_SESSION:
                world.work()
                sessions.append(world.log_in(ATHLETE))
            asked = case.query.keys() | {name.lower() for name in case.headers}
            excluded: list[Any] = []
            if asked & NO_SCHEMA_SAYS or route in MORE_THAN_A_SCHEMA:
                excluded = [positive_data_acceptance]
            case.call_and_validate(
                base_url=f"https://collect.test{description.removesuffix('/openapi.json')}",
                cookies={SECURE: sessions[-1]},
                headers=operator if route in FOR_OPERATORS else {},
                excluded_checks=excluded,
            )

        responses_are_described()


def _has_a_bad_cookie(case: Case) -> bool:
    cookie = case.meta.components.get(ParameterLocation.COOKIE) if case.meta else None
    return cookie is not None and cookie.mode.is_negative


@pytest.mark.req("X08")
@pytest.mark.parametrize("route", [*ROUTES, *SITE])
def test_every_response_is_described(route: str) -> None:
    check(route, MODES[0])


@pytest.mark.req("X08")
@pytest.mark.parametrize("route", [route for route in (*ROUTES, *SITE) if route not in WITHOUT_PARAMETERS])
def test_every_response_to_a_wrong_request_is_described(route: str) -> None:
    check(route, MODES[1])


@pytest.mark.req("X08")
@pytest.mark.parametrize(
    ("description", "expected"),
    [("/commitcollect/api/openapi.json", (*ROUTES, ENDLESS)), ("/commitcollect/openapi.json", SITE)],
)
def test_the_descriptions_have_every_route(description: str, expected: Any) -> None:
    with new_world() as world:
        schema = schemathesis.openapi.from_asgi(description, app_of(world)).raw_schema
    assert routes_in(schema) == sorted(expected)
