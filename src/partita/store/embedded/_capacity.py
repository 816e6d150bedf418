"""Capacity units as AWS charges them, separately for the table and each index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from partita.store._requests import Capacity
from partita.store.embedded._planned_writes import PlannedWrite
from partita.store.embedded._table import Index, Row, entry_size
from partita.values import equal, read_units, write_units

Parts: TypeAlias = tuple[tuple[str, float, float], ...]


def of_write(planned: PlannedWrite, factor: int = 1) -> Capacity:
    """Units of a write: for the larger of the item before and after it, and for the changes in each index.

    A transaction charges the table's units twice, and the indexes' units once.
    """
    table = planned.table
    largest = planned.size if planned.before is None else max(planned.size, planned.before.size)
    units = write_units(largest) * factor
    if not table.keeps_entries:
        return Capacity(table.name, 0.0, units)
    if planned.before is None and not table.vectors:
        return Capacity(table.name, 0.0, units, tuple(_new_parts(planned)))
    vectors = tuple(_vector_parts(planned)) if table.vectors else ()
    return Capacity(table.name, 0.0, units, tuple(_index_parts(planned)), vectors)


def _new_parts(planned: PlannedWrite) -> list[tuple[str, float, float]]:
    """Units of each index that a new item is added to; a faster `_index_parts` for items with no previous version."""
    entries = zip(planned.table.indexes, planned.entries, strict=False)  # there are no entries if nothing is written
    return [(index.name, 0.0, _new_units(index, planned)) for index, entry in entries if entry[0] is not None]


def _vector_parts(planned: PlannedWrite) -> list[tuple[str, float, float]]:
    """The bytes written to each vector index whose entry changes."""
    parts = []
    for position, index in enumerate(planned.table.vectors):
        was_in = planned.before is not None and planned.old_vectors[position] is not None
        is_in = planned.after is not None and planned.vectors[position] is not None
        before = planned.before.item if planned.before is not None and was_in else None
        written = index.write_bytes(before, planned.after if is_in else None)
        if written:
            parts.append((index.name, 0.0, written))
    return parts


def _index_parts(planned: PlannedWrite) -> list[tuple[str, float, float]]:
    parts = []
    for position, index in enumerate(planned.table.indexes):
        old = planned.old_entries[position] if planned.before is not None else index.empty
        new = planned.entries[position] if planned.after is not None else index.empty
        units = _index_units(index, planned, old, new)
        if units:
            parts.append((index.name, 0.0, units))
    return parts


def _index_units(index: Index, planned: PlannedWrite, old: Row, new: Row) -> float:
    was_in, is_in = old[0] is not None, new[0] is not None
    if was_in and is_in and old == new:
        return _units_of_same_key(index, planned)
    return (_old_units(index, planned) if was_in else 0.0) + (_new_units(index, planned) if is_in else 0.0)


def _units_of_same_key(index: Index, planned: PlannedWrite) -> float:
    assert planned.before is not None  # noqa: S101 - it was in the index
    assert planned.after is not None  # noqa: S101 - it is in the index
    if equal(index.projection(planned.before.item), index.projection(planned.after)):
        return 0.0
    return max(_old_units(index, planned), _new_units(index, planned))


def _old_units(index: Index, planned: PlannedWrite) -> float:
    assert planned.before is not None  # noqa: S101 - it was in the index
    size = planned.before.size
    return write_units(size if index.projected is None else entry_size(index, planned.before.item, size))


def _new_units(index: Index, planned: PlannedWrite) -> float:
    assert planned.after is not None  # noqa: S101 - it is in the index
    size = planned.size
    return write_units(size if index.projected is None else entry_size(index, planned.after, size))


def of_get(table: str, size: int, *, consistent: bool) -> Capacity:
    """Units of reading one item."""
    return Capacity(table, read_units(size, consistent=consistent))


def total(parts: Iterable[Capacity]) -> tuple[Capacity, ...]:
    """The sum for each table, in the order of the tables' first occurrence."""
    by_table: dict[str, list[Capacity]] = {}
    for part in parts:
        by_table.setdefault(part.table, []).append(part)
    return tuple([_sum(table, same) for table, same in by_table.items()])


def _sum(table: str, parts: Sequence[Capacity]) -> Capacity:
    return Capacity(
        table,
        sum([part.read for part in parts]),
        sum([part.write for part in parts]),
        _sum_of_parts([part.indexes for part in parts]),
        _sum_of_parts([part.vectors for part in parts]),
    )


def _sum_of_parts(groups: Iterable[Parts]) -> Parts:
    reads: dict[str, float] = {}
    writes: dict[str, float] = {}
    for parts in groups:
        for name, read, write in parts:
            reads[name] = reads.get(name, 0.0) + read
            writes[name] = writes.get(name, 0.0) + write
    return tuple([(name, read, writes[name]) for name, read in reads.items()])
