"""Upkeep of the embedded store: backup, restore, shards, snapshots, earlier formats, and the search for damage."""

from partita.store.embedded.upkeep._backup import Progress, back_up
from partita.store.embedded.upkeep._reshard import MergeShards, SplitShard, merge_shards, split_shard
from partita.store.embedded.upkeep._restore import copy_sound, replace_with_backup, unused
from partita.store.embedded.upkeep._snapshot import StoreSnapshot
from partita.store.embedded.upkeep._upgrade import upgrade
from partita.store.embedded.upkeep._verify import verify

__all__ = [
    "MergeShards",
    "Progress",
    "SplitShard",
    "StoreSnapshot",
    "back_up",
    "copy_sound",
    "merge_shards",
    "replace_with_backup",
    "split_shard",
    "unused",
    "upgrade",
    "verify",
]
