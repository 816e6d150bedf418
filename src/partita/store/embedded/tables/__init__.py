"""Creating, describing, changing and deleting tables of the embedded store and their indexes."""

from partita.store.embedded.tables._definitions import (
    create_table,
    delete_table,
    describe_table,
    list_tables,
    set_stream,
    set_time_to_live,
)
from partita.store.embedded.tables._index_work import clear_leftovers, create_index, delete_index, index_steps
from partita.store.embedded.tables._vector_indexes import VECTOR_INDEXES

__all__ = [
    "VECTOR_INDEXES",
    "clear_leftovers",
    "create_index",
    "create_table",
    "delete_index",
    "delete_table",
    "describe_table",
    "index_steps",
    "list_tables",
    "set_stream",
    "set_time_to_live",
]
