"""Vector indexes in the wire protocol: definitions, descriptions, and searches."""

from partita.wire.vectors._definitions import (
    check_vector_definitions,
    check_vector_updates,
    read_vector_index,
    vector_names,
)
from partita.wire.vectors._search import search_vectors

__all__ = [
    "check_vector_definitions",
    "check_vector_updates",
    "read_vector_index",
    "search_vectors",
    "vector_names",
]
