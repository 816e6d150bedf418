"""Upkeep of the embedded store: backup, restore, shards, snapshots, earlier formats, and the search for damage."""

from collections.abc import Mapping
from typing import Final

from partita._sqlite import Handler
from partita.store.embedded.upkeep._backup import back_up
from partita.store.embedded.upkeep._backup import copy as copy_pages
from partita.store.embedded.upkeep._effort import Progress
from partita.store.embedded.upkeep._reshard import MergeShards, SplitShard, merge_shards, split_shard
from partita.store.embedded.upkeep._restore import copy_sound, replace_with_backup, unused
from partita.store.embedded.upkeep._snapshot import StoreSnapshot
from partita.store.embedded.upkeep._upgrade import upgrade
from partita.store.embedded.upkeep._verify import verify

RESHARDING: Final[Mapping[type, Handler]] = {SplitShard: split_shard, MergeShards: merge_shards}
"""What executes each write about shards, by the type of the request."""

__all__ = [
    "RESHARDING",
    "MergeShards",
    "Progress",
    "SplitShard",
    "StoreSnapshot",
    "back_up",
    "copy_pages",
    "copy_sound",
    "replace_with_backup",
    "unused",
    "upgrade",
    "verify",
]
