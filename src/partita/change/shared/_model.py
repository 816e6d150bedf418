"""The leases as they are stored: one item for each shard and each live worker, and one that names the stream.

A worker renews only one item, its heartbeat, however many shards it holds. A shard belongs to its owner as long as the
owner's heartbeat exists; a worker that considers another one dead deletes that heartbeat.
"""

from __future__ import annotations

from typing import ClassVar, Final

from pydantic import Field

from partita.expressions import Condition
from partita.model import Entity, Key, Rcu, Table, Wcu, all_of, f
from partita.operations import Delete, Put, Transaction, absent, check, delete, insert, put, transact
from partita.patterns import get, pattern, query
from partita.store import ConditionCheck, PutItem

TABLE: Final = Table("PartitaLeases")
"""The table of the leases."""
WHOLE: Final = "*"
"""The lease of the whole stream: the worker that holds it works alone."""


class ShardLease(Entity, table=TABLE):
    """The owner of a shard for a sink. It is kept as long as the stream has the shard, so its fence never decreases."""

    primary: ClassVar = Key("GROUP#{group}", "SHARD#{shard}")
    in_lake: ClassVar = False

    group: str
    shard: str
    owner: str | None = None
    """The identifier of a worker; None after the lease was released."""
    fence: int = 0
    """Increases by one whenever the shard is taken."""
    done: bool = False
    """Whether the shard is closed and the sink has all of it, so that its children may be read."""


class Heartbeat(Entity, table=TABLE):
    """A live worker, which increments `beat`."""

    primary: ClassVar = Key("GROUP#{group}", "WORKER#{worker}")
    in_lake: ClassVar = False

    group: str
    worker: str
    """The identifier of one life: a worker that was considered dead returns under another."""
    name: str
    """The displayed name of the process."""
    beat: int = 0
    lags: dict[str, float] = Field(default_factory=dict)
    """The age of the oldest change not yet applied to the sink, in seconds, by shard; without shards that have none."""


class SharedStream(Entity, table=TABLE):
    """A stream that workers share for a sink; other processes find the leases through it."""

    primary: ClassVar = Key("STREAMS", "GROUP#{group}")
    in_lake: ClassVar = False

    group: str
    of_table: str
    sink: str
    """The sink that the changes are applied to, such as the location of a lake."""


@query(ShardLease, ShardLease.primary, budget=Rcu(125))
def leases_of(group: str) -> None:
    """The leases of all shards that a group reads; 1 RCU for each 40 of them, twice that if consistent."""


@query(Heartbeat, Heartbeat.primary, budget=Rcu(125))
def heartbeats_of(group: str) -> None:
    """The live workers of a group."""


@query(SharedStream, SharedStream.primary, budget=Rcu(125))
def shared_streams() -> None:
    """The streams that workers share, or have shared; about 0.5 RCU for each 40 of them."""


@get(ShardLease, budget=Rcu(0.5))
def lease_of(group: str, shard: str) -> None:
    """The lease of one shard."""


@pattern(budget=Wcu(1))
def name_stream(stream: SharedStream) -> Put[SharedStream]:
    """Record which stream a group shares."""
    return put(stream)


@pattern(budget=Wcu(1))
def forget_stream(stream: SharedStream) -> Delete[SharedStream]:
    """Remove the record that a stream is shared."""
    return delete(stream)


@pattern(budget=Wcu(1))
def join(heartbeat: Heartbeat) -> Put[Heartbeat]:
    """Begin a worker's life."""
    return insert(heartbeat)


@pattern(budget=Wcu(6))
def renew(heartbeat: Heartbeat) -> Put[Heartbeat]:
    """Renew a heartbeat, unless the worker was considered dead; 1 WCU, and more if many shards lag."""
    return put(heartbeat).when(f(Heartbeat.beat).eq(heartbeat.beat - 1))


@pattern(budget=Wcu(1))
def end(heartbeat: Heartbeat) -> Delete[Heartbeat]:
    """Remove a worker that is dead or leaves, unless its heartbeat has changed: all of its shards become free."""
    return delete(heartbeat).when(f(Heartbeat.beat).eq(heartbeat.beat))


@pattern(budget=Wcu(4), writes={ShardLease: (PutItem, ConditionCheck)})
def take(lease: ShardLease, seen: ShardLease | None, whole: ShardLease | None) -> Transaction:
    """Take a shard, if its lease and that of the whole stream are unchanged, so that no worker works alone."""
    at = lease_of(lease.group, WHOLE)
    unchanged = absent(at) if whole is None else check(at, _as_seen(whole))
    return transact(_written(lease, seen), unchanged)


@pattern(budget=Wcu(1))
def write_lease(lease: ShardLease, seen: ShardLease | None) -> Put[ShardLease]:
    """Release a shard, mark it as done, or take the whole stream, if the lease is unchanged since it was read."""
    return _written(lease, seen)


@pattern(budget=Wcu(1))
def forget(lease: ShardLease) -> Delete[ShardLease]:
    """Remove the lease of a shard that the stream no longer has."""
    return delete(lease).when(_as_seen(lease))


def _written(lease: ShardLease, seen: ShardLease | None) -> Put[ShardLease]:
    return insert(lease) if seen is None else put(lease).when(_as_seen(seen))


def _as_seen(seen: ShardLease) -> Condition:
    owner = f(ShardLease.owner)
    return all_of(
        owner.missing() if seen.owner is None else owner.eq(seen.owner),
        f(ShardLease.fence).eq(seen.fence),
        f(ShardLease.done).eq(seen.done),
    )
