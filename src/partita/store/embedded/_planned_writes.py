"""The write of one item: planned without writing anything, then applied.

Planning finds every error of a request. So a request that fails leaves nothing to undo, and all actions
of a transaction can be planned before the first one is applied.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any, Final, TypeAlias

import apsw

from partita.errors import ConditionFailed, ValidationFailed
from partita.expressions import IfNotExists, Path, Update, Value, apply_update, creates, evaluate
from partita.store._requests import ConditionCheck, DeleteItem, GetItem, PutItem, UpdateItem
from partita.store.embedded import _streams, points
from partita.store.embedded._keys import EmptyIndexKey, IndexKeyMismatch
from partita.store.embedded._table import KeyColumns, Row, Table
from partita.store.embedded.vectors import VectorEntry, change_rows
from partita.values import MAX_ITEM_BYTES, Item, decode_item, encode_measured, equal, text_size

Write: TypeAlias = PutItem | UpdateItem | DeleteItem

MAX_NAME_BYTES: Final = 65_535
TOO_LARGE: Final = "Item size has exceeded the maximum allowed size"
COPIED_TYPE: Final = "The update expression attempted to update the secondary index key to unsupported type"
TOO_LARGE_TO_UPDATE: Final = "Item size to update has exceeded the maximum allowed size"


class StoredItem:
    """An item as stored in the file, decoded on first access."""

    __slots__ = ("_item", "blob", "id", "size")

    def __init__(self, row: Row) -> None:
        self.id, self.size, self.blob = row
        self._item: Item | None = None

    @property
    def item(self) -> Item:
        """The decoded item; it is shared, so do not return it to callers of the store."""
        item = self._item
        if item is None:
            item = self._item = decode_item(self.blob)
        return item


class PlannedWrite:
    """The effect of a write on one item: `before` is replaced by `after`; either may be None."""

    __slots__ = (
        "after",
        "before",
        "blob",
        "entries",
        "key",
        "old_entries",
        "old_vectors",
        "size",
        "table",
        "vectors",
    )

    def __init__(
        self,
        table: Table,
        key: KeyColumns,
        before: StoredItem | None,
        after: Item | None = None,
        *,
        blob: bytes = b"",
        size: int = 0,
    ) -> None:
        self.table = table
        self.key = key
        self.before = before
        self.after = after
        self.size = size
        self.blob = blob
        self.entries: tuple[Row, ...] = ()
        self.old_entries: tuple[Row, ...] = ()
        self.vectors: tuple[VectorEntry | None, ...] = ()
        self.old_vectors: tuple[VectorEntry | None, ...] = ()

    @property
    def changes_anything(self) -> bool:
        """False for a write that leaves the item unchanged, even if it changes the order of the attributes."""
        if self.before is None or self.after is None:
            return self.before is not None or self.after is not None
        if self.blob == self.before.blob:
            return False
        # Rewriting an item only in another order is harmless, unless it would add a record to a stream.
        return self.table.stream is None or not equal(self.before.item, self.after)


def find(connection: apsw.Connection, table: Table, key: KeyColumns) -> StoredItem | None:
    """The stored item with that key, or None."""
    row = connection.execute(table.sql_find, key).get
    return None if row is None else StoredItem(row)


def locate(table: Table, action: Write | ConditionCheck | GetItem) -> KeyColumns:
    """The key columns of the item that the action reads or writes."""
    return table.item_columns(action.item) if isinstance(action, PutItem) else table.key_columns(action.key)


def plan(connection: apsw.Connection, table: Table, request: Write, key: KeyColumns | None = None) -> PlannedWrite:
    """Plan the request. `key` contains the key columns of its item, if they are already known.

    Raises:
        ValidationFailed: the request breaks a rule. ConditionFailed: its condition is false.
    """
    if key is None:
        key = locate(table, request)
    return _PLANS[type(request)](table, key, find(connection, table, key), request)


def check_condition(request: Write | ConditionCheck, stored: StoredItem | None) -> None:
    """Raise ConditionFailed if the condition is false, with the stored item if that was requested."""
    if request.condition is None or evaluate(request.condition, {} if stored is None else stored.item):
        return
    if stored is None or not request.on_failure_item:
        raise ConditionFailed
    raise ConditionFailed(item=decode_item(stored.blob))


def may_be_new(request: PutItem) -> bool:
    """Whether the condition of a put allows that there is no item with its key."""
    return request.condition is None or evaluate(request.condition, {})


def plan_new(table: Table, key: KeyColumns, request: PutItem) -> PlannedWrite:
    """Plan a put for the case that no item has its key.

    Raises:
        ValidationFailed: the put breaks a rule.
    """
    blob, size = encoded(request.item, TOO_LARGE)
    return _with_entries(PlannedWrite(table, key, None, request.item, blob=blob, size=size))


def plan_over(planned: PlannedWrite, request: PutItem, before: StoredItem | None) -> PlannedWrite:
    """Complete the plan of a put with the item that has its key, or None.

    Raises:
        ConditionFailed: the condition of the put is false.
    """
    if before is not None:
        planned.before = before
        _add_old_entries(planned, before)
    if request.condition is not None:
        check_condition(request, before)  # after the validation of the new item, which comes first
    return planned


def _plan_put(table: Table, key: KeyColumns, before: StoredItem | None, request: PutItem) -> PlannedWrite:
    return plan_over(plan_new(table, key, request), request, before)


def check_index_keys(table: Table, update: Update) -> None:
    """Raise EmptyIndexKey if the update assigns an empty value to a key attribute of an index."""
    for action in update.sets if table.index_keys else ():
        value = action.operand.value if type(action.operand) is Value else None
        if isinstance(value, str | bytes) and not value and len(action.path.parts) == 1:
            part = table.index_keys.get(str(action.path.parts[0]))
            if part is not None and part.has_type(value):
                raise EmptyIndexKey(value)


def _plan_update(table: Table, key: KeyColumns, before: StoredItem | None, request: UpdateItem) -> PlannedWrite:
    check_index_keys(table, request.update)
    check_condition(request, before)
    if before is not None:
        after = apply_update(request.update, before.item)
    elif creates(request.update):
        # A new item starts as its key, which the update may read; REMOVE and DELETE have no effect on it.
        after = apply_update(Update(request.update.sets, (), request.update.adds, ()), request.key)
    else:
        return PlannedWrite(table, key, None)
    blob, size = encoded(after, TOO_LARGE_TO_UPDATE)
    try:
        return _with_entries(PlannedWrite(table, key, before, after, blob=blob, size=size), keeping_old_faults=True)
    except EmptyIndexKey as error:
        raise EmptyIndexKey(error.value) from None
    except IndexKeyMismatch as error:
        if _is_copied(request.update, error.name):
            raise ValidationFailed(COPIED_TYPE) from None
        raise


def _is_copied(update: Update, name: str) -> bool:
    """Whether the update assigns to the attribute what another one has, so that its type is not known in advance."""
    assigned = [action.operand for action in update.sets if action.path.parts == (name,)]
    return any(isinstance(operand, Path | IfNotExists) for operand in assigned)


def _plan_delete(table: Table, key: KeyColumns, before: StoredItem | None, request: DeleteItem) -> PlannedWrite:
    check_condition(request, before)
    return deletion(table, key, before)


def deletion(table: Table, key: KeyColumns, before: StoredItem | None) -> PlannedWrite:
    """Plan the deletion of the stored item."""
    return _with_entries(PlannedWrite(table, key, before))


_PLANS: Final[dict[type, Callable[[Table, KeyColumns, StoredItem | None, Any], PlannedWrite]]] = {
    PutItem: _plan_put,
    UpdateItem: _plan_update,
    DeleteItem: _plan_delete,
}


def encoded(item: Item, message: str) -> tuple[bytes, int]:
    """The stored form of an item and its size; raise ValidationFailed with the message if it is too large."""
    blob, size = encode_measured(item)
    if size > MAX_NAME_BYTES:
        if size > MAX_ITEM_BYTES:
            raise ValidationFailed(message, hint=f"It has {size:,} bytes; {MAX_ITEM_BYTES:,} are allowed.")
        if any(text_size(name) > MAX_NAME_BYTES for name in item):
            message = f"Attribute name is too long: it may have {MAX_NAME_BYTES} bytes"
            raise ValidationFailed(f"One or more parameter values were invalid: {message}")
    return blob, size


def _with_entries(planned: PlannedWrite, *, keeping_old_faults: bool = False) -> PlannedWrite:
    table, before, after = planned.table, planned.before, planned.after
    if not table.keeps_entries:
        return planned
    if after is not None:
        known = before.item if keeping_old_faults and before is not None else None
        planned.entries = tuple([index.entry(after, known) for index in table.indexes])
        if table.vectors:
            planned.vectors = tuple([index.entry(after, known) for index in table.vectors])
    if before is not None:
        _add_old_entries(planned, before)
    return planned


def _add_old_entries(planned: PlannedWrite, before: StoredItem) -> None:
    table = planned.table
    if table.keeps_entries:
        planned.old_entries = tuple([index.entry_or_none(before.item) for index in table.indexes])
        planned.old_vectors = tuple([index.entry_or_none(before.item) for index in table.vectors])


def apply_if_new(connection: apsw.Connection, planned: PlannedWrite, now: float) -> bool:
    """Write a new item like `apply`, and return True; if an item with its key exists, write nothing."""
    connection.execute(planned.table.sql_insert_new, (*planned.key, *_columns(planned)))
    is_new = connection.changes() == 1
    planned.table.last_put_was_new = is_new
    if is_new:
        _write_rest(connection, planned, now)
    return is_new


def apply(connection: apsw.Connection, planned: PlannedWrite, now: float, *, by_ttl: bool = False) -> None:
    """Write the row and its records in the table's change log and stream."""
    if not planned.changes_anything:
        return
    _write_row(connection, planned)
    _write_rest(connection, planned, now, by_ttl=by_ttl)


