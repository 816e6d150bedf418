"""News as server-sent events: sent when something has changed, until the last change or the stop of the server."""

from __future__ import annotations

from threading import Event

import pytest
from pydantic import BaseModel

from partita_services.events.figures import live


async def always() -> bool:
    return True


@pytest.mark.req("E09")
async def test_news_are_sent_when_they_are_new(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "EVERY_SECONDS", 0)
    seen = iter(["a", "a", "b"])

    class News(BaseModel):
        text: str

    async def look() -> News:
        return News(text=next(seen))

    sent = [line async for line in live.news(look, lambda news: news.text == "b", always, Event())]
    assert sent == ['data: {"text":"a"}\n\n', 'data: {"text":"b"}\n\n']


@pytest.mark.req("E10", "X01")
async def test_a_stream_ends_with_the_server() -> None:
    stopping = Event()

    class News(BaseModel):
        text: str = "a"

    async def look() -> News:
        stopping.set()
        return News()

    sent = [line async for line in live.news(look, lambda _: False, always, stopping)]
    assert sent == ['data: {"text":"a"}\n\n']
