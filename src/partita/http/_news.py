"""News: what has changed, as server-sent events that a reader goes on with where it was.

A route looks at what a projection remembers (`partita.change.changes_after`), and tells its reader what is new:

    news = change_news(look, tell, last_event_id, is_valid, state.stopping)
    return news_response(news)
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Annotated, Any, Final, NamedTuple

from fastapi import Header
from fastapi.responses import StreamingResponse
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from partita.change import RecentChanges

EVERY_SECONDS: Final = 0.5
SILENT_LOOKS: Final = 30
"""After so many looks without news a comment is sent, so that no proxy on the way closes the connection."""
NEWS_MEDIA_TYPE: Final = "text/event-stream"
"""The media type of server-sent events."""

LastEventId = Annotated[
    Annotated[int, Field(ge=0, le=2**53)] | SkipJsonSchema[None],
    Header(description="the `id` of the last event that the caller has; without it, changes from now on"),
]
"""Where a reader goes on: `last_event_id: LastEventId = None`."""


class NewsEvent(NamedTuple):
    """One event: its name, and its data as JSON."""

    name: str
    data: str = "{}"


def describe_news(text: str, *names: str) -> dict[int | str, dict[str, Any]]:
    """The response of a route with news, for its OpenAPI description; `names` are those of its own events."""
    properties = {
        "event": {"type": "string", "enum": ["ready", *names, "reset"]},
        "id": {"type": "string"},
        "data": {"type": "string", "contentMediaType": "application/json"},
    }
    schema = {"type": "object", "properties": properties, "required": ["data"]}
    said = (
        f"Server-sent events. `ready` says from where on changes are sent, {text}, and `reset` that more has changed "
    )
    return {
        200: {
            "description": f"{said}than is remembered: read the lists again.",
            "content": {NEWS_MEDIA_TYPE: {"schema": schema}},
        }
    }


async def change_news(
    look: Callable[[int | None], Awaitable[RecentChanges]],
    tell: Callable[[Sequence[str]], Awaitable[Sequence[NewsEvent]]],
    after: int | None,
    is_valid: Callable[[], Awaitable[bool]],
    stopping: threading.Event,
) -> AsyncIterator[str]:
    """What has changed after a number, or from now on. It ends with the server, or when who asked is not known.

    Args:
        look: what has changed after a number.
        tell: the events that say so, of these items.
        after: the number of the last event that the reader has.
        is_valid: whether who asked may still read.
        stopping: set when the server stops.
    """
    seen = await look(after)
    at, silent = seen.number if after is None or seen.is_forgotten else after, 0
    yield _sent(NewsEvent("reset" if seen.is_forgotten else "ready"), at)
    while not stopping.is_set() and await is_valid():
        seen = await look(at)
        told = [NewsEvent("reset")] if seen.is_forgotten else await tell(seen.items) if seen.items else []
        for event in told[:-1]:
            yield _sent(event)  # who hears no further than this hears all of them again
        if told:
            yield _sent(told[-1], seen.number)
        silent = 0 if told else silent + 1
        at = seen.number
        if silent >= SILENT_LOOKS:
            silent = 0
            yield ": still here\n\n"
        await asyncio.sleep(EVERY_SECONDS)


def news_response(news: AsyncIterator[str]) -> StreamingResponse:
    """The response of a route that tells news."""
    return StreamingResponse(news, media_type=NEWS_MEDIA_TYPE, headers={"Cache-Control": "no-store"})


def _sent(event: NewsEvent, number: int | None = None) -> str:
    place = "" if number is None else f"id: {number}\n"
    return f"event: {event.name}\n{place}data: {event.data}\n\n"