def _write_rest(connection: apsw.Connection, planned: PlannedWrite, now: float, *, by_ttl: bool = False) -> None:
    """Write the vector index entries, change log record and stream record of a written row."""
    if planned.table.vectors:
        _write_vectors(connection, planned)
    if planned.table.sql_log is not None:
        points.append(connection, planned, now)
    if planned.table.stream is not None:
        _streams.append(connection, planned, now, by_ttl=by_ttl)


def _write_row(connection: apsw.Connection, planned: PlannedWrite) -> None:
    table, before, after = planned.table, planned.before, planned.after
    if after is None:
        assert before is not None  # noqa: S101 - it changes something
        connection.execute(table.sql_delete, (before.id,))
        return
    columns = _columns(planned)
    if before is None:
        connection.execute(table.sql_insert, (*planned.key, *columns))
    elif planned.entries == planned.old_entries and not table.building and _keeps_expiry(table, columns[0], before):
        connection.execute(table.sql_replace, (planned.size, planned.blob, before.id))
    else:
        connection.execute(table.sql_update, (*columns, before.id))


def _columns(planned: PlannedWrite) -> Row:
    """All columns of the new row except those of its key; the expiry comes first."""
    table, after = planned.table, planned.after
    assert after is not None  # noqa: S101 - the write does not delete the row
    unfinished = table.building_row(after) if table.building else ()
    return (table.expiry(after), planned.size, *chain.from_iterable(planned.entries), *unfinished, planned.blob)


