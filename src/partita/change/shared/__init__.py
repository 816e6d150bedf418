"""Streams on many workers: leases of shards, shared fairly, with numbers that sinks compare in their commits."""

from partita.change.shared._group import ShardOwner, owners_of
from partita.change.shared._member import Membership
from partita.change.shared._model import TABLE as LEASES_TABLE
from partita.change.shared._model import Heartbeat, ShardLease
from partita.change.shared._policy import LeasePolicy, group_of
from partita.change.shared._worker import Outside, ShardBatch, SharedConsumer, Upkeep

__all__ = [
    "LEASES_TABLE",
    "Heartbeat",
    "LeasePolicy",
    "Membership",
    "Outside",
    "ShardBatch",
    "ShardLease",
    "ShardOwner",
    "SharedConsumer",
    "Upkeep",
    "group_of",
    "owners_of",
]
