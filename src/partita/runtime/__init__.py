"""Utilities for every layer: time, identifiers, request generators, retries, allowed host names, private files."""

from partita._late import late_names

_NAMES = {
    "_chunks": ("chunks",),
    "_clock": ("Clock", "system_clock"),
    "_csv_rows": ("MAX_CSV_CELL", "csv_rows"),
    "_disk": ("disk_error", "sync", "try_disk"),
    "_encodings": ("accepts_gzip",),
    "_hosts": ("AllowedHosts", "is_loopback"),
    "_ids": ("RANDOM_BITS", "Ulids", "new_ulid"),
    "_outage_log": ("OutageLog",),
    "_pace": ("Pace",),
    "_private_files": (
        "close_to_others",
        "create_private",
        "make_private_folder",
        "open_private",
        "protecting_command",
        "write_private",
    ),
    "_relay": ("Blocking", "Pause", "in_thread", "relay", "run", "run_async", "run_some"),
    "_retry": ("RetryPolicy",),
    "_together": ("Together",),
    "_warning": ("warn",),
}
__getattr__, __dir__, __all__ = late_names(__name__, _NAMES)
