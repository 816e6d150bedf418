"""The embedded store."""

from partita.store.embedded._capacity import total
from partita.store.embedded._store import READS, EmbeddedStore

__all__ = [
    "READS",
    "EmbeddedStore",
    "total",
]
