"""The OpenAPI description is correct: generated requests get only responses that it describes."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from tests.services.described import IDENTITY, MODES, check_responses, routes_in
from tests.services.routes import routes_of

from partita import AsyncSession, EmbeddedStore
from partita.app import build_app
from partita.http import AppState
from partita_services.accounts.bootstrap import SERVICE
from partita_services.accounts.http import ROUTER

pytestmark = pytest.mark.slow

ROUTES = routes_of(ROUTER)


def between_two(case: schemathesis.Case[Any]) -> bool:
    """Whether a transfer is between two different accounts, which the description cannot express."""
    body = case.body if isinstance(case.body, dict) else {}
    return bool(body.get("from", 0) != body.get("to", 1))


@pytest.mark.req("X08")
@pytest.mark.parametrize("route", [route for route in ROUTES if route != "GET /stream"])  # it does not end
@pytest.mark.parametrize("mode", MODES)
def test_every_response_is_described(route: str, mode: schemathesis.GenerationMode) -> None:
    check_responses(SERVICE, route, mode, assuming=between_two)


@pytest.mark.req("X08")
def test_the_description_has_every_route_and_an_example_of_every_body() -> None:
    with EmbeddedStore(":memory:") as store:
        app = build_app([SERVICE], AppState(AsyncSession(store), IDENTITY))
        description = schemathesis.openapi.from_asgi("/accounts/api/openapi.json", app).raw_schema
    assert routes_in(description) == sorted(ROUTES)
    for name in ("AccountDraft", "AccountContent", "AccountView", "Movement", "TransferOrder", "GrantDraft"):
        fields = description["components"]["schemas"][name]["properties"]
        assert [field for field, shape in fields.items() if "examples" not in shape] == []
