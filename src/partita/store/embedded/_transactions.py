"""Transactions: reads of one instant, and writes that happen all or none, once per token."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct

from partita.errors import (
    ConditionFailed,
    Reason,
    TokenMismatch,
    TransactionCancelled,
    ValidationFailed,
)
from partita.expressions import validate_projection
from partita.store._requests import (
    Capacity,
    ConditionCheck,
    GetItem,
    PutItem,
    TransactAction,
    TransactGetItems,
    TransactGetResponse,
    TransactWriteItems,
    TransactWriteResponse,
    UpdateItem,
)
from partita.store.embedded import _capacity
from partita.store.embedded._connection import Reader, Writer
from partita.store.embedded._keys import EmptyIndexKey, KeyMismatch
from partita.store.embedded._planned_writes import TOO_LARGE as TOO_LARGE_ITEM
from partita.store.embedded._planned_writes import (
    PlannedWrite,
    apply,
    check_condition,
    check_index_keys,
    encoded,
    find,
    locate,
    plan,
)
from partita.store.embedded._reads import read_one
from partita.store.embedded._table import KeyColumns, Table
from partita.store.embedded._writes import check_write
from partita.values import Item, number_text, read_units, write_units

Action: TypeAlias = TransactAction | GetItem

MAX_ACTIONS: Final = 100
MAX_BYTES: Final = 4 * 1024 * 1024
MAX_TOKEN: Final = 36
TOKEN_SECONDS: Final = 600
TOO_LARGE: Final = "Transaction payload size cannot exceed 4 MB"

_SQL_TOKEN: Final = "SELECT digest FROM tokens WHERE token = ? AND at > ?"  # noqa: S105 - a statement
_SQL_KEEP: Final = "INSERT OR REPLACE INTO tokens (token, digest, at) VALUES (?, ?, ?)"


def transact_write(writer: Writer, request: TransactWriteItems) -> TransactWriteResponse:
    """Apply all changes or none.

    Raises:
        TransactionCancelled: an action failed; the error has one reason per action.
        TokenMismatch: the token was used with another request. ValidationFailed: the request breaks a rule.
    """
    _check_count(request.actions)
    if request.token is not None:
        _check_token(request.token)
    now = writer.clock()
    if request.token is not None and _is_replay(writer, request, now):
        return TransactWriteResponse(_replay_capacity(writer, request), replayed=True)
    planned = _plan_all(writer, request)
    parts = [each if isinstance(each, Capacity) else _capacity.of_write(each, 2) for each in planned]
    response = TransactWriteResponse(_capacity.total(parts))
    for each in planned:
        if isinstance(each, PlannedWrite):
            apply(writer.connection, each, now)
    if request.token is not None:
        writer.connection.execute(_SQL_KEEP, (request.token, _digest(request), now))
    return response


def transact_get(reader: Reader, request: TransactGetItems) -> TransactGetResponse:
    """Read up to 100 items as of one instant; each is charged twice.

    Raises:
        TransactionCancelled: a key does not match the schema of its table.
        ValidationFailed: there are too many items, they are too large together, or two are the same.
    """
    _check_count(request.gets)
    for get in request.gets:
        if get.projection is not None:
            validate_projection(get.projection)
    _checked_keys([reader.table(get.table) for get in request.gets], request.gets)
    is_within = reader.connection.in_transaction  # of a snapshot, or of a read of a past state
    try:
        if not is_within:
            reader.connection.execute("BEGIN")
        found = [read_one(reader, get) for get in request.gets]
    finally:
        if not is_within and reader.connection.in_transaction:  # an interrupt may come before BEGIN
            reader.connection.execute("COMMIT")
    if sum(size for _, size in found) > MAX_BYTES:
        raise ValidationFailed(TOO_LARGE)
    capacity = [
        Capacity(get.table, 2 * read_units(size, consistent=True))
        for get, (_, size) in zip(request.gets, found, strict=True)
    ]
    return TransactGetResponse([item or None for item, _ in found], _capacity.total(capacity))


def _check_count(actions: tuple[Action, ...]) -> None:
    if not 1 <= len(actions) <= MAX_ACTIONS:
        limit = f"less than or equal to {MAX_ACTIONS}" if actions else "greater than or equal to 1"
        raise ValidationFailed(
            "1 validation error detected: Value at 'transactItems' failed to satisfy constraint: "
            f"Member must have length {limit}"
        )


def _check_token(token: str) -> None:
    if not 1 <= len(token) <= MAX_TOKEN:
        raise ValidationFailed(
            f"1 validation error detected: Value '{token}' at 'clientRequestToken' failed to satisfy "
            f"constraint: Member must have length between 1 and {MAX_TOKEN}"
        )


def _plan_all(writer: Writer, request: TransactWriteItems) -> list[PlannedWrite | Capacity]:
    tables = [writer.table(action.table) for action in request.actions]
    for table, action in zip(tables, request.actions, strict=True):
        check_write(table, action)
    keys = _checked_keys(tables, request.actions)
    refused: dict[int, Reason] = {}
    planned: list[PlannedWrite | Capacity] = []
    for position, (table, key, action) in enumerate(zip(tables, keys, request.actions, strict=True)):
        try:
            planned.append(_plan(writer, table, key, action))
        except ConditionFailed as failure:
            refused[position] = Reason("ConditionalCheckFailed", failure.message, failure.item)
        except EmptyIndexKey:
            raise
        except ValidationFailed as error:
            _check_alone(tables, request.actions)
            raise _cancelled_by(position, len(tables), error) from None
    if refused:
        raise TransactionCancelled([refused.get(position) or Reason() for position in range(len(tables))])
    if sum(each.size for each in planned if isinstance(each, PlannedWrite)) > MAX_BYTES:
        raise ValidationFailed(TOO_LARGE)
    return planned


def _checked_keys(tables: Sequence[Table], actions: Sequence[Action]) -> list[KeyColumns]:
    """The key columns of each action; raise an error if two actions have the same item."""
    seen: set[tuple[int, KeyColumns]] = set()
    keys = []
    for position, (table, action) in enumerate(zip(tables, actions, strict=True)):
        try:
            key = locate(table, action)
        except KeyMismatch as mismatch:
            _check_alone(tables, actions)
            raise _cancelled_by(position, len(actions), mismatch) from None
        if (table.id, key) in seen:
            raise ValidationFailed("Transaction request cannot include multiple operations on one item")
        seen.add((table.id, key))
        keys.append(key)
    return keys


def _check_alone(tables: Sequence[Table], actions: Sequence[Action]) -> None:
    """Reject the request because of an action that is invalid whatever is stored, e.g. a put that is too large."""
    for table, action in zip(tables, actions, strict=True):
        if isinstance(action, PutItem):
            encoded(action.item, TOO_LARGE_ITEM)
            _check_index_keys(table, action.item)
        elif isinstance(action, UpdateItem):
            check_index_keys(table, action.update)


def _check_index_keys(table: Table, item: Item) -> None:
    for index in table.indexes:
        try:
            index.entry(item)
        except EmptyIndexKey:
            raise
        except ValidationFailed:  # a wrong type cancels the transaction instead
            continue


def _cancelled_by(position: int, actions: int, error: ValidationFailed) -> TransactionCancelled:
    """The error that reports only the first invalid action, whatever the conditions of the others are."""
    reasons = [Reason() for _ in range(actions)]
    reasons[position] = Reason("ValidationError", error.message)
    return TransactionCancelled(reasons)


def _plan(writer: Writer, table: Table, key: KeyColumns, action: TransactAction) -> PlannedWrite | Capacity:
    if not isinstance(action, ConditionCheck):
        return plan(writer.connection, table, action, key)
    stored = find(writer.connection, table, key)
    check_condition(action, stored)
    return Capacity(table.name, write=2 * write_units(0 if stored is None else stored.size))


def _is_replay(writer: Writer, request: TransactWriteItems, now: float) -> bool:
    known = writer.connection.execute(_SQL_TOKEN, (request.token, now - TOKEN_SECONDS)).get
    if known is None:
        return False
    if known != _digest(request):
        raise TokenMismatch("Request token already in use for another request with a different payload")
    return True


def _replay_capacity(writer: Writer, request: TransactWriteItems) -> tuple[Capacity, ...]:
    parts = []
    for action in request.actions:
        table = writer.table(action.table)
        stored = find(writer.connection, table, locate(table, action))
        size = 0 if stored is None else stored.size
        parts.append(Capacity(table.name, read=2 * read_units(size, consistent=True)))
    return _capacity.total(parts)


def forget_tokens(writer: Writer, now: float) -> None:
    """Delete tokens that are older than ten minutes."""
    writer.connection.execute("DELETE FROM tokens WHERE at <= ?", (now - TOKEN_SECONDS,))


def _digest(request: TransactWriteItems) -> bytes:
    form = msgspec.msgpack.encode(_form(request.actions))
    return hashlib.sha256(form).digest()


def _form(value: Any) -> Any:
    """The value with explicit tags for what its encoding would lose: node types, numbers and sets."""
    if isinstance(value, Struct):
        return [type(value).__name__, *(_form(getattr(value, name)) for name in value.__struct_fields__)]
    if isinstance(value, dict):
        return {name: _form(value[name]) for name in sorted(value)}
    if isinstance(value, list | tuple):
        return [_form(member) for member in value]
    if isinstance(value, set | frozenset):
        return ["set", *(_form(member) for member in sorted(value))]
    if type(value) is int or isinstance(value, Decimal):
        return ["number", number_text(value)]
    return value
