"""Requests about vector indexes, and the response of a search."""

from __future__ import annotations

from msgspec import Struct

from partita.expressions import Projection
from partita.store._requests import Capacity, Request, TableDescription
from partita.store._schema import VectorIndexSchema
from partita.values import AttributeValue, Item


class SearchResponse(Struct, frozen=True):
    """The items most similar to the vector, the most similar first, each with its score."""

    matches: list[tuple[Item, float]]
    capacity: Capacity


class SearchVectors(Request[SearchResponse], frozen=True):
    """Find the `top` items of a vector index that are most similar to a vector, among those that match `equal`.

    Without a projection, the items contain the attributes that the index projects, except the vector itself.
    """

    table: str
    index: str
    vector: tuple[float, ...]
    top: int
    equal: tuple[tuple[str, AttributeValue], ...] = ()
    """Required values of the index's search attributes; must include its hash attribute if it has one."""
    projection: Projection | None = None


class CreateVectorIndex(Request[TableDescription], frozen=True):
    """Add a vector index to a table and fill it from the items."""

    table: str
    index: VectorIndexSchema


class DeleteVectorIndex(Request[TableDescription], frozen=True):
    """Remove a vector index from a table."""

    table: str
    index: str
