"""The embedded store."""

from partita._late import late_names

_NAMES = {
    "_capacity": ("total",),
    "_handlers": ("READS",),
    "_store": ("EmbeddedStore",),
    "bulk": ("BulkPut", "LoadItems", "LoadResponse", "RejectedPut"),
    "points": ("NetChange", "PastTable", "StoreHistory"),
    "upkeep": ("Progress",),
}
__getattr__, __dir__, __all__ = late_names(__name__, _NAMES)
