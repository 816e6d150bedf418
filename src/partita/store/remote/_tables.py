"""Requests about tables; they wait until the endpoint has completed a change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

import msgspec

from partita._aws import ApiCall, ApiClient, Calls
from partita.errors import TableInUse, TableNotFound
from partita.runtime import Pause
from partita.store import _requests as rq
from partita.store import _vector_requests as vrq
from partita.store._dynamodb_json import Json
from partita.store._dynamodb_tables import (
    attribute_definitions,
    index_definition,
    table_definition,
    table_schema,
    vector_definition,
)
from partita.store._schema import TableSchema

WAIT_SECONDS: Final = 900.0
FIRST_PAUSE: Final = 0.05
MAX_PAUSE: Final = 5.0
_OFF: Final = ("DISABLED", "DISABLING")


def table_call(name: str, parameters: Json, *, repeatable: bool = False) -> ApiCall:
    """The API call for a request about tables."""
    return ApiCall(name, msgspec.json.encode(parameters), repeatable=repeatable, writes=not repeatable)


def described(client: ApiClient, table: str) -> Calls[Json]:
    """The response of DescribeTable for a table."""
    call = table_call("DescribeTable", {"TableName": table}, repeatable=True)
    response: Json = msgspec.json.decode((yield from client.send(call)))["Table"]
    return response


def until_active(client: ApiClient, table: str) -> Calls[None]:
    """Wait until a table can be used."""
    yield from _until(client, table, _is_active)


def create_table(client: ApiClient, request: rq.CreateTable) -> Calls[rq.TableDescription]:
    """Create a table, wait until it can be used, and set its TTL."""
    schema = request.schema
    yield from client.send(table_call("CreateTable", table_definition(schema)))
    yield from _until(client, schema.name, _is_active)
    if schema.ttl is not None:
        yield from _switch_ttl(client, schema.name, schema.ttl, enabled=True)
    return (yield from _description(client, schema.name))


def describe_table(client: ApiClient, request: rq.DescribeTable) -> Calls[rq.TableDescription]:
    """Describe a table."""
    return (yield from _description(client, request.table))


def delete_table(client: ApiClient, request: rq.DeleteTable) -> Calls[rq.TableDescription]:
    """Delete a table, and wait until its name can be used again."""
    description = yield from _description(client, request.table)
    yield from client.send(table_call("DeleteTable", {"TableName": request.table}))
    with suppress(TableNotFound):
        yield from _until(client, request.table, lambda _: False)
    return description


def list_tables(client: ApiClient, request: rq.ListTables) -> Calls[tuple[str, ...]]:  # noqa: ARG001 - has no fields
    """List all table names, from all pages."""
    names: list[str] = []
    page: Json = {}
    while True:
        call = table_call("ListTables", page, repeatable=True)
        response: Json = msgspec.json.decode((yield from client.send(call)))
        names += response["TableNames"]
        last = response.get("LastEvaluatedTableName")
        if last is None:
            return tuple(sorted(names))
        page = {"ExclusiveStartTableName": last}


def create_index(client: ApiClient, request: rq.CreateIndex) -> Calls[rq.TableDescription]:
    """Add a global index, and wait until it is filled."""
    change = {
        "AttributeDefinitions": attribute_definitions(request.index.key),
        "GlobalSecondaryIndexUpdates": [{"Create": index_definition(request.index)}],
    }
    return (yield from _change(client, request.table, change))


def delete_index(client: ApiClient, request: rq.DeleteIndex) -> Calls[rq.TableDescription]:
    """Remove a global index, and wait until it is gone."""
    change = {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": request.index}}]}
    return (yield from _change(client, request.table, change))


def create_vector_index(client: ApiClient, request: vrq.CreateVectorIndex) -> Calls[rq.TableDescription]:
    """Add a vector index, and wait until it is filled."""
    change: Json = {"VectorIndexUpdates": [{"Create": vector_definition(request.index)}]}
    if request.index.search:
        change["AttributeDefinitions"] = attribute_definitions(request.index.search)
    return (yield from _change(client, request.table, change))


def delete_vector_index(client: ApiClient, request: vrq.DeleteVectorIndex) -> Calls[rq.TableDescription]:
    """Remove a vector index, and wait until it is gone."""
    change = {"VectorIndexUpdates": [{"Delete": {"IndexName": request.index}}]}
    return (yield from _change(client, request.table, change))


def set_stream(client: ApiClient, request: rq.SetStream) -> Calls[rq.TableDescription]:
    """Enable or disable the stream."""
    on = {"StreamEnabled": True, "StreamViewType": request.view}
    specification = {"StreamEnabled": False} if request.view is None else on
    return (yield from _change(client, request.table, {"StreamSpecification": specification}))


def set_time_to_live(client: ApiClient, request: rq.SetTimeToLive) -> Calls[rq.TableDescription]:
    """Set the TTL attribute, or disable TTL."""
    attribute = request.attribute
    if attribute is None:  # the API requires the name of the attribute that is disabled
        attribute = (yield from _ttl_attribute(client, request.table)) or "ttl"
    yield from _switch_ttl(client, request.table, attribute, enabled=request.attribute is not None)
    return (yield from _description(client, request.table))


def _change(client: ApiClient, table: str, change: Json) -> Calls[rq.TableDescription]:
    yield from client.send(table_call("UpdateTable", {"TableName": table, **change}))
    yield from _until(client, table, _is_active)
    return (yield from _description(client, table))


def _switch_ttl(client: ApiClient, table: str, attribute: str, *, enabled: bool) -> Calls[None]:
    specification = {"AttributeName": attribute, "Enabled": enabled}
    call = table_call("UpdateTimeToLive", {"TableName": table, "TimeToLiveSpecification": specification})
    yield from client.send(call)


def _ttl_attribute(client: ApiClient, table: str) -> Calls[str | None]:
    call = table_call("DescribeTimeToLive", {"TableName": table}, repeatable=True)
    response: Json = msgspec.json.decode((yield from client.send(call)))["TimeToLiveDescription"]
    return None if response["TimeToLiveStatus"] in _OFF else response.get("AttributeName")


def _description(client: ApiClient, table: str) -> Calls[rq.TableDescription]:
    response = yield from described(client, table)
    schema: TableSchema = table_schema(response, (yield from _ttl_attribute(client, table)))
    indexes = response.get("GlobalSecondaryIndexes", ())
    return rq.TableDescription(
        schema=schema,
        created_at=response["CreationDateTime"],
        item_count=response["ItemCount"],
        size_bytes=response["TableSizeBytes"],
        stream_id=response.get("LatestStreamArn"),
        status=response["TableStatus"],
        building=tuple(each["IndexName"] for each in indexes if each.get("IndexStatus", "ACTIVE") != "ACTIVE"),
    )


def _until(client: ApiClient, table: str, is_ready: Callable[[Json], bool]) -> Calls[None]:
    for pause in _pauses():
        if is_ready((yield from described(client, table))):
            return
        yield Pause(pause)
    raise TableInUse(f"The table {table!r} is still being changed.", hint="Try again later.")


def _pauses() -> Iterator[float]:
    pause, waited = FIRST_PAUSE, 0.0
    while waited < WAIT_SECONDS:
        yield pause
        waited += pause
        pause = min(pause * 1.5, MAX_PAUSE)


def _is_active(table: Json) -> bool:
    indexes: list[Any] = [*(table.get("GlobalSecondaryIndexes") or []), *(table.get("VectorIndexes") or [])]
    return table["TableStatus"] == "ACTIVE" and all(each.get("IndexStatus", "ACTIVE") == "ACTIVE" for each in indexes)
