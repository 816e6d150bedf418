"""Requests with an oversized target, head or body are rejected before they are parsed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from itertools import islice, product
from string import ascii_lowercase
from typing import Annotated, Any

import httpx
import pytest
from fastapi import APIRouter, Query
from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict
from starlette.datastructures import QueryParams
from starlette.responses import PlainTextResponse
from tests.http.toy import TOY

from partita import AsyncSession
from partita.app import build_app
from partita.http import AppState, Identity

pytestmark = pytest.mark.req("X04")

JSON = {"Content-Type": "application/json"}
ROUTER = APIRouter()
EVERYWHERE = ["/", "/healthz", "/metrics", "/nowhere", "/assets/base.css", "/console/api/services", "/toy/api/search"]


class Search(BaseModel):
    """A query model. FastAPI looks up the values of each parameter name that was sent."""

    model_config = ConfigDict(extra="forbid")

    limit: int = 20


@ROUTER.get("/search")
async def search(query: Annotated[Search, Query()]) -> int:
    """Search."""
    return query.limit


@pytest.fixture
async def searching(session: AsyncSession, identity: Identity) -> AsyncIterator[httpx.AsyncClient]:
    await session.create_tables(TOY.tables)
    app = build_app(
        [replace(TOY, router=lambda: ROUTER)],
        AppState(session, identity),
        apps={"/other": PlainTextResponse("Another app")},
    )
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        yield client


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of parameters of each query that was parsed."""
    made: list[int] = []
    take_apart = QueryParams.__init__

    def counting(params: QueryParams, *args: Any, **kwargs: Any) -> None:
        take_apart(params, *args, **kwargs)
        made.append(len(params.multi_items()))

    monkeypatch.setattr(QueryParams, "__init__", counting)
    return made


def parameters(count: int) -> str:
    """Return this number of parameters of three letters each: 15,500 of them have 62 kB."""
    return "&".join(map("".join, islice(product(ascii_lowercase, repeat=3), count)))


async def test_thousands_of_parameters_are_not_looked_at(searching: httpx.AsyncClient, parsed: list[int]) -> None:
    response = await searching.get(f"/toy/api/search?{parameters(15_500)}")
    assert (response.status_code, response.json()["code"], parsed) == (414, "target_too_long", [])


async def test_so_many_parameters_as_are_allowed_are_read(searching: httpx.AsyncClient, parsed: list[int]) -> None:
    allowed = await searching.get(f"/toy/api/search?{parameters(100)}")
    assert (allowed.status_code, parsed) == (422, [100])
    refused = await searching.get(f"/toy/api/search?{parameters(101)}")
    assert (refused.status_code, refused.json()["code"], parsed) == (414, "too_many_parameters", [100])


@pytest.mark.parametrize("path", [*EVERYWHERE, "/other"])
async def test_a_target_has_a_bound_on_every_route(path: str, searching: httpx.AsyncClient) -> None:
    longest = "?" + "x" * (8_192 - len(path))
    assert (await searching.get(path + longest)).status_code not in (414, 500)
    for beyond in (path + longest + "x", path + "/x" * 5_000):
        response = await searching.get(beyond)
        assert (response.status_code, response.json()["code"]) == (414, "target_too_long")
        assert response.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("path", [*EVERYWHERE, "/other"])
@pytest.mark.parametrize(
    "headers", [{"X-Large": "x" * 32_768}, {f"X-{place}": "" for place in range(101)}], ids=["large", "many"]
)
async def test_headers_have_a_bound_on_every_route(
    path: str, headers: dict[str, str], searching: httpx.AsyncClient
) -> None:
    response = await searching.get(path, headers=headers)
    assert (response.status_code, response.json()["code"]) == (431, "head_too_large")
    assert response.headers["X-Request-Id"]


async def test_the_description_has_what_the_limits_respond(searching: httpx.AsyncClient) -> None:
    responses = (await searching.get("/toy/api/openapi.json")).json()["paths"]["/search"]["get"]["responses"]
    examples = [responses[status]["content"]["application/problem+json"]["example"] for status in ("414", "421", "431")]
    assert [example["code"] for example in examples] == ["target_too_long", "host_not_allowed", "head_too_large"]


def body_of(length: int) -> bytes:
    return json.dumps({"body": "x" * (length - len('{"body": ""}'))}).encode()


async def in_pieces(body: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(body), 300):
        yield body[start : start + 300]


async def test_a_body_of_the_limit_is_taken(client: httpx.AsyncClient) -> None:
    for content in (body_of(1_000), in_pieces(body_of(1_000))):
        response = await client.post("/toy/api/size", content=content, headers=JSON)
        assert (response.status_code, response.json()) == (200, 988)


async def test_one_byte_more_is_too_much(client: httpx.AsyncClient) -> None:
    for content in (body_of(1_001), in_pieces(body_of(1_001))):
        response = await client.post("/toy/api/size", content=content, headers=JSON)
        assert (response.status_code, response.json()["code"]) == (413, "body_too_large")
        assert response.headers["Content-Type"] == "application/problem+json"
        assert response.headers["X-Request-Id"]


async def test_a_length_of_thousands_of_digits_is_too_much(client: httpx.AsyncClient) -> None:
    response = await client.post("/toy/api/size", content=b"{}", headers={**JSON, "Content-Length": "9" * 5_000})
    assert (response.status_code, response.json()["code"]) == (413, "body_too_large")
