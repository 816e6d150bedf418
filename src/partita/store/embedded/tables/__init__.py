"""Tables of the embedded store: made, described, changed and removed, with their indexes."""

from partita.store.embedded.tables._definitions import (
    create_table,
    delete_table,
    describe_table,
    list_tables,
    set_stream,
    set_time_to_live,
)
from partita.store.embedded.tables._index_build import create_index
from partita.store.embedded.tables._index_removal import REMOVAL, delete_index
from partita.store.embedded.tables._indexes import INDEXES
from partita.store.embedded.tables._leftovers import clear_some
from partita.store.embedded.tables._vector_indexes import VECTOR_INDEXES

__all__ = [
    "INDEXES",
    "REMOVAL",
    "VECTOR_INDEXES",
    "clear_some",
    "create_index",
    "create_table",
    "delete_index",
    "delete_table",
    "describe_table",
    "list_tables",
    "set_stream",
    "set_time_to_live",
]
