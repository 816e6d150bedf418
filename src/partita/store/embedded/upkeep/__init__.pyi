from partita.store.embedded.upkeep._backup import back_up, copy_pages
from partita.store.embedded.upkeep._compact import compact
from partita.store.embedded.upkeep._effort import Progress
from partita.store.embedded.upkeep._reshard import RESHARDING, MergeShards, SplitShard
from partita.store.embedded.upkeep._restore import copy_sound, replace_with_backup, unused
from partita.store.embedded.upkeep._snapshot import StoreSnapshot
from partita.store.embedded.upkeep._upgrade import upgrade
from partita.store.embedded.upkeep._verify import verify

__all__ = [
    "RESHARDING",
    "MergeShards",
    "Progress",
    "SplitShard",
    "StoreSnapshot",
    "back_up",
    "compact",
    "copy_pages",
    "copy_sound",
    "replace_with_backup",
    "unused",
    "upgrade",
    "verify",
]
