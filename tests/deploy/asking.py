"""Asking an API for something that it must give."""

from __future__ import annotations

from typing import Any

import httpx


async def ok(api: httpx.AsyncClient, method: str, path: str, **request: Any) -> Any:
    """The JSON of a successful answer; None where it has none."""
    answer = await api.request(method, path, **request)
    assert answer.is_success, (method, path, answer.text)
    is_json = bool(answer.content) and "json" in answer.headers["Content-Type"]
    return answer.json() if is_json else None
