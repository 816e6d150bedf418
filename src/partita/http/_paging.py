"""Lists in pages: the query parameters, and the response."""

from __future__ import annotations

from typing import Generic, Self, TypeVar

from pydantic import BaseModel, Field

from partita import Page

M = TypeVar("M", bound=BaseModel)


class Paging(BaseModel):
    """The query parameters of every list."""

    limit: int = Field(default=20, ge=1, le=100, description="maximum number of items")
    cursor: str | None = Field(default=None, description="the `next_cursor` of the previous page")


class Listing(BaseModel, Generic[M]):
    """One page of a list. `next_cursor` is null on the last page."""

    items: tuple[M, ...]
    next_cursor: str | None

    @classmethod
    def of(cls, page: Page[M]) -> Self:
        """The response for a page."""
        return cls(items=page.items, next_cursor=page.next_cursor)
