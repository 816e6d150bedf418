"""Maintenance of the embedded store: backup, restore, compaction, shards, snapshots, upgrades and verification."""

from partita._late import late_names

_NAMES = {
    "_backup": ("back_up", "copy_pages"),
    "_compact": ("compact",),
    "_effort": ("Progress",),
    "_reshard": ("RESHARDING", "MergeShards", "SplitShard"),
    "_restore": ("copy_sound", "replace_with_backup", "unused"),
    "_snapshot": ("StoreSnapshot",),
    "_upgrade": ("upgrade",),
    "_verify": ("verify",),
}
__getattr__, __dir__, __all__ = late_names(__name__, _NAMES)
