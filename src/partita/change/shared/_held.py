"""The leases that a worker holds. Each is taken, released and finished only if it is unchanged since it was read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

from partita.change.shared._group import GroupView, view_of
from partita.change.shared._model import WHOLE, ShardLease, forget, take, write_lease
from partita.errors import ConditionFailed, TransactionCancelled
from partita.session import Session


class HeldShards:
    """The leases that one worker holds, without those that another worker was faster to take."""

    def __init__(self, session: Session, group: str) -> None:
        self._session = session
        self._group = group
        self._leases: dict[str, ShardLease] = {}

    def __len__(self) -> int:
        return len(self._leases)

    @property
    def fences(self) -> Mapping[str, int]:
        """The shards, with the fences of their leases."""
        return {shard: lease.fence for shard, lease in self._leases.items()}

    def see(self, view: GroupView, me: str) -> None:
        """Set the leases to those of this worker in a view of the group."""
        self._leases = {shard: view.leases[shard] for shard in view.held_by(me)}

    def drop(self) -> None:
        """Drop all leases without writing; the other workers will notice."""
        self._leases = {}

    def take(self, view: GroupView, shard: str, me: str, least: int) -> None:
        """Take a shard under a fence above `least`, unless another worker was faster."""
        seen = view.leases.get(shard)
        fence = max(least, seen.fence if seen else 0) + 1
        lease = ShardLease(group=self._group, shard=shard, owner=me, fence=fence)
        with suppress(TransactionCancelled):
            self._session.run(take(lease, seen, view.leases.get(WHOLE)))
            self._leases[shard] = lease

    def give_back(self, shards: Iterable[str]) -> None:
        """Release some shards for other workers."""
        for shard in list(shards):
            lease = self._leases.pop(shard)
            with suppress(ConditionFailed):
                self._session.run(write_lease(lease.model_copy(update={"owner": None}), lease))

    def finish(self, shard: str, fence: int) -> None:
        """Record that the sink has all of a shard, if this still is the lease under which the shard was written."""
        lease = self._leases.pop(shard, None)
        if lease is not None and lease.fence == fence:
            with suppress(ConditionFailed):
                self._session.run(write_lease(lease.model_copy(update={"owner": None, "done": True}), lease))

    def forget(self, view: GroupView, known: Iterable[str]) -> None:
        """Remove the leases of shards that the stream no longer has."""
        kept = {*known, WHOLE}
        for lease in (lease for shard, lease in view.leases.items() if shard not in kept):
            with suppress(ConditionFailed):
                self._session.run(forget(lease))

    def take_whole(self, view: GroupView, me: str) -> bool:
        """Take the lease of the whole stream; return whether this worker holds it."""
        seen = view.leases.get(WHOLE)
        if seen is not None and seen.owner == me:
            return True
        lease = ShardLease(group=self._group, shard=WHOLE, owner=me, fence=1 + (seen.fence if seen else 0))
        try:
            self._session.run(write_lease(lease, seen))
        except ConditionFailed:
            return False
        return True

    def give_whole(self, me: str) -> None:
        """Release the lease of the whole stream, so that the other workers read again."""
        lease = self._session.run(view_of(self._group)).leases.get(WHOLE)
        if lease is not None and lease.owner == me:
            with suppress(ConditionFailed):
                self._session.run(write_lease(lease.model_copy(update={"owner": None}), lease))
