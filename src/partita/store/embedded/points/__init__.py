"""Points in time: the change log of a table, what it was at an instant, and tables restored from it."""

from collections.abc import Mapping
from typing import Final

from partita._sqlite import Handler
from partita.store._points import SetRecovery
from partita.store.embedded.points import _restore
from partita.store.embedded.points._access import StoreAccess
from partita.store.embedded.points._change_log import append, drop, restart_all
from partita.store.embedded.points._compaction import compact_logs
from partita.store.embedded.points._history import StoreHistory
from partita.store.embedded.points._past_store import PastStore
from partita.store.embedded.points._past_table import NetChange, PastTable
from partita.store.embedded.points._settings import describe_recovery, set_recovery

WRITES: Final[Mapping[type, Handler]] = {
    SetRecovery: set_recovery,
    _restore.BeginRestore: _restore.begin_restore,
    _restore.FillRestored: _restore.fill_restored,
    _restore.FinishRestore: _restore.finish_restore,
    _restore.AbandonRestore: _restore.abandon_restore,
}
"""What executes each write, by the type of the request."""

__all__ = [
    "WRITES",
    "NetChange",
    "PastStore",
    "PastTable",
    "StoreAccess",
    "StoreHistory",
    "append",
    "compact_logs",
    "describe_recovery",
    "drop",
    "restart_all",
    "set_recovery",
]
