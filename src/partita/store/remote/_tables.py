"""Requests about tables: what takes the endpoint a while is waited for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

import msgspec

from partita._aws import Attempts, Call, Steps
from partita.errors import TableInUse, TableNotFound
from partita.runtime import Pause
from partita.store import _requests as rq
from partita.store._dynamodb_json import Json
from partita.store._dynamodb_tables import attribute_definitions, index_definition, table_definition, table_schema
from partita.store._schema import TableSchema

WAIT_SECONDS: Final = 900.0
FIRST_PAUSE: Final = 0.05
LONGEST_PAUSE: Final = 5.0
_OFF: Final = ("DISABLED", "DISABLING")


def table_call(name: str, parameters: Json, *, repeatable: bool = False) -> Call:
    """A call about tables."""
    return Call(name, msgspec.json.encode(parameters), repeatable=repeatable, writes=not repeatable)


def described(attempts: Attempts, table: str) -> Steps[Json]:
    """What DescribeTable says of a table."""
    call = table_call("DescribeTable", {"TableName": table}, repeatable=True)
    answer: Json = msgspec.json.decode((yield from attempts.send(call)))["Table"]
    return answer


def create_table(attempts: Attempts, request: rq.CreateTable) -> Steps[rq.TableDescription]:
    """Create a table, wait until it can be used, and set its TTL."""
    schema = request.schema
    yield from attempts.send(table_call("CreateTable", table_definition(schema)))
    yield from _until(attempts, schema.name, _is_active)
    if schema.ttl is not None:
        yield from _switch_ttl(attempts, schema.name, schema.ttl, enabled=True)
    return (yield from _description(attempts, schema.name))


def describe_table(attempts: Attempts, request: rq.DescribeTable) -> Steps[rq.TableDescription]:
    """What the endpoint knows of a table."""
    return (yield from _description(attempts, request.table))


def delete_table(attempts: Attempts, request: rq.DeleteTable) -> Steps[rq.TableDescription]:
    """Delete a table, and wait until its name is free again."""
    description = yield from _description(attempts, request.table)
    yield from attempts.send(table_call("DeleteTable", {"TableName": request.table}))
    with suppress(TableNotFound):
        yield from _until(attempts, request.table, lambda _: False)
    return description


def list_tables(attempts: Attempts, request: rq.ListTables) -> Steps[tuple[str, ...]]:  # noqa: ARG001 - has no fields
    """All table names, of all pages."""
    names: list[str] = []
    page: Json = {}
    while True:
        call = table_call("ListTables", page, repeatable=True)
        answer: Json = msgspec.json.decode((yield from attempts.send(call)))
        names += answer["TableNames"]
        last = answer.get("LastEvaluatedTableName")
        if last is None:
            return tuple(sorted(names))
        page = {"ExclusiveStartTableName": last}


def create_index(attempts: Attempts, request: rq.CreateIndex) -> Steps[rq.TableDescription]:
    """Add a global index, and wait until it is filled."""
    change = {
        "AttributeDefinitions": attribute_definitions(request.index.key),
        "GlobalSecondaryIndexUpdates": [{"Create": index_definition(request.index)}],
    }
    return (yield from _change(attempts, request.table, change))


def delete_index(attempts: Attempts, request: rq.DeleteIndex) -> Steps[rq.TableDescription]:
    """Remove a global index, and wait until it is gone."""
    change = {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": request.index}}]}
    return (yield from _change(attempts, request.table, change))


def set_stream(attempts: Attempts, request: rq.SetStream) -> Steps[rq.TableDescription]:
    """Enable or disable the stream."""
    on = {"StreamEnabled": True, "StreamViewType": request.view}
    specification = {"StreamEnabled": False} if request.view is None else on
    return (yield from _change(attempts, request.table, {"StreamSpecification": specification}))


def set_time_to_live(attempts: Attempts, request: rq.SetTimeToLive) -> Steps[rq.TableDescription]:
    """Name the TTL attribute, or switch TTL off."""
    attribute = request.attribute
    if attribute is None:  # the API wants the name of what is switched off
        attribute = (yield from _ttl_attribute(attempts, request.table)) or "ttl"
    yield from _switch_ttl(attempts, request.table, attribute, enabled=request.attribute is not None)
    return (yield from _description(attempts, request.table))


def _change(attempts: Attempts, table: str, change: Json) -> Steps[rq.TableDescription]:
    yield from attempts.send(table_call("UpdateTable", {"TableName": table, **change}))
    yield from _until(attempts, table, _is_active)
    return (yield from _description(attempts, table))


def _switch_ttl(attempts: Attempts, table: str, attribute: str, *, enabled: bool) -> Steps[None]:
    specification = {"AttributeName": attribute, "Enabled": enabled}
    call = table_call("UpdateTimeToLive", {"TableName": table, "TimeToLiveSpecification": specification})
    yield from attempts.send(call)


def _ttl_attribute(attempts: Attempts, table: str) -> Steps[str | None]:
    call = table_call("DescribeTimeToLive", {"TableName": table}, repeatable=True)
    answer: Json = msgspec.json.decode((yield from attempts.send(call)))["TimeToLiveDescription"]
    return None if answer["TimeToLiveStatus"] in _OFF else answer.get("AttributeName")


def _description(attempts: Attempts, table: str) -> Steps[rq.TableDescription]:
    answer = yield from described(attempts, table)
    schema: TableSchema = table_schema(answer, (yield from _ttl_attribute(attempts, table)))
    return rq.TableDescription(
        schema=schema,
        created_at=answer["CreationDateTime"],
        item_count=answer["ItemCount"],
        size_bytes=answer["TableSizeBytes"],
        stream_id=answer.get("LatestStreamArn"),
    )


def _until(attempts: Attempts, table: str, is_ready: Callable[[Json], bool]) -> Steps[None]:
    for pause in _pauses():
        if is_ready((yield from described(attempts, table))):
            return
        yield Pause(pause)
    raise TableInUse(f"The table {table!r} is still being changed.", hint="Run it again later.")


def _pauses() -> Iterator[float]:
    pause, waited = FIRST_PAUSE, 0.0
    while waited < WAIT_SECONDS:
        yield pause
        waited += pause
        pause = min(pause * 1.5, LONGEST_PAUSE)


def _is_active(table: Json) -> bool:
    indexes: list[Any] = table.get("GlobalSecondaryIndexes") or []
    return table["TableStatus"] == "ACTIVE" and all(each.get("IndexStatus", "ACTIVE") == "ACTIVE" for each in indexes)
