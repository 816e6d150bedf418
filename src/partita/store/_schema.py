"""The schema of a table in a store: keys, indexes, TTL attribute and stream, without entities."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

KeyType: TypeAlias = Literal["S", "N", "B"]
"""The type of a key attribute: string, number or binary."""
Distance: TypeAlias = Literal["COSINE", "EUCLIDEAN", "DOT_PRODUCT"]
"""The distance function of a vector index."""
StreamView: TypeAlias = Literal["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"]
"""The images of an item that stream records contain."""


class KeyAttribute(Struct, frozen=True):
    """One attribute of a key, with its type."""

    name: str
    type: KeyType = "S"


class IndexSchema(Struct, frozen=True):
    """A secondary index. A global one may have up to four hash and four range attributes.

    `projection` is "ALL", "KEYS_ONLY" or the names of the attributes that are projected besides the keys.
    """

    name: str
    hash: tuple[KeyAttribute, ...]
    range: tuple[KeyAttribute, ...] = ()
    projection: Literal["ALL", "KEYS_ONLY"] | tuple[str, ...] = "ALL"
    local: bool = False

    @property
    def key(self) -> tuple[KeyAttribute, ...]:
        """Hash and range attributes, in order."""
        return (*self.hash, *self.range)

    def is_like(self, other: IndexSchema) -> bool:
        """Whether both are the same index; the order of projected attributes is ignored."""
        return self == other or (
            self.projects == other.projects and replace(self, projection="ALL") == replace(other, projection="ALL")
        )

    @property
    def projects(self) -> str | frozenset[str]:
        """The projection, as an unordered set if it names attributes."""
        return self.projection if isinstance(self.projection, str) else frozenset(self.projection)


class VectorIndexSchema(Struct, frozen=True):
    """A vector index, which finds the items most similar to a vector; within one partition if it has a `hash`.

    `filters` are attributes that a search can compare for equality.
    """

    name: str
    attribute: str
    """The attribute that holds the vector, a list of numbers."""
    dimensions: int
    distance: Distance = "COSINE"
    hash: KeyAttribute | None = None
    filters: tuple[KeyAttribute, ...] = ()
    projection: Literal["ALL", "KEYS_ONLY"] | tuple[str, ...] = "ALL"

    @property
    def search(self) -> tuple[KeyAttribute, ...]:
        """The attributes that a search can compare: the hash attribute first, then the filters."""
        return self.filters if self.hash is None else (self.hash, *self.filters)

    def is_like(self, other: VectorIndexSchema) -> bool:
        """Whether both are the same index; the order of projected attributes and filters is ignored."""
        return _unordered(self) == _unordered(other)


def _unordered(index: VectorIndexSchema) -> tuple[object, ...]:
    projects = index.projection if isinstance(index.projection, str) else frozenset(index.projection)
    return index.name, index.attribute, index.dimensions, index.distance, index.hash, frozenset(index.filters), projects


class TableSchema(Struct, frozen=True):
    """The schema of a table."""

    name: str
    hash: KeyAttribute
    range: KeyAttribute | None = None
    indexes: tuple[IndexSchema, ...] = ()
    ttl: str | None = None
    stream: StreamView | None = None
    vectors: tuple[VectorIndexSchema, ...] = ()
    """Vector indexes, which can be searched but not queried or scanned."""

    @property
    def key(self) -> tuple[KeyAttribute, ...]:
        """The hash attribute and, if there is one, the range attribute."""
        return (self.hash,) if self.range is None else (self.hash, self.range)

    @property
    def index_names(self) -> tuple[str, ...]:
        """The names of all indexes, secondary indexes first."""
        return (*(index.name for index in self.indexes), *(index.name for index in self.vectors))

    def index(self, name: str) -> IndexSchema | None:
        """The secondary index with that name."""
        return next((index for index in self.indexes if index.name == name), None)

    def is_global(self, index: str | None) -> bool:
        """Whether an index is a global secondary index, which does not support consistent reads."""
        found = None if index is None else self.index(index)
        return found is not None and not found.local

    def vector(self, name: str) -> VectorIndexSchema | None:
        """The vector index with that name."""
        return next((index for index in self.vectors if index.name == name), None)
