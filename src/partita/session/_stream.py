"""Streams: the items of a long range one by one, with only one page at a time in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import suppress
from typing import Generic, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel

from partita.errors import OperationError
from partita.operations import Operation, Page

M = TypeVar("M", bound=BaseModel)


class PagedRead(Protocol[M]):
    """A read that can be streamed: a query or a scan, which continues from a cursor."""

    @property
    def limit(self) -> int:
        """The size of a page."""
        ...

    @property
    def cursor(self) -> str | None:
        """The cursor to start after."""
        ...

    def page(self, limit: int, *, after: str | None = None) -> Operation[Page[M]]:
        """One page, after the cursor of the previous page."""
        ...


Steps: TypeAlias = Generator[Operation[Page[M]] | tuple[M, ...], Page[M] | None, None]
"""The generator of a stream: it yields the read of a page and is sent the page, then yields the page's items."""


class _Stream(Generic[M]):
    """The common base of both kinds of stream: decides what to read next, and whether more would follow."""

    def __init__(self, read: PagedRead[M], max_items: int) -> None:
        if isinstance(read, type) or not hasattr(read, "page"):
            hint = "Stream a query, or a scan in a maintenance session; run other operations with run()."
            raise OperationError(f"{type(read).__name__} has no pages to stream.", hint=hint)
        if type(max_items) is not int or max_items < 1:
            hint = "Pass the largest number that you expect: max_items=10_000."
            raise OperationError(f"A stream returns at least 1 item, not {max_items!r:.60}.", hint=hint)
        self._read = read
        self._max_items = max_items
        self._truncated = False

    @property
    def truncated(self) -> bool:
        """Whether the last loop over it ended at `max_items`, with more to come."""
        return self._truncated

    def _steps(self) -> Steps[M]:
        self._truncated, left, cursor = False, self._max_items, self._read.cursor
        while left:
            page = yield self._read.page(min(self._read.limit, left), after=cursor)
            assert page is not None  # noqa: S101 - a page is sent for every read
            yield page.items
            left, cursor = left - len(page), page.next_cursor
            if cursor is None:
                return
        # A page that ends at its limit has a cursor, whether or not more items follow.
        self._truncated = bool((yield self._read.page(1, after=cursor)))


class ItemStream(_Stream[M], Generic[M]):
    """The items of a query or scan, one by one: `for task in db.stream(tasks_of("ada"), max_items=10_000)`.

    Each loop over it reads from the beginning.
    """

    def __init__(self, read: PagedRead[M], max_items: int, run: Callable[[Operation[Page[M]]], Page[M]]) -> None:
        super().__init__(read, max_items)
        self._run = run

    def __iter__(self) -> Iterator[M]:
        steps = self._steps()
        page: Page[M] | None = None
        with suppress(StopIteration):
            while True:
                step = steps.send(page)
                page = None
                if isinstance(step, tuple):
                    yield from step
                else:
                    page = self._run(step)


class AsyncItemStream(_Stream[M], Generic[M]):
    """The items of a query or scan, one by one, with `async for`."""

    def __init__(
        self, read: PagedRead[M], max_items: int, run: Callable[[Operation[Page[M]]], Awaitable[Page[M]]]
    ) -> None:
        super().__init__(read, max_items)
        self._run = run

    async def __aiter__(self) -> AsyncIterator[M]:
        steps = self._steps()
        page: Page[M] | None = None
        with suppress(StopIteration):
            while True:
                step = steps.send(page)
                page = None
                if isinstance(step, tuple):
                    for item in step:
                        yield item
                else:
                    page = await self._run(step)
