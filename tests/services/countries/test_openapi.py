"""The OpenAPI description is correct: generated requests get only responses that it describes."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
import schemathesis
from hypothesis import assume
from schemathesis.specs.openapi.checks import positive_data_acceptance
from tests.services.described import Case, made_up, routes_in, takes_a_key
from tests.services.routes import routes_of

from partita import AsyncSession, EmbeddedStore, Session
from partita.app import build_app
from partita.http import AppState, Caller, Identity, Role
from partita_services.countries.bootstrap import SERVICE
from partita_services.countries.bootstrap import seed as samples
from partita_services.countries.http import ROUTER

pytestmark = pytest.mark.slow

ROUTES = routes_of(ROUTER)

IDENTITY = Identity(b"k" * 32)
HEADERS = {"Authorization": f"Bearer {IDENTITY.token(Caller('ada', Role.OPERATOR))}"}


POSITIVE, NEGATIVE = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE
CASES = [(route, mode) for route in ROUTES for mode in (POSITIVE, NEGATIVE)]
ANY_TEXT = "POST /imports.csv"
"""The route whose body is text; a schema cannot express that the text is a list."""


@pytest.mark.req("X08")
@pytest.mark.parametrize(("route", "mode"), CASES)
def test_every_response_is_described(route: str, mode: schemathesis.GenerationMode) -> None:
    with EmbeddedStore(":memory:") as store:
        session = Session(store)
        session.create_tables(SERVICE.tables)
        for step in samples(0)[:40]:
            session.run(step)
        app = build_app([SERVICE], AppState(AsyncSession(store), IDENTITY))
        method, path = route.split()
        keys = count()  # a key that was used for another request is refused, even if it is valid
        operation = schemathesis.openapi.from_asgi("/countries/api/openapi.json", app)[path][method]

        @made_up(operation, mode, examples=15)
        def responses_are_described(case: Case) -> None:
            assume("%0A" not in case.formatted_path)  # no route matches a line break
            if mode is POSITIVE:
                _leave_out_what_must_be_read_first(case)
                if takes_a_key(case):
                    case.headers["Idempotency-Key"] = f"key-{next(keys)}"
            excluded: list[Any] = [positive_data_acceptance] if may_be_refused(route, case) else []
            case.call_and_validate(headers=HEADERS, excluded_checks=excluded)

        responses_are_described()


def may_be_refused(route: str, case: Case) -> bool:
    """Whether a request may break a rule that a schema cannot express: text is a list, and has each country once."""
    countries = case.body.get("countries") if route == "POST /imports" and isinstance(case.body, dict) else None
    return route == ANY_TEXT or (isinstance(countries, list) and len(countries) > 1)


def _leave_out_what_must_be_read_first(case: Case) -> None:
    """Remove valid values that are refused: cursors and ETags from no response, and a status together with `as_of`."""
    for name in ("if-match", "if-none-match"):
        case.headers.pop(name, None)
    case.query.pop("cursor", None)
    if case.query.get("as_of") is not None:
        case.query.pop("status", None)


@pytest.mark.req("X08")
def test_the_description_has_every_route_and_an_example_of_every_body() -> None:
    with EmbeddedStore(":memory:") as store:
        app = build_app([SERVICE], AppState(AsyncSession(store), IDENTITY))
        description = schemathesis.openapi.from_asgi("/countries/api/openapi.json", app).raw_schema
    assert routes_in(description) == sorted(ROUTES)
    for name in ("CountryData", "FieldChange"):
        fields = description["components"]["schemas"][name]["properties"]
        assert [field for field, shape in fields.items() if "examples" not in shape] == []
