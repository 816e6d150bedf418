"""The results of reading many items: one page of them, or all that a walk found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from msgspec import Struct
from pydantic import BaseModel

from partita.errors import InvalidItem

M = TypeVar("M", bound=BaseModel)


class Page(Struct, Generic[M], frozen=True):
    """Some of the matches, in order; `next_cursor` continues if there are more."""

    items: tuple[M, ...]
    next_cursor: str | None
    unclaimed: int = 0
    """How many items were found that belong to no declared entity."""
    invalid: tuple[InvalidItem, ...] = ()
    """The items that could not be parsed, if the query was set to skip them."""

    def __iter__(self) -> Iterator[M]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


class WalkResult(Struct, Generic[M], frozen=True):
    """All matches that a walk found; `truncated` if it stopped at its maximum with more to come."""

    items: tuple[M, ...]
    truncated: bool
    unclaimed: int = 0
    """How many items were found that belong to no declared entity."""
    invalid: tuple[InvalidItem, ...] = ()
    """The items that could not be parsed, if the query was set to skip them."""

    def __iter__(self) -> Iterator[M]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)
