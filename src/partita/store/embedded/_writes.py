"""Put, update, delete, and batches of puts and deletes."""

from __future__ import annotations

from typing import Final

from partita.errors import ValidationFailed
from partita.expressions import Value, paths_in, touched, validate_condition, validate_update
from partita.store._requests import (
    BatchWriteItem,
    BatchWriteResponse,
    ConditionCheck,
    DeleteItem,
    PutItem,
    UpdateItem,
    WriteResponse,
)
from partita.store.embedded import _capacity
from partita.store.embedded._connection import Writer
from partita.store.embedded._keys import KeyMismatch
from partita.store.embedded._planned_writes import (
    PlannedWrite,
    Write,
    apply,
    apply_if_new,
    check_update_spares_key,
    find,
    may_be_new,
    plan,
    plan_new,
    plan_over,
    updated_paths,
)
from partita.store.embedded._table import Table
from partita.values import Item, decode_item

MAX_BATCH_WRITES: Final = 25
MAX_BATCH_BYTES: Final = 16 * 1024 * 1024


def write_item(writer: Writer, request: UpdateItem | DeleteItem) -> WriteResponse:
    """Update or delete one item.

    Raises:
        ValidationFailed, ConditionFailed, TableNotFound
    """
    table = writer.table(request.table)
    check_write(table, request)
    if request.returns not in _RETURNS[type(request)]:
        raise ValidationFailed(_INVALID_RETURNS)
    planned = plan(writer.connection, table, request)
    returned = None if request.returns == "NONE" else _returned(request, planned)
    response = WriteResponse(returned, _capacity.of_write(planned))
    apply(writer.connection, planned, writer.clock())
    return response


def put_item(writer: Writer, request: PutItem) -> WriteResponse:
    """Put one item. If the last put created an item, first try an insert, which saves reading the old item.

    Raises:
        ValidationFailed, ConditionFailed, TableNotFound
    """
    table, connection = writer.table(request.table), writer.connection
    if request.condition is not None:
        validate_condition(request.condition)
    if request.returns not in _OLD_OR_NONE:
        raise ValidationFailed(_INVALID_RETURNS)
    planned = plan_new(table, table.item_columns(request.item), request)
    if table.last_put_was_new and may_be_new(request) and apply_if_new(connection, planned, writer.clock()):
        return WriteResponse(None, _capacity.of_write(planned))
    before = find(connection, table, planned.key)
    table.last_put_was_new = before is None
    plan_over(planned, request, before)
    returned = None if request.returns == "NONE" else _returned(request, planned)
    response = WriteResponse(returned, _capacity.of_write(planned))
    apply(connection, planned, writer.clock())
    return response


_INVALID_RETURNS: Final = "ReturnValues can only be ALL_OLD or NONE"
_OLD_OR_NONE: Final = ("NONE", "ALL_OLD")
_RETURNS: Final = {
    DeleteItem: _OLD_OR_NONE,
    UpdateItem: ("NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"),
}


def check_write(table: Table, request: Write | ConditionCheck) -> None:
    """Raise ValidationFailed for invalid expressions of the request, which are checked without the stored item."""
    if type(request) is UpdateItem:
        validate_update(request.update)
        check_update_spares_key(table, request.update)
        table.check_scalars(updated_paths(request.update))
        for action in request.update.sets:
            if type(action.operand) is not Value:
                table.check_scalars(paths_in(action.operand))
    if request.condition is not None:
        validate_condition(request.condition)


def _returned(request: Write, planned: PlannedWrite) -> Item | None:
    returns = request.returns
    if returns in ("ALL_OLD", "UPDATED_OLD"):
        old = None if planned.before is None else decode_item(planned.before.blob)
        if old is None or returns == "ALL_OLD":
            return old
        return touched(request.update, old) or None  # type: ignore[union-attr]  # only updates have UPDATED_*
    new = None if planned.after is None else decode_item(planned.blob)
    if new is None or returns == "ALL_NEW":
        return new
    return touched(request.update, new) or None  # type: ignore[union-attr]


def batch_write(writer: Writer, request: BatchWriteItem) -> BatchWriteResponse:
    """Execute up to 25 puts and deletes of different items.

    Raises:
        ValidationFailed: there are too many writes, two of the same item, or one breaks a rule.
    """
    if not 1 <= len(request.writes) <= MAX_BATCH_WRITES:
        raise ValidationFailed(
            "1 validation error detected: Value at 'requestItems' failed to satisfy constraint: "
            f"Member must have length less than or equal to {MAX_BATCH_WRITES}, "
            "Member must have length greater than or equal to 1"
        )
    planned = [_plan_in_batch(writer, write) for write in request.writes]
    if len({(each.table.id, each.key) for each in planned}) < len(planned):
        raise ValidationFailed("Provided list of item keys contains duplicates")
    if sum(each.size for each in planned) > MAX_BATCH_BYTES:
        raise ValidationFailed("Request size exceeds the limit of 16 MB")
    response = BatchWriteResponse((), _capacity.total(map(_capacity.of_write, planned)))
    now = writer.clock()
    for each in planned:
        apply(writer.connection, each, now)
    return response


def _plan_in_batch(writer: Writer, write: PutItem | DeleteItem) -> PlannedWrite:
    if write.condition is not None or write.returns != "NONE":
        raise ValidationFailed("A write in a batch takes neither a condition nor ReturnValues")
    try:
        return plan(writer.connection, writer.table(write.table), write)
    except KeyMismatch:
        raise KeyMismatch("The provided key element does not match the schema") from None  # also for a put
