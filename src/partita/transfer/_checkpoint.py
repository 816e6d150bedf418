"""How far a copy is, in a table of the target: whoever runs the copy next goes on there, on any machine.

| attribute | |
| --- | --- |
| `copy` | the key: the name of the table that is copied |
| `owner` | the run that writes it; another run that takes it over makes this one stop |
| `state` | phase, positions in the stream, and the tables that it belongs to, as JSON |
| `segments` | how far each segment of the scan is |

    scan ──── sweep ──── changes
    each segment's   what only the    positions: up to where the changes are applied
    last key         target has       intended: up to where a batch that was begun may be applied
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Struct

from partita.errors import ConditionFailed, CopyTakenOver, TableInUse
from partita.expressions import Compare, Condition, Missing, Or, Path, Value
from partita.store import CreateTable, GetItem, KeyAttribute, PutItem, Store, TableSchema
from partita.transfer._tables import described
from partita.values import Item

CHECKPOINTS: Final = TableSchema("PartitaCopies", KeyAttribute("copy"))
"""The table that the checkpoints are in."""

Phase: TypeAlias = Literal["scan", "sweep", "changes"]


class Segment(Struct, frozen=True):
    """How far one segment of a scan is."""

    last: Item | None = None
    """The key of the last item that was copied."""
    done: bool = False


class CopyState(Struct, frozen=True):
    """How far the copy of a table is."""

    source: str
    """What tells the table that is copied from others of its name."""
    target: str
    phase: Phase
    segments: tuple[Segment, ...] = ()
    positions: dict[str, str] | None = None
    """Up to where the changes are applied, by shard; None where the table has no stream."""
    intended: dict[str, str] | None = None
    """Up to where changes may be applied: those of a batch that was begun."""
    sweeps: bool = False
    """Whether the target may have items that the source has not."""
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


class Checkpoint:
    """The checkpoint of one table, held by one run."""

    def __init__(self, store: Store, name: str, owner: str) -> None:
        self._store = store
        self._name = name
        self._owner = owner

    def take(self) -> CopyState | None:
        """Take the checkpoint over from whoever had it, and say how far it is; None where there is none."""
        if described(self._store, CHECKPOINTS.name) is None:
            with suppress(TableInUse):  # another run was first
                self._store.execute(CreateTable(CHECKPOINTS))
        item = self._store.execute(GetItem(CHECKPOINTS.name, {"copy": self._name}, consistent=True)).item
        if item is None:
            return None
        self._put({**item, "owner": self._owner}, Compare("=", _OWNER, Value(item["owner"])))
        return _state(item)

    def save(self, state: CopyState) -> None:
        """Write how far it is.

        Raises:
            CopyTakenOver: another run goes on with it.
        """
        self._put(self._item(state), Missing(_OWNER))

    def _put(self, item: Item, otherwise: Condition) -> None:
        """Write it where it is this run's, which it may be although no response said so, or otherwise."""
        allowed = Or((Compare("=", _OWNER, Value(self._owner)), otherwise))
        try:
            self._store.execute(PutItem(CHECKPOINTS.name, item, allowed))
        except ConditionFailed as error:
            raise CopyTakenOver(f"Another run goes on with the copy of {self._name}.") from error

    def _item(self, state: CopyState) -> Item:
        names = _Stored.__struct_fields__
        stored = _Stored(**{name: getattr(state, name) for name in names})
        return {
            "copy": self._name,
            "owner": self._owner,
            "state": msgspec.json.encode(stored).decode(),
            "segments": [_segment_item(segment) for segment in state.segments],
        }


def _segment_item(segment: Segment) -> dict[str, Any]:
    return {"done": segment.done} if segment.last is None else {"done": segment.done, "last": segment.last}


def _state(item: Item) -> CopyState:
    stored = msgspec.json.decode(item["state"], type=_Stored)
    segments = tuple(Segment(each.get("last"), each["done"]) for each in item["segments"])
    return CopyState(segments=segments, **msgspec.structs.asdict(stored))
