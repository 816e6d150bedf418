"""News: changes as server-sent events, which a reader can resume after the last event that it received.

A route polls the changes that a projection remembers (`partita.change.changes_after`), and sends the new ones:

    news = change_news(changes_since, events_of, last_event_id, is_valid, state.stopping)
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
"""After this many polls without news, a comment is sent so that no proxy closes the idle connection."""
NEWS_MEDIA_TYPE: Final = "text/event-stream"
"""The media type of server-sent events."""

LastEventId = Annotated[
    Annotated[int, Field(ge=0, le=2**53)] | SkipJsonSchema[None],
    Header(description="the `id` of the last event that the caller received; without it, changes from now on"),
]
"""The event after which a reader resumes: `last_event_id: LastEventId = None`."""


class NewsEvent(NamedTuple):
    """One event: its name, and its data as JSON."""

    name: str
    data: str = "{}"


def describe_news(text: str, *names: str) -> dict[int | str, dict[str, Any]]:
    """The response of a route with news, for its OpenAPI description; `names` are the names of its own events."""
    properties = {
        "event": {"type": "string", "enum": ["ready", *names, "reset"]},
        "id": {"type": "string"},
        "data": {"type": "string", "contentMediaType": "application/json"},
    }
    schema = {"type": "object", "properties": properties, "required": ["data"]}
    beginning = (
        f"Server-sent events. `ready` reports the position after which changes are sent, {text}, and `reset` that more "
    )
    return {
        200: {
            "description": f"{beginning}has changed than the server remembers: read the lists again.",
            "content": {NEWS_MEDIA_TYPE: {"schema": schema}},
        }
    }


async def change_news(
    changes_since: Callable[[int | None], Awaitable[RecentChanges]],
    events_of: Callable[[Sequence[str]], Awaitable[Sequence[NewsEvent]]],
    after: int | None,
    is_valid: Callable[[], Awaitable[bool]],
    stopping: threading.Event,
) -> AsyncIterator[str]:
    """Yield the changes after a number, or from now on, until the server stops or the reader's token is not valid.

    Args:
        changes_since: returns the changes after a number.
        events_of: returns the events that describe the changes of these items.
        after: the number of the last event that the reader received.
        is_valid: returns whether the reader may still read.
        stopping: set when the server stops.
    """
    seen = await changes_since(after)
    at, silent = seen.number if after is None or seen.is_forgotten else after, 0
    yield _as_text(NewsEvent("reset" if seen.is_forgotten else "ready"), at)
    while not stopping.is_set() and await is_valid():
        seen = await changes_since(at)
        if seen.is_forgotten:
            events: Sequence[NewsEvent] = [NewsEvent("reset")]
        else:
            events = await events_of(seen.items) if seen.items else ()
        for event in events[:-1]:
            yield _as_text(event)  # without a number: a reader that is cut off here receives all of them again
        if events:
            yield _as_text(events[-1], seen.number)
        silent = 0 if events else silent + 1
        at = seen.number
        if silent >= SILENT_LOOKS:
            silent = 0
            yield ": still here\n\n"
        await asyncio.sleep(EVERY_SECONDS)


def news_response(news: AsyncIterator[str]) -> StreamingResponse:
    """The streaming response of a route with news."""
    return StreamingResponse(news, media_type=NEWS_MEDIA_TYPE, headers={"Cache-Control": "no-store"})


def _as_text(event: NewsEvent, number: int | None = None) -> str:
    place = "" if number is None else f"id: {number}\n"
    return f"event: {event.name}\n{place}data: {event.data}\n\n"
