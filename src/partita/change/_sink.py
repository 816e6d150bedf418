"""What a consumer writes to: a sink that keeps its own place in the stream, together with what it made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

from msgspec import Struct

from partita.change._change import ItemChange
from partita.change._snapshot import Snapshot
from partita.errors import LeaseLost

Positions: TypeAlias = Mapping[str, int]
"""How far each shard was read: the sequence of its last change, 0 for none yet."""


class Sink(Protocol):
    """Applies changes, each exactly once, because it commits them together with its positions.

    Contract:
    - `apply` and `load` happen wholly or not at all, whenever the process is killed.
    - A change at or before the sink's position in its shard was applied before, and is passed over.
    - A change that does not fit its entity is set aside with the reason, in the same commit; the rest go on.
    """

    def positions(self) -> Positions:
        """Where it is; empty before the first load."""
        ...

    def apply(self, batch: Sequence[ItemChange], positions: Positions) -> None:
        """Apply a batch, in order, and then be at the positions. The batch may be empty."""
        ...

    def load(self, snapshot: Snapshot) -> None:
        """Drop what there is, load all items of the snapshot, and be at its positions."""
        ...


def further(positions: Positions, there: Positions) -> dict[str, int]:
    """Positions, where a sink is further already its own: none falls."""
    return {shard: max(position, there.get(shard, 0)) for shard, position in positions.items()}


class Advance(Struct, frozen=True):
    """How far some shards are brought by one commit, and under which numbers of their leases."""

    positions: Positions
    fences: Mapping[str, int]
    gone: frozenset[str] = frozenset()
    """Shards that the stream no longer has: a sink forgets them."""

    def after(self, positions: Positions, fences: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
        """The positions and numbers of a sink after the commit, by what it has before it. No position falls.

        Raises:
            LeaseLost: a shard was written under a higher number, by whoever has its lease now.
        """
        for shard, fence in self.fences.items():
            if fences.get(shard, 0) > fence:
                raise LeaseLost(f"The lease of the shard {shard} is another worker's now.")
        reached = {**positions, **further(self.positions, positions)}
        return (
            {shard: at for shard, at in reached.items() if shard not in self.gone},
            {shard: fence for shard, fence in {**fences, **self.fences}.items() if shard not in self.gone},
        )


class FencedSink(Sink, Protocol):
    """A sink that several workers write to, each the shards whose leases it holds.

    Contract:
    - The numbers of leases are compared in the commit itself. A worker that was overtaken while it stood still changes
      nothing any more, once the shard was written under the higher number.
    - Until then both may write: the one that is later passes over what the other has written.
    """

    def refresh(self) -> None:
        """See what others have written."""
        ...

    def fences(self) -> Mapping[str, int]:
        """The highest number under which each shard was written."""
        ...

    def apply_fenced(self, batch: Sequence[ItemChange], advance: Advance) -> None:
        """Apply changes of some shards, in order, and then be further in these alone.

        Raises:
            LeaseLost: a shard was written under a higher number.
        """
        ...
