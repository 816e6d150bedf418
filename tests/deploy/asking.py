"""Requests to an API that must succeed."""

from __future__ import annotations

from typing import Any

import httpx


async def ok(api: httpx.AsyncClient, method: str, path: str, **request: Any) -> Any:
    """Send a request that must succeed, and return the JSON of its response; None if the response has no JSON."""
    answer = await api.request(method, path, **request)
    assert answer.is_success, (method, path, answer.text)
    is_json = bool(answer.content) and "json" in answer.headers["Content-Type"]
    return answer.json() if is_json else None
