"""Collections compared with lists in Python: they return exactly the requested items, and read no more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita import Collect, EmbeddedStore, Entity, Key, Registry, Session, Span, Table, batch_write, collect, put
from partita.store import PageResponse, Request, Store

R = TypeVar("R")

BOX = Table("boxes", registry=Registry())


class Apple(Entity, table=BOX):
    primary: ClassVar = Key("BOX#{box}", "APPLE#{n:03}")
    box: str = "b"
    n: int


class Box(Entity, table=BOX):
    primary: ClassVar = Key("BOX#{name}", "BOX")
    name: str = "b"


class Cherry(Entity, table=BOX):
    primary: ClassVar = Key("BOX#{box}", "CHERRY#{n:03}")
    box: str = "b"
    n: int


class Date(Entity, table=BOX):
    primary: ClassVar = Key("BOX#{box}", "DATE#{n:03}")
    box: str = "b"
    n: int


class Lid(Entity, table=BOX):
    primary: ClassVar = Key("BOX#{box}", "LID")
    box: str = "b"


SINGLES = 2
KINDS: tuple[type[Any], ...] = (Apple, Box, Cherry, Date, Lid)


@dataclass(frozen=True)
class Everything:
    box: Box | None
    lid: Lid | None
    apples: tuple[Apple, ...]
    cherries: tuple[Cherry, ...]
    dates: tuple[Date, ...]


@dataclass(frozen=True)
class Ends:
    apples: tuple[Apple, ...]
    dates: tuple[Date, ...]


@dataclass(frozen=True)
class BoxAndDates:
    box: Box | None
    dates: tuple[Date, ...]


class Asked:
    """A declared collection, and its expected result."""

    def __init__(self, result: type[Any], limits: dict[type[Any], int], *, newest_first: bool, ranged: bool) -> None:
        def whole(name: str) -> None: ...
        def within(name: str, n: Span[int]) -> None: ...

        function: Callable[..., None] = within if ranged else whole
        function.__name__ = f"{result.__name__}_{len(BOX.patterns)}"
        made = collect(result, "BOX#{name}", newest_first=newest_first, limits=limits)
        self.make: Callable[..., Collect[Any]] = made(function)
        self.result, self.limits, self.newest_first, self.ranged = result, limits, newest_first, ranged

    def parts(self, stored: list[Any], span: Span[int]) -> dict[str, list[Any]]:
        """Return the expected items of each field."""
        fields = {"box": Box, "lid": Lid, "apples": Apple, "cherries": Cherry, "dates": Date}
        found: dict[str, list[Any]] = {}
        for field in self.result.__dataclass_fields__:
            own = [each for each in stored if type(each) is fields[field]]
            if self.ranged and own and hasattr(own[0], "n"):
                own = [each for each in own if (span.low or 0) <= each.n <= (999 if span.high is None else span.high)]
            own.sort(key=lambda each: getattr(each, "n", 0), reverse=self.newest_first)
            found[field] = own[: self.limits.get(fields[field])]
        return found

    def expected(self, stored: list[Any], span: Span[int]) -> Any:
        """Return the expected result."""
        parts = self.parts(stored, span)
        singles = ("box", "lid")
        return self.result(
            **{name: (own[0] if own else None) if name in singles else tuple(own) for name, own in parts.items()}
        )


LIMITS: list[dict[type[Any], int]] = [{}, {Apple: 2}, {Date: 2}, {Apple: 1, Date: 3}]
ASKED = [
    Asked(result, limits, newest_first=newest_first, ranged=ranged)
    for result in (Everything, Ends, BoxAndDates)
    for limits in LIMITS
    for newest_first in (False, True)
    for ranged in (False, True)
    if result is not BoxAndDates or Apple not in limits
]
contents = st.lists(
    st.one_of(
        st.builds(Box),
        st.builds(Lid),
        *(st.builds(kind, n=st.integers(0, 12)) for kind in (Apple, Cherry, Date)),
    ),
    unique=True,
    max_size=30,
)
spans = st.builds(
    lambda low, high: Span(min(low, high), max(low, high)), st.integers(0, 12), st.integers(0, 12)
) | st.builds(Span, st.integers(0, 12), st.none())


class Counting:
    """A store that counts the items that its queries inspect."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.inspected = 0

    def execute(self, request: Request[R]) -> R:
        response = self._store.execute(request)
        if isinstance(response, PageResponse):
            self.inspected += response.scanned
        return response

    async def execute_async(self, request: Request[R]) -> R:
        return await self._store.execute_async(request)

    def close(self) -> None: ...


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: f"{asked.result.__name__}")
@given(contents, spans)
@settings(max_examples=8, deadline=None)
def test_a_collection_gives_what_is_asked_for_and_reads_no_more(
    asked: Asked, stored: list[Any], span: Span[int]
) -> None:
    with EmbeddedStore(":memory:") as store:
        Session(store).create_tables([BOX])
        Session(store).run(batch_write(list(map(put, stored))))
        counting = Counting(store)
        made = asked.make("b", span) if asked.ranged else asked.make("b")
        assert Session(counting).run(made) == asked.expected(stored, span)
        parts = asked.parts(stored, span)
        # A query may read a box or lid that lies between two requested ranges; if a requested box or lid is missing,
        # it reads one more item of the next range.
        assert counting.inspected <= sum(map(len, parts.values())) + SINGLES


@pytest.mark.parametrize("newest_first", [False, True])
@given(contents, st.integers(1, 5))
@settings(max_examples=20, deadline=None)
def test_pages_of_a_collection_are_all_of_it(newest_first: bool, stored: list[Any], size: int) -> None:  # noqa: FBT001
    asked = next(
        each
        for each in ASKED
        if each.limits == {Date: 2} and each.newest_first is newest_first and each.result is BoxAndDates
    )
    with EmbeddedStore(":memory:") as store:
        db = Session(store)
        db.create_tables([BOX])
        db.run(batch_write(list(map(put, stored))))
        seen: list[Date] = []
        cursor: str | None = None
        while True:
            page = db.run(asked.make("b").page(size, after=cursor))
            assert page.result is not None
            assert (page.result.box is not None) == any(isinstance(each, Box) for each in stored)
            assert len(page.result.dates) <= size
            seen += page.result.dates
            if (cursor := page.next_cursor) is None:
                break
        dates = [each for each in stored if isinstance(each, Date)]
        assert seen == sorted(dates, key=lambda each: each.n, reverse=newest_first)


def test_all_kinds_are_in_one_partition() -> None:
    assert {entity.cls for entity in BOX.entities} == set(KINDS)
