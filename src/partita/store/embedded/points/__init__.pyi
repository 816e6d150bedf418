from partita.store.embedded.points._access import StoreAccess
from partita.store.embedded.points._change_log import append, drop, restart_all
from partita.store.embedded.points._compaction import compact_logs
from partita.store.embedded.points._history import StoreHistory
from partita.store.embedded.points._past_store import PastStore
from partita.store.embedded.points._past_table import NetChange, PastTable
from partita.store.embedded.points._settings import describe_recovery, set_recovery
from partita.store.embedded.points._writes import WRITES

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
