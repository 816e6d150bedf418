"""The embedded store."""

from partita.store.embedded._capacity import total
from partita.store.embedded._store import READS, EmbeddedStore
from partita.store.embedded.bulk import BulkPut, LoadItems, LoadResponse, Rejected
from partita.store.embedded.points import NetChange, PastTable, StoreHistory

__all__ = [
    "READS",
    "BulkPut",
    "EmbeddedStore",
    "LoadItems",
    "LoadResponse",
    "NetChange",
    "PastTable",
    "Rejected",
    "StoreHistory",
    "total",
]
