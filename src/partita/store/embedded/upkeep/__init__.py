"""Upkeep of the embedded store: backup, restore, earlier formats, snapshots, and the search for damage."""

from partita.store.embedded.upkeep._backup import Progress, back_up
from partita.store.embedded.upkeep._restore import copy_sound, replace_with_backup, unused
from partita.store.embedded.upkeep._snapshot import StoreSnapshot
from partita.store.embedded.upkeep._upgrade import upgrade
from partita.store.embedded.upkeep._verify import verify

__all__ = [
    "Progress",
    "StoreSnapshot",
    "back_up",
    "copy_sound",
    "replace_with_backup",
    "unused",
    "upgrade",
    "verify",
]
