"""The embedded store."""

from partita.store.embedded._capacity import total
from partita.store.embedded._commit import GroupCommit, Handler
from partita.store.embedded._file import translating
from partita.store.embedded._lock import ProcessLock
from partita.store.embedded._store import READS, EmbeddedStore

__all__ = [
    "READS",
    "EmbeddedStore",
    "GroupCommit",
    "Handler",
    "ProcessLock",
    "total",
    "translating",
]
