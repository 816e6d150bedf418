"""DynamoDB may end a page before its limit: reads of shards and collections are complete nonetheless."""

from __future__ import annotations

import random
from datetime import date
from typing import Any, TypeVar

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.operations.test_collect_property import ASKED, BOX, contents, spans
from tests.operations.test_shards import EVENTS, Event, events, events_on

from partita import EmbeddedStore, Session, Span, batch_write, put
from partita.store import QueryTable, Request, Store

R = TypeVar("R")


class ShortPages:
    """A store whose queries return fewer items than their limit, at random."""

    def __init__(self, store: Store, seed: int) -> None:
        self._store = store
        self._random = random.Random(seed)

    def execute(self, request: Request[R]) -> R:
        if isinstance(request, QueryTable) and request.limit is not None and not request.count_only:
            short: Any = replace(request, limit=self._random.randint(1, request.limit))
            request = short
        return self._store.execute(request)

    async def execute_async(self, request: Request[R]) -> R:
        return await self._store.execute_async(request)

    def close(self) -> None: ...


@given(
    st.lists(st.tuples(st.integers(0, 30), st.text("abcdefgh", min_size=1, max_size=3)), unique=True, max_size=30),
    st.integers(1, 12),
    st.booleans(),
    st.integers(0, 99),
)
@settings(max_examples=40, deadline=None)
def test_shards_are_whole_and_in_order(keys: list[tuple[int, str]], limit: int, by_index: bool, seed: int) -> None:  # noqa: FBT001
    stored = [Event(topic="t", at=at, event_id=event_id) for at, event_id in keys]
    asked = events_on(date(2026, 1, 1)) if by_index else events("t").reversed()
    with EmbeddedStore(":memory:") as store:
        Session(store).create_tables([EVENTS])
        Session(store).run(batch_write([put(each) for each in stored]))
        db = Session(ShortPages(store, seed))
        seen: list[Event] = []
        cursor: str | None = None
        while True:
            page = db.run(asked.page(limit, after=cursor))
            seen += page.items
            if (cursor := page.next_cursor) is None:
                break
        assert [each.at for each in seen] == sorted((each.at for each in stored), reverse=True)
        assert set(seen) == set(stored)
        assert db.run(asked.count()) == len(stored)
        walk = db.run(asked.walk(max_items=5))
        assert ([each.at for each in walk], walk.truncated) == ([each.at for each in seen[:5]], len(stored) > 5)


@given(st.integers(0, len(ASKED) - 1), contents, spans, st.integers(0, 99))
@settings(max_examples=80, deadline=None)
def test_collections_are_whole(number: int, stored: list[Any], span: Span[int], seed: int) -> None:
    asked = ASKED[number]
    with EmbeddedStore(":memory:") as store:
        Session(store).create_tables([BOX])
        Session(store).run(batch_write(list(map(put, stored))))
        made = asked.make("b", span) if asked.ranged else asked.make("b")
        assert Session(ShortPages(store, seed)).run(made) == asked.expected(stored, span)