def _write_vectors(connection: apsw.Connection, planned: PlannedWrite) -> None:
    """Write the vector index entries. Call this right after writing the row, because it uses the last inserted id."""
    row_id = connection.last_insert_rowid() if planned.before is None else planned.before.id
    none = (None,) * len(planned.table.vectors)
    before, after = planned.old_vectors or none, planned.vectors or none
    for index, old, new in zip(planned.table.vectors, before, after, strict=True):
        change_rows(connection, index, row_id, old, new)


def _keeps_expiry(table: Table, expiry: int | None, before: StoredItem) -> bool:
    return table.schema.ttl is None or expiry == table.expiry(before.item)


def check_update_spares_key(table: Table, update: Update) -> None:
    """Raise ValidationFailed if the update would change a key attribute."""
    for path in updated_paths(update):
        if path.parts[0] in table.key_names:
            message = f"Cannot update attribute {path.parts[0]}. This attribute is part of the key"
            raise ValidationFailed("One or more parameter values were invalid: " + message)


def updated_paths(update: Update) -> list[Path]:
    """Every path that the update touches."""
    paths = [action.path for action in update.sets]
    if update.adds or update.deletes or update.removes:
        paths += [action.path for action in update.adds]
        paths += [action.path for action in update.deletes]
        paths += update.removes
    return paths
