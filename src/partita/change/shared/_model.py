"""The leases as they are stored: one item for each shard and each worker that lives, and one that names the stream.

A worker renews one item, its heartbeat, however many shards it has. A shard is its owner's as long as the heartbeat of
the owner is there; who takes a worker for dead deletes that.
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
"""The table that the leases are in."""
WHOLE: Final = "*"
"""The lease of the whole stream: who has it works alone."""


class ShardLease(Entity, table=TABLE):
    """Who reads a shard for a sink. It is kept as long as the stream has the shard, so that its number never falls."""

    primary: ClassVar = Key("GROUP#{group}", "SHARD#{shard}")
    in_lake: ClassVar = False

    group: str
    shard: str
    owner: str | None = None
    """The identifier of a worker; None where it was given back."""
    fence: int = 0
    """One more whenever the shard is taken."""
    done: bool = False
    """The shard is closed, and the sink has all of it: its children may begin."""


class Heartbeat(Entity, table=TABLE):
    """A worker that lives: it counts on."""

    primary: ClassVar = Key("GROUP#{group}", "WORKER#{worker}")
    in_lake: ClassVar = False

    group: str
    worker: str
    """Of one life: a worker that was taken for dead comes back under another."""
    name: str
    """What people call the process."""
    beat: int = 0
    lags: dict[str, float] = Field(default_factory=dict)
    """How many seconds old what it has not brought into the sink is, by shard; those without lag are left out."""


class SharedStream(Entity, table=TABLE):
    """A stream that workers share for a sink: by it, others find the leases."""

    primary: ClassVar = Key("STREAMS", "GROUP#{group}")
    in_lake: ClassVar = False

    group: str
    of_table: str
    sink: str
    """Where the changes go, such as the place of a lake."""


@query(ShardLease, ShardLease.primary, budget=Rcu(125))
def leases_of(group: str) -> None:
    """The leases of all shards that a group reads; 1 RCU for each 40 of them, twice that if consistent."""


@query(Heartbeat, Heartbeat.primary, budget=Rcu(125))
def heartbeats_of(group: str) -> None:
    """The workers of a group that live."""


@query(SharedStream, SharedStream.primary, budget=Rcu(125))
def shared_streams() -> None:
    """The streams that workers share, or have shared; about 0.5 RCU for each 40 of them."""


@get(ShardLease, budget=Rcu(0.5))
def lease_of(group: str, shard: str) -> None:
    """The lease of one shard."""


@pattern(budget=Wcu(1))
def name_stream(stream: SharedStream) -> Put[SharedStream]:
    """Say which stream a group shares."""
    return put(stream)


@pattern(budget=Wcu(1))
def forget_stream(stream: SharedStream) -> Delete[SharedStream]:
    """Say no longer that a stream is shared."""
    return delete(stream)


@pattern(budget=Wcu(1))
def join(heartbeat: Heartbeat) -> Put[Heartbeat]:
    """Begin to live."""
    return insert(heartbeat)


@pattern(budget=Wcu(6))
def renew(heartbeat: Heartbeat) -> Put[Heartbeat]:
    """Go on living, if nobody has taken the worker for dead; 1 WCU, and more where many shards lag."""
    return put(heartbeat).when(f(Heartbeat.beat).eq(heartbeat.beat - 1))


@pattern(budget=Wcu(1))
def end(heartbeat: Heartbeat) -> Delete[Heartbeat]:
    """Take a worker for dead, or leave: all of its shards are free. Not if it has lived on."""
    return delete(heartbeat).when(f(Heartbeat.beat).eq(heartbeat.beat))


@pattern(budget=Wcu(4), writes={ShardLease: (PutItem, ConditionCheck)})
def take(lease: ShardLease, seen: ShardLease | None, whole: ShardLease | None) -> Transaction:
    """Take a shard whose lease is as it was seen, while that of the whole stream is, too: nobody works alone."""
    at = lease_of(lease.group, WHOLE)
    unchanged = absent(at) if whole is None else check(at, _as_seen(whole))
    return transact(_written(lease, seen), unchanged)


@pattern(budget=Wcu(1))
def write_lease(lease: ShardLease, seen: ShardLease | None) -> Put[ShardLease]:
    """Give a shard back, say that it is done, or take the whole stream, if the lease is as it was seen."""
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
