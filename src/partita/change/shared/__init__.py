"""Streams on many workers: leases of shards, shared fairly, with fences that sinks compare in their commits."""

from partita.change.shared._forgetting import forget_sink
from partita.change.shared._group import ShardOwner, owners_of
from partita.change.shared._member import Membership
from partita.change.shared._model import TABLE as LEASES_TABLE
from partita.change.shared._model import Heartbeat, ShardLease, SharedStream, heartbeats_of, leases_of, shared_streams
from partita.change.shared._policy import LeasePolicy, group_of
from partita.change.shared._reader import ShardFigures, ShardReader, StreamFigures
from partita.change.shared._worker import Outside, ShardBatch, SharedConsumer, Upkeep

__all__ = [
    "LEASES_TABLE",
    "Heartbeat",
    "LeasePolicy",
    "Membership",
    "Outside",
    "ShardBatch",
    "ShardFigures",
    "ShardLease",
    "ShardOwner",
    "ShardReader",
    "SharedConsumer",
    "SharedStream",
    "StreamFigures",
    "Upkeep",
    "forget_sink",
    "group_of",
    "heartbeats_of",
    "leases_of",
    "owners_of",
    "shared_streams",
]
