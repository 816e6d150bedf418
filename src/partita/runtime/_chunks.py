"""Splitting iterables into chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def chunks(values: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    """Yield the values in tuples of at most `size`."""
    source = iter(values)
    while chunk := tuple(islice(source, size)):
        yield chunk
