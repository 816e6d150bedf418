"""Vector indexes: their rows in the file, written in the transactions of the items, and searches in memory."""

from partita.store.embedded.vectors._cache import VectorCache
from partita.store.embedded.vectors._index import VectorEntry, VectorIndex
from partita.store.embedded.vectors._rows import (
    change_rows,
    create_rows,
    drop_rows,
    drop_rows_of,
    fill_rows,
    wrong_rows,
)
from partita.store.embedded.vectors._search import search_vectors

__all__ = [
    "VectorCache",
    "VectorEntry",
    "VectorIndex",
    "change_rows",
    "create_rows",
    "drop_rows",
    "drop_rows_of",
    "fill_rows",
    "search_vectors",
    "wrong_rows",
]
