"""A worker's view of its group, and what follows from it: the shards that may be read, and each worker's share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from partita.change.shared._model import WHOLE, Heartbeat, ShardLease, heartbeats_of, leases_of
from partita.operations import Procedure
from partita.session import Session
from partita.store import Shard

MAX_SHARDS: Final = 100_000
MAX_WORKERS: Final = 10_000


class GroupView(Struct, frozen=True):
    """The leases and the workers of a group at one instant."""

    leases: Mapping[str, ShardLease]
    workers: Mapping[str, Heartbeat]

    def owner(self, shard: str) -> str | None:
        """Return the worker that holds a shard, if that worker is alive."""
        lease = self.leases.get(shard)
        return lease.owner if lease is not None and lease.owner in self.workers else None

    def without(self, dead: Iterable[str]) -> GroupView:
        """Return the view without workers that were found dead."""
        gone = set(dead)
        return replace(self, workers={name: each for name, each in self.workers.items() if name not in gone})

    def is_done(self, shard: str) -> bool:
        """Whether a shard is closed and the sink has all of its changes."""
        lease = self.leases.get(shard)
        return lease is not None and lease.done

    def readable(self, shards: Sequence[Shard]) -> list[str]:
        """Return the shards that may be read now: those that are not done, but whose parents are."""
        names = {shard.id for shard in shards}
        return [
            shard.id
            for shard in shards
            if not self.is_done(shard.id) and all(self.is_done(parent) for parent in shard.parents if parent in names)
        ]

    def held_by(self, worker: str) -> list[str]:
        """Return the shards that a worker holds."""
        return [shard for shard, lease in self.leases.items() if lease.owner == worker and shard != WHOLE]

    def quotas(self, shards: int) -> dict[str, int]:
        """Return each worker's share of this number of shards: no two shares differ by more than one."""
        ranked = sorted(self.workers)
        return {name: shards // len(ranked) + (rank < shards % len(ranked)) for rank, name in enumerate(ranked)}

    def missing(self, readable: Sequence[str], worker: str) -> int:
        """Return how many shards the other workers lack to have their shares."""
        quotas = self.quotas(len(readable))
        owned = [self.owner(shard) for shard in readable]
        return sum(max(0, quotas[each] - owned.count(each)) for each in self.workers if each != worker)


def view_of(group: str) -> Procedure[GroupView]:
    """Read a group, leases first: a worker joins before it takes a shard, so a lease's owner is among the workers."""
    leases = yield from leases_of(group).consistent().walk(max_items=MAX_SHARDS)
    workers = yield from heartbeats_of(group).consistent().walk(max_items=MAX_WORKERS)
    return GroupView({each.shard: each for each in leases.items}, {each.worker: each for each in workers.items})


class ShardOwner(Struct, frozen=True):
    """The owner of a shard, for display."""

    shard: str
    owner: str | None
    """The name of the process; None if no process holds the shard."""
    fence: int
    done: bool


def owners_of(session: Session, group: str) -> dict[str, ShardOwner]:
    """Return the owner of each shard, by shard."""
    view = session.run(view_of(group))
    return {
        shard: ShardOwner(shard, _name(view, shard), lease.fence, lease.done)
        for shard, lease in view.leases.items()
        if shard != WHOLE
    }


def _name(view: GroupView, shard: str) -> str | None:
    owner = view.owner(shard)
    return None if owner is None else view.workers[owner].name
