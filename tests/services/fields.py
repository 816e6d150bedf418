"""A check that lists return selected fields with the same values as in whole items."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import httpx


async def check_fields(api: httpx.AsyncClient, path: str, **params: Any) -> None:
    """Request each field of a list alone, and all pairs of adjacent fields, and compare them with the whole items."""
    whole = (await _listing(api, path, params))["items"]
    assert whole, "the list has no items to compare"
    names = list(whole[0])
    for asked in [*([name] for name in names), *map(list, pairwise(names))]:
        page = await _listing(api, path, {**params, "fields": ",".join(asked)})
        assert page["items"] == [{name: item[name] for name in asked} for item in whole], asked


async def _listing(api: httpx.AsyncClient, path: str, params: dict[str, Any]) -> Any:
    response = await api.get(path, params=params)
    assert response.status_code == 200, response.text
    return response.json()
