"""The interface of a sink, which stores its position in the stream together with the data built from the stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

from msgspec import Struct

from partita.change._change import ItemChange
from partita.change._snapshot import Snapshot
from partita.errors import LeaseLost

Positions: TypeAlias = Mapping[str, int]
"""How far each shard was read: the sequence of the last change that was read, 0 for none yet."""


class Sink(Protocol):
    """Applies each change exactly once, because it commits changes together with its positions.

    Contract:
    - `apply` and `load` are atomic, even if the process is killed.
    - A change at or before the sink's position in its shard was applied before, and is skipped.
    - A change that does not fit its entity is set aside with the reason, in the same commit; the others are applied.
    """

    def positions(self) -> Positions:
        """Return the sink's positions; empty before the first load."""
        ...

    def apply(self, batch: Sequence[ItemChange], positions: Positions) -> None:
        """Apply a batch, in order, and advance to the positions. The batch may be empty."""
        ...

    def load(self, snapshot: Snapshot) -> None:
        """Drop all data, load all items of the snapshot, and set the positions to those of the snapshot."""
        ...


def further(positions: Positions, there: Positions) -> dict[str, int]:
    """Return `positions`, or those of the sink (`there`) if they are further: no position decreases."""
    return {shard: max(position, there.get(shard, 0)) for shard, position in positions.items()}


class Advance(Struct, frozen=True):
    """The positions that one commit reaches in some shards, and the fences (numbers of their leases) it uses."""

    positions: Positions
    fences: Mapping[str, int]
    gone: frozenset[str] = frozenset()
    """Shards that the stream no longer has: a sink drops them."""

    def after(self, positions: Positions, fences: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
        """Return the positions and fences of a sink after the commit, from those before it. No position decreases.

        Raises:
            LeaseLost: a shard was written under a higher fence, by the worker that holds its lease now.
        """
        for shard, fence in self.fences.items():
            if fences.get(shard, 0) > fence:
                raise LeaseLost(f"Another worker holds the lease of the shard {shard} now.")
        reached = {**positions, **further(self.positions, positions)}
        return (
            {shard: at for shard, at in reached.items() if shard not in self.gone},
            {shard: fence for shard, fence in {**fences, **self.fences}.items() if shard not in self.gone},
        )


class FencedSink(Sink, Protocol):
    """A sink that several workers write to, each of them the shards whose leases it holds.

    Contract:
    - The fences (numbers of the leases) are compared in the commit itself. A stalled worker whose shard was taken over
      cannot change anything once the shard was written under the higher fence.
    - Until then both may write: the later one skips the changes that the other has written.
    """

    def refresh(self) -> None:
        """Make the writes of others visible."""
        ...

    def fences(self) -> Mapping[str, int]:
        """Return the highest fence under which each shard was written."""
        ...

    def apply_fenced(self, batch: Sequence[ItemChange], advance: Advance) -> None:
        """Apply changes of some shards, in order, and advance the positions of these shards only.

        Raises:
            LeaseLost: a shard was written under a higher fence.
        """
        ...
