"""Oversized bodies are refused, whether or not they say how long they are."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import httpx
import pytest

pytestmark = pytest.mark.req("X04")

JSON = {"Content-Type": "application/json"}


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
