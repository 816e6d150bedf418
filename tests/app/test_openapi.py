"""API descriptions: they have the parts that all services share, and describe every possible response of a route."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from msgspec.structs import replace
from tests.http.test_idempotent import SHOP
from tests.http.toy import TOY

from partita import AsyncSession
from partita.app import build_app
from partita.http import AppState, Identity
from partita.service import discover

pytestmark = pytest.mark.req("X08")

SERVICES = {service.name: service for service in discover()}


async def described(app: FastAPI, service: str) -> dict[str, Any]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        description: dict[str, Any] = (await client.get(f"/{service}/api/openapi.json")).json()
    return description


def operations(description: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


async def test_every_problem_has_its_own_example(app: FastAPI) -> None:
    description = await described(app, "toy")
    assert description["servers"] == [{"url": "/toy/api"}]
    operation = description["paths"]["/me"]["get"]
    assert operation["security"] == [{"HTTPBearer": []}]
    for status in ("401", "413", "422", "500", "503"):
        problem = operation["responses"][status]["content"]["application/problem+json"]
        assert problem["schema"] == {"$ref": "#/components/schemas/Problem"}
        assert problem["example"]["status"] == int(status)
    assert {"Problem", "FieldProblem"} <= description["components"]["schemas"].keys()
    assert "HTTPValidationError" not in description["components"]["schemas"]


async def test_headers_are_described_where_they_are_sent(app: FastAPI) -> None:
    description = await described(app, "toy")
    responses = description["paths"]["/me"]["get"]["responses"]
    both = {"X-Request-Id", "X-Consumed-Capacity"}
    assert responses["200"]["headers"].keys() == both
    assert responses["401"]["headers"].keys() == {*both, "WWW-Authenticate"}
    assert responses["503"]["headers"].keys() == {*both, "Retry-After"}
    assert description["components"]["headers"].keys() >= both


async def test_a_public_route_never_responds_that_a_token_is_missing(app: FastAPI) -> None:
    description = await described(app, "toy")
    assert "401" not in description["paths"]["/size"]["post"]["responses"]
    assert "401" in description["paths"]["/me"]["get"]["responses"]


async def test_replays_are_described(session: AsyncSession, identity: Identity) -> None:
    responses = (await described(build_app([SHOP], AppState(session, identity)), "shop"))["paths"]["/ping"]["post"][
        "responses"
    ]
    assert responses["204"]["headers"]["Idempotent-Replayed"] == {"$ref": "#/components/headers/Idempotent-Replayed"}
    assert responses["409"]["content"]["application/problem+json"]["example"]["status"] == 409


async def test_a_service_without_models_is_described(session: AsyncSession, identity: Identity) -> None:
    router = APIRouter()

    @router.get("/ping")
    async def ping() -> None:
        pass

    description = await described(build_app([replace(TOY, router=lambda: router)], AppState(session, identity)), "toy")
    assert "/ping" in description["paths"]
    assert "Problem" in description["components"]["schemas"]


async def test_asking_twice_gives_the_same(app: FastAPI) -> None:
    assert await described(app, "toy") == await described(app, "toy")


@pytest.mark.parametrize("name", SERVICES)
async def test_every_operation_is_explained(name: str, session: AsyncSession, identity: Identity) -> None:
    description = await described(build_app([SERVICES[name]], AppState(session, identity)), name)
    found = dict(operations(description))
    assert found
    assert [route for route, operation in found.items() if not operation.get("description")] == []
    names = [operation["operationId"] for operation in found.values()]
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("name", SERVICES)
async def test_every_reference_leads_somewhere(name: str, session: AsyncSession, identity: Identity) -> None:
    description = await described(build_app([SERVICES[name]], AppState(session, identity)), name)

    def references(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            yield from (value for key, value in node.items() if key == "$ref")
            yield from (found for value in node.values() for found in references(value))
        elif isinstance(node, list):
            yield from (found for value in node for found in references(value))

    for reference in set(references(description)):
        node: Any = description
        for part in reference.removeprefix("#/").split("/"):
            node = node[part]


@pytest.mark.parametrize("name", SERVICES)
async def test_every_field_of_a_body_has_an_example_or_a_fixed_set_of_values(
    name: str, session: AsyncSession, identity: Identity
) -> None:
    description = await described(build_app([SERVICES[name]], AppState(session, identity)), name)
    schemas = description["components"]["schemas"]
    lacking = []
    for route, operation in operations(description):
        for body in operation.get("requestBody", {}).get("content", {}).values():
            for option in body["schema"].get("anyOf", [body["schema"]]):
                shape = schemas[option["$ref"].split("/")[-1]] if "$ref" in option else option
                fields = shape.get("properties", {})
                lacking += [f"{route}: {field}" for field, kind in fields.items() if not shown(kind)]
    assert lacking == []


def shown(kind: dict[str, Any]) -> bool:
    """Whether a schema shows what to write: it has an example, or its values are listed."""
    known = bool(kind.keys() & {"example", "examples", "$ref", "enum", "const"})
    return known or any(shown(option) for option in kind.get("anyOf", ()))
