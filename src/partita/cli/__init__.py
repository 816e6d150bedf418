"""The command line: the same verbs as in Python, for the installed services.

Names are imported on first access, because `partita --help` needs none of them.
"""

from partita._late import late_names

_NAMES = {
    "_data_folder": ("DataFolder", "data_option", "queue_options", "store_and_queue_options", "store_options"),
    "_extras": ("needs_serve",),
    "_installation": ("installation_of",),
    "_listen": ("listening", "run_app"),
    "_main": ("main",),
    "_output": ("echo_table",),
    "_program": ("run",),
    "_token_file": ("identity_of",),
}
__getattr__, __dir__, __all__ = late_names(__name__, _NAMES)
