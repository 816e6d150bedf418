"""Stores bulk operations in the journal of loads, in the same store as the tables that they write.

| `part` | `id` | |
| --- | --- | --- |
| `operation` | of the operation, which begins with the time | the request, and the status |
| `unfinished` | of the operation | present until the operation has ended |
| `token` | the client's | the operation that it started, and a digest of the request |
| `inputs` | of the operation | the number of its objects and their bytes, once they are all listed |
| `input/ID` | number | one object |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import Struct

from partita.buckets import StoredObject
from partita.bulk import JOURNAL, Progress
from partita.errors import TableNotFound
from partita.expressions import Compare, KeyCondition, Path, Value
from partita.runtime import chunks
from partita.store import (
    BatchWriteItem,
    DeleteItem,
    GetItem,
    Json,
    PutItem,
    QueryTable,
    Store,
    TransactAction,
    TransactWriteItems,
)
from partita.values import Item
from partita.wire._parameters import DEFAULT_REGION, Requests

IN_PROGRESS: Final = "IN_PROGRESS"
CANCELLING: Final = "CANCELLING"
CANCELLED: Final = "CANCELLED"
FAILED: Final = "FAILED"
_BATCH: Final = 25
_STATUS: Final = Path(("status",))


class Operation(Struct, frozen=True):
    """A bulk operation; times are in milliseconds."""

    id: str
    table: str
    created_at: float
    """When its table was created: the operation does not apply to a later table of the same name."""
    status: str
    started: int
    input: Json
    output: Json
    token: str | None = None
    ended: int | None = None
    max_units: int | None = None
    tier: str = "STANDARD"
    failure_code: str | None = None
    failure: str | None = None
    region: str = DEFAULT_REGION

    @property
    def is_finished(self) -> bool:
        """Whether it has ended, with any status."""
        return self.status not in (IN_PROGRESS, CANCELLING)


def key(part: str, name: str) -> Item:
    """The key of a journal item."""
    return {"part": part, "id": name}


def save(operation: Operation, before: str | None) -> PutItem:
    """The request that stores an operation, on condition that its stored status is still `before`."""
    item = {
        **key("operation", operation.id),
        "status": operation.status,
        "operation": msgspec.json.encode(operation).decode(),
    }
    condition = None if before is None else Compare("=", _STATUS, Value(before))
    return PutItem(JOURNAL.name, item, condition)


def begin(operation: Operation, digest: str) -> TransactWriteItems:
    """The request that stores a new operation, which is to be run."""
    actions: list[TransactAction] = [save(operation, None), PutItem(JOURNAL.name, key("unfinished", operation.id))]
    if operation.token is not None:
        used = {"operation": operation.id, "digest": digest, "at": operation.started}
        actions.append(PutItem(JOURNAL.name, {**key("token", operation.token), **used}))
    return TransactWriteItems(tuple(actions))


def end(operation: Operation, before: str) -> TransactWriteItems:
    """The request that stores an operation that has ended."""
    return TransactWriteItems((save(operation, before), DeleteItem(JOURNAL.name, key("unfinished", operation.id))))


def read_item(part: str, name: str) -> Requests[Item | None]:
    """A journal item, or None."""
    try:
        response = yield GetItem(JOURNAL.name, key(part, name), consistent=True)
    except TableNotFound:
        return None
    item: Item | None = response.item
    return item


def read_operation(name: str) -> Requests[Operation | None]:
    """The operation with this id, or None."""
    item = yield from read_item("operation", name)
    return None if item is None else msgspec.json.decode(item["operation"], type=Operation)


def read_progress(name: str) -> Requests[tuple[Progress, int | None]]:
    """The progress of an operation, and the bytes of all its objects once they are known."""
    item = yield from read_item("progress", name)
    listed = yield from read_item("inputs", name)
    progress = Progress() if item is None else msgspec.convert(item["progress"], Progress)
    return progress, None if listed is None else listed["bytes"]


def unfinished(store: Store) -> list[str]:
    """The ids of the operations that are to be run, oldest first."""
    try:
        page = store.execute(QueryTable(JOURNAL.name, KeyCondition((("part", "unfinished"),)), consistent=True))
    except TableNotFound:
        return []
    return [item["id"] for item in page.items]


def save_inputs(store: Store, operation: str, objects: list[StoredObject]) -> None:
    """Store the objects that the operation reads: those that existed when it started."""
    writes = [
        PutItem(JOURNAL.name, {**key(f"input/{operation}", f"{number:08}"), **msgspec.to_builtins(each)})
        for number, each in enumerate(objects)
    ]
    for batch in chunks(writes, _BATCH):
        store.execute(BatchWriteItem(batch))
    size = sum(each.size for each in objects)
    store.execute(PutItem(JOURNAL.name, {**key("inputs", operation), "count": len(objects), "bytes": size}))


def read_inputs(store: Store, operation: str) -> list[StoredObject] | None:
    """The objects that the operation reads; None if they are not all listed yet."""
    if store.execute(GetItem(JOURNAL.name, key("inputs", operation), consistent=True)).item is None:
        return None
    fields = StoredObject.__struct_fields__
    return [
        msgspec.convert({name: item[name] for name in fields}, StoredObject)
        for item in _all(store, f"input/{operation}")
    ]


def forget_inputs(store: Store, operation: str) -> None:
    """Delete the stored objects of an operation that has ended."""
    items = [*_all(store, f"input/{operation}")]
    for batch in chunks(items, _BATCH):
        store.execute(BatchWriteItem(tuple(DeleteItem(JOURNAL.name, key(it["part"], it["id"])) for it in batch)))


def _all(store: Store, part: str) -> Iterator[Item]:
    start: Item | None = None
    while True:
        request = QueryTable(JOURNAL.name, KeyCondition((("part", part),)), start=start, consistent=True)
        page = store.execute(request)
        yield from page.items
        start = page.last_key
        if start is None:
            return
