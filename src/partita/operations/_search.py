"""Searching a vector index: the entities that are most similar to a vector, each with its score."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace
from pydantic import BaseModel

from partita.errors import OperationError
from partita.expressions import KeyCondition, Projection
from partita.model import BoundKey, EntitySchema
from partita.operations._operation import Context, Operation, Requests
from partita.operations._owned import owner_check
from partita.operations._unclaimed import unclaimed_among
from partita.store import SearchResponse, SearchVectors
from partita.values import AttributeValue, Item

MAX_TOP = 100
"""The most matches that a search returns."""

M = TypeVar("M", bound=BaseModel)


class Scored(Struct, Generic[M], frozen=True):
    """A match of a search: the entity or view, and its similarity to the vector by the index's distance function."""

    entity: M
    score: float


class Search(Operation[tuple[Scored[M], ...]], Generic[M], frozen=True):
    """Find the items most similar to a vector, without those of other entities or owners and without expired ones."""

    listed_as = "search"

    schema: EntitySchema[Any]
    index: str
    vector: tuple[float, ...]
    limit: int
    model: type[M]
    """The class of the results: the entity, or a view of it."""
    projection: Projection
    equal: tuple[tuple[str, AttributeValue], ...] = ()
    """The required values of index attributes: of its partition and its filters."""
    key: BoundKey | None = None
    """The key of the partition, if the index has one."""

    def top(self, limit: int) -> Search[M]:
        """The same search for at most `limit` matches.

        Raises:
            OperationError: the limit is not 1 to 100.
        """
        if not 1 <= limit <= MAX_TOP:
            raise OperationError(f"A search returns 1 to {MAX_TOP} matches, not {limit}.")
        return replace(self, limit=limit)

    def default_name(self) -> str:
        """The name if no access pattern was declared."""
        return f"{self.schema.name}.{self.index}"

    def request(self) -> SearchVectors:
        """The request to send."""
        return SearchVectors(self.schema.table.name, self.index, self.vector, self.limit, self.equal, self.projection)

    def requests(self, context: Context) -> Requests[tuple[Scored[M], ...]]:
        """Send the request, and return the entities in the response with their scores."""
        response: SearchResponse = yield self.request()
        found = [item for item, _ in response.matches]
        owns = self._owner_check()
        if not all(map(owns, found)):
            unclaimed = unclaimed_among(self.schema.table, found)
            if unclaimed is not None:
                yield unclaimed
        now = context.clock()
        return tuple(
            Scored(self._typed(item), score)
            for item, score in response.matches
            if owns(item) and self.schema.live(item, now)
        )

    def _owner_check(self) -> Any:
        if self.key is None:
            return self.schema.owns
        names = set(self.key.hash_names)
        partition = KeyCondition(tuple(pair for pair in self.equal if pair[0] in names))
        return owner_check(self.schema, self.key, partition)

    def _typed(self, item: Item) -> M:
        return self.schema.entity_as(self.model, item)
