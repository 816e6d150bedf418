"""The progress of a copy, stored in a table of the target, so that the next run resumes there, on any machine.

| attribute | |
| --- | --- |
| `copy` | the key: the name of the table that is copied |
| `owner` | the run that writes the checkpoint; if another run takes it over, this one stops |
| `saves` | how often it was written, which distinguishes a late request from the next one |
| `state` | phase, positions in the stream, and the tables that it belongs to, as JSON |
| `segments` | the progress of each segment of the scan |

    scan ──── sweep ──── changes
    each segment's   items only in    positions: all changes up to here are applied
    last key         the target       intended: some changes up to here are applied; None if none after `positions` are
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Struct

from partita.errors import ConditionFailed, CopyTakenOver, TableInUse
from partita.expressions import And, Compare, Missing, Or, Path, Value
from partita.store import CreateTable, GetItem, KeyAttribute, PutItem, Store, TableSchema
from partita.transfer._tables import described
from partita.values import Item

CHECKPOINTS: Final = TableSchema("PartitaCopies", KeyAttribute("copy"))
"""The table of the checkpoints."""

Phase: TypeAlias = Literal["scan", "sweep", "changes"]


class Segment(Struct, frozen=True):
    """The progress of one segment of a scan."""

    last: Item | None = None
    """The key of the last item that was copied."""
    done: bool = False


class CopyState(Struct, frozen=True):
    """The progress of the copy of a table."""

    source: str
    """Identifies the table that is copied among other tables of its name."""
    target: str
    phase: Phase
    segments: tuple[Segment, ...] = ()
    positions: dict[str, str] | None = None
    """The positions up to which all changes are applied, by shard; None if the table has no stream."""
    intended: dict[str, str] | None = None
    """The positions up to which the target may already have changes, after a scan or an unfinished batch of images."""
    sweeps: bool = False
    """Whether the target may have items that the source does not have."""
    copied: int = 0


class _Stored(Struct, frozen=True):
    source: str
    target: str
    phase: Phase
    positions: dict[str, str] | None
    intended: dict[str, str] | None
    sweeps: bool
    copied: int


_OWNER: Final = Path(("owner",))
_SAVES: Final = Path(("saves",))


class Checkpoint:
    """The checkpoint of one table, held by one run."""

    def __init__(self, store: Store, name: str, owner: str) -> None:
        self._store = store
        self._name = name
        self._owner = owner
        self._saves = 0

    def take(self) -> CopyState | None:
        """Take over the checkpoint from any other run, and return its state; None if there is none."""
        if described(self._store, CHECKPOINTS.name) is None:
            with suppress(TableInUse):  # another run was first
                self._store.execute(CreateTable(CHECKPOINTS))
        item = self._stored()
        if item is None:
            return None
        self._saves = int(item.get("saves", 0))
        mine = {**item, "owner": self._owner, "saves": self._saves}
        self._put(PutItem(CHECKPOINTS.name, mine, Compare("=", _OWNER, Value(item["owner"]))))
        return _state(item)

    def save(self, state: CopyState) -> None:
        """Write the progress.

        Raises:
            CopyTakenOver: another run continues the copy.
        """
        self._put(self.next_save(state))
        self.saved()

    def next_save(self, state: CopyState) -> PutItem:
        """Return the request that writes the progress, provided that this run has written the previous checkpoint."""
        before = And((Compare("=", _OWNER, Value(self._owner)), Compare("=", _SAVES, Value(self._saves))))
        return PutItem(CHECKPOINTS.name, self._item(state), before if self._saves else Or((before, Missing(_OWNER))))

    def saved(self) -> None:
        """Record that the next save was written."""
        self._saves += 1

    def check_saved(self, save: PutItem) -> None:
        """Check that a refused save had already been written by an earlier request whose response was lost.

        Raises:
            CopyTakenOver: it had not: another run continues the copy.
        """
        if self._stored() != save.item:
            raise CopyTakenOver(f"Another run continues the copy of {self._name}.")

    def _stored(self) -> Item | None:
        return self._store.execute(GetItem(CHECKPOINTS.name, {"copy": self._name}, consistent=True)).item

    def _put(self, put: PutItem) -> None:
        try:
            self._store.execute(put)
        except ConditionFailed:
            self.check_saved(put)

    def _item(self, state: CopyState) -> Item:
        names = _Stored.__struct_fields__
        stored = _Stored(**{name: getattr(state, name) for name in names})
        return {
            "copy": self._name,
            "owner": self._owner,
            "saves": self._saves + 1,
            "state": msgspec.json.encode(stored).decode(),
            "segments": [_segment_item(segment) for segment in state.segments],
        }


def _segment_item(segment: Segment) -> dict[str, Any]:
    return {"done": segment.done} if segment.last is None else {"done": segment.done, "last": segment.last}


def _state(item: Item) -> CopyState:
    stored = msgspec.json.decode(item["state"], type=_Stored)
    segments = tuple(Segment(each.get("last"), each["done"]) for each in item["segments"])
    return CopyState(segments=segments, **msgspec.structs.asdict(stored))
