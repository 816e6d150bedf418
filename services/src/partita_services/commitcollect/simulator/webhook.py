"""Calls to the application's webhook: the handshake, and events."""

from __future__ import annotations

from typing import Final

import httpx
import msgspec

from partita_services.commitcollect.simulator.world import Event

SECONDS: Final = 2.0
"""How long Strava waits for a response."""


async def post_event(url: str, event: Event) -> int:
    """Send an event, and return the status of the response; 0 if there was none in time."""
    headers = {"Content-Type": "application/json"}
    try:
        async with httpx.AsyncClient(timeout=SECONDS, trust_env=False) as client:
            response = await client.post(url, content=msgspec.json.encode(event), headers=headers)
    except httpx.HTTPError:
        return 0
    return response.status_code


async def wants_events(url: str, verify_token: str, challenge: str) -> bool:
    """Whether an address accepts the subscription, which it proves by returning the challenge."""
    query = {"hub.mode": "subscribe", "hub.challenge": challenge, "hub.verify_token": verify_token}
    try:
        async with httpx.AsyncClient(timeout=SECONDS, trust_env=False) as client:
            response = await client.get(url, params=query)
            return response.status_code == httpx.codes.OK and response.json() == {"hub.challenge": challenge}
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        return False
