from partita.store.embedded._capacity import total
from partita.store.embedded._handlers import READS
from partita.store.embedded._store import EmbeddedStore
from partita.store.embedded.bulk import BulkPut, LoadItems, LoadResponse, RejectedPut
from partita.store.embedded.points import NetChange, PastTable, StoreHistory
from partita.store.embedded.upkeep import Progress

__all__ = [
    "READS",
    "BulkPut",
    "EmbeddedStore",
    "LoadItems",
    "LoadResponse",
    "NetChange",
    "PastTable",
    "Progress",
    "RejectedPut",
    "StoreHistory",
    "total",
]
