"""What a consumer writes to: a sink that keeps its own place in the stream, together with what it made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

from partita.change._change import ItemChange
from partita.change._snapshot import Snapshot

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
