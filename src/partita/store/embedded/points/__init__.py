"""Point-in-time recovery: change logs of tables, their past states, and tables restored from them."""

from partita._late import late_names

_NAMES = {
    "_access": ("StoreAccess",),
    "_change_log": ("append", "drop", "restart_all"),
    "_compaction": ("compact_logs",),
    "_history": ("StoreHistory",),
    "_past_store": ("PastStore",),
    "_past_table": ("NetChange", "PastTable"),
    "_settings": ("describe_recovery", "set_recovery"),
    "_writes": ("WRITES",),
}
__getattr__, __dir__, __all__ = late_names(__name__, _NAMES)
