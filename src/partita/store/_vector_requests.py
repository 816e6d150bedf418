"""Requests about vector indexes, and the response of a search."""

from __future__ import annotations

from msgspec import Struct

from partita.expressions import Projection
from partita.store._requests import Capacity, Request, TableDescription
from partita.store._schema import VectorIndexSchema
from partita.values import AttributeValue, Item


class SearchResponse(Struct, frozen=True):
    """The items that are most like the vector, the most alike first, each with its score."""

    matches: list[tuple[Item, float]]
    capacity: Capacity


class SearchVectors(Request[SearchResponse], frozen=True):
    """Find the `top` items of a vector index that are most like a vector, among those that equal every value.

    Without a projection they have what the index projects, except the vector itself.
    """

    table: str
    index: str
    vector: tuple[float, ...]
    top: int
    equal: tuple[tuple[str, AttributeValue], ...] = ()
    """Values of the index's own attributes; that of its partition, where it has one, must be among them."""
    projection: Projection | None = None


class CreateVectorIndex(Request[TableDescription], frozen=True):
    """Add a vector index to a table and fill it from the items."""

    table: str
    index: VectorIndexSchema


class DeleteVectorIndex(Request[TableDescription], frozen=True):
    """Remove a vector index from a table."""

    table: str
    index: str
