"""The referee: a store that executes Partita's requests on any DynamoDB endpoint, through boto3."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, TypeVar, cast

import boto3
from botocore import UNSIGNED
from botocore.config import Config
from tests.referee._capacity import capacities, capacity
from tests.referee._tables import (
    attribute_definitions,
    index_definition,
    table_definition,
    table_schema,
    vector_index_definition,
)
from tests.referee._wire import item_from_wire, item_to_wire, optional_item, translated_errors

from partita.errors import TableNotFound
from partita.expressions import KeyCondition
from partita.expressions._render import Renderer
from partita.store import _requests as rq
from partita.store import _vector_requests as vrq
from partita.values._attribute_values import Item

R = TypeVar("R")
Write = rq.PutItem | rq.UpdateItem | rq.DeleteItem | rq.ConditionCheck
Arguments = dict[str, Any]

_FILLING_SECONDS = 30.0


class Referee:
    """A `Store` on an endpoint that speaks DynamoDB's protocol; only for tests."""

    def __init__(self, endpoint: str) -> None:
        session = boto3.session.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name="us-east-1")
        # The endpoint must receive what a client would refuse, so there is no validation here, and no retry. It does
        # not check signatures or user agents, which would take a third of boto3's time.
        config = Config(
            parameter_validation=False,
            retries={"total_max_attempts": 1},
            read_timeout=60,
            signature_version=UNSIGNED,
            user_agent="tests",
        )
        self._items = session.client("dynamodb", endpoint_url=endpoint, config=config)
        self._streams = session.client("dynamodbstreams", endpoint_url=endpoint, config=config)
        self._sequence_texts: dict[int, str] = {}

    def execute(self, request: rq.Request[R]) -> R:
        """Execute the request on the endpoint, and raise its errors as every store does."""
        handler = cast("Callable[[Referee, Any], R]", _HANDLERS[type(request)])
        with translated_errors():
            return handler(self, request)

    async def execute_async(self, request: rq.Request[R]) -> R:
        """Execute the request in a thread."""
        return await asyncio.to_thread(self.execute, request)

    def close(self) -> None:
        """Close the connections."""
        self._items.close()
        self._streams.close()

    # --- single items ---

    def _get(self, request: rq.GetItem) -> rq.ItemResponse:
        wire = self._items.get_item(**_get_arguments(request), **_consistent(request), **_MEASURED)
        return rq.ItemResponse(optional_item(wire.get("Item")), capacity(wire["ConsumedCapacity"], "read"))

    def _put(self, request: rq.PutItem) -> rq.WriteResponse:
        return _write_response(
            self._items.put_item(**_write_arguments(request), ReturnValues=request.returns, **_MEASURED)
        )

    def _update(self, request: rq.UpdateItem) -> rq.WriteResponse:
        return _write_response(
            self._items.update_item(**_write_arguments(request), ReturnValues=request.returns, **_MEASURED)
        )

    def _delete(self, request: rq.DeleteItem) -> rq.WriteResponse:
        return _write_response(
            self._items.delete_item(**_write_arguments(request), ReturnValues=request.returns, **_MEASURED)
        )

    # --- pages ---

    def _query(self, request: rq.QueryTable) -> rq.PageResponse:
        renderer = Renderer()
        arguments = {
            "KeyConditionExpression": renderer.key_condition(request.key_condition),
            "ScanIndexForward": request.forward,
            **_page_arguments(request, renderer),
        }
        return _page_response(self._items.query(**arguments, **_MEASURED))

    def _scan(self, request: rq.ScanTable) -> rq.PageResponse:
        arguments = _page_arguments(request, Renderer())
        if request.segments != 1 or request.segment != 0:
            arguments |= {"Segment": request.segment, "TotalSegments": request.segments}
        return _page_response(self._items.scan(**arguments, **_MEASURED))

    def _search(self, request: vrq.SearchVectors) -> vrq.SearchResponse:
        arguments: Arguments = {
            "TableName": request.table,
            "IndexName": request.index,
            "SearchVector": [{"N": repr(float(each))} for each in request.vector],
            "TopK": request.top,
            **_search_arguments(request),
        }
        wire = self._items.search_vectors(**arguments, **_MEASURED)
        searched = float(wire["ConsumedCapacity"]["VectorSearchRequestBytes"])
        return vrq.SearchResponse(
            matches=[(item_from_wire(each["Item"]), each["Score"]) for each in wire["SearchResults"]],
            capacity=rq.Capacity(request.table, vectors=((request.index, searched, 0.0),)),
        )

    # --- batches and transactions ---

    def _batch_get(self, request: rq.BatchGetItem) -> rq.BatchGetResponse:
        tables: dict[str, Arguments] = {}
        for get in request.gets:
            shared = {**_projection_arguments(get), **_consistent(get)}
            tables.setdefault(get.table, {"Keys": [], **shared})["Keys"].append(item_to_wire(get.key))
        wire = self._items.batch_get_item(RequestItems=tables, **_MEASURED)
        found = [(table, item_from_wire(item)) for table, items in wire["Responses"].items() for item in items]
        left = [(table, item_from_wire(key)) for table, part in wire["UnprocessedKeys"].items() for key in part["Keys"]]
        return rq.BatchGetResponse(
            items=[_matching(get, found) for get in request.gets],
            unprocessed=tuple(get for get in request.gets if _matching(get, left) is not None),
            capacity=capacities(wire.get("ConsumedCapacity", ()), "read"),
        )

    def _batch_write(self, request: rq.BatchWriteItem) -> rq.BatchWriteResponse:
        tables: dict[str, list[Arguments]] = {}
        for write in request.writes:
            tables.setdefault(write.table, []).append(_batch_entry(write))
        wire = self._items.batch_write_item(RequestItems=tables, **_MEASURED)
        left = [(table, entry) for table, entries in wire["UnprocessedItems"].items() for entry in entries]
        return rq.BatchWriteResponse(
            unprocessed=tuple(each for each in request.writes if (each.table, _batch_entry(each)) in left),
            capacity=capacities(wire.get("ConsumedCapacity", ()), "write"),
        )

    def _transact_get(self, request: rq.TransactGetItems) -> rq.TransactGetResponse:
        gets = [{"Get": _get_arguments(get)} for get in request.gets]
        wire = self._items.transact_get_items(TransactItems=gets, **_MEASURED)
        return rq.TransactGetResponse(
            items=[optional_item(each.get("Item")) for each in wire["Responses"]],
            capacity=capacities(wire.get("ConsumedCapacity", ()), "read"),
        )

    def _transact_write(self, request: rq.TransactWriteItems) -> rq.TransactWriteResponse:
        actions = [{_ACTION_NAMES[type(action)]: _write_arguments(action)} for action in request.actions]
        token = {} if request.token is None else {"ClientRequestToken": request.token}
        wire = self._items.transact_write_items(TransactItems=actions, **token, **_MEASURED)
        used = capacities(wire.get("ConsumedCapacity", ()), "write")
        return rq.TransactWriteResponse(used, replayed=any(each.total_read for each in used))

    # --- tables ---

    def _create_table(self, request: rq.CreateTable) -> rq.TableDescription:
        self._items.create_table(**table_definition(request.schema))
        self._until_active(request.schema.name)
        if request.schema.ttl is not None:
            self._switch_ttl(request.schema.name, request.schema.ttl, enabled=True)
        return self._describe(request.schema.name)

    def _describe_table(self, request: rq.DescribeTable) -> rq.TableDescription:
        return self._describe(request.table)

    def _delete_table(self, request: rq.DeleteTable) -> rq.TableDescription:
        description = self._describe(request.table)
        self._items.delete_table(TableName=request.table)
        return description

    def _list_tables(self, _: rq.ListTables) -> tuple[str, ...]:
        pages = self._items.get_paginator("list_tables").paginate()
        return tuple(sorted(name for page in pages for name in page["TableNames"]))

    def _create_index(self, request: rq.CreateIndex) -> rq.TableDescription:
        return self._change_table(
            request.table,
            AttributeDefinitions=attribute_definitions(request.index.key),
            GlobalSecondaryIndexUpdates=[{"Create": index_definition(request.index)}],
        )

    def _delete_index(self, request: rq.DeleteIndex) -> rq.TableDescription:
        deletion = {"Delete": {"IndexName": request.index}}
        return self._change_table(request.table, GlobalSecondaryIndexUpdates=[deletion])

    def _create_vector_index(self, request: vrq.CreateVectorIndex) -> rq.TableDescription:
        return self._change_table(
            request.table,
            AttributeDefinitions=attribute_definitions(request.index.search),
            VectorIndexUpdates=[{"Create": vector_index_definition(request.index)}],
        )

    def _delete_vector_index(self, request: vrq.DeleteVectorIndex) -> rq.TableDescription:
        return self._change_table(request.table, VectorIndexUpdates=[{"Delete": {"IndexName": request.index}}])

    def _set_stream(self, request: rq.SetStream) -> rq.TableDescription:
        enabled = {"StreamEnabled": True, "StreamViewType": request.view}
        return self._change_table(
            request.table, StreamSpecification={"StreamEnabled": False} if request.view is None else enabled
        )

    def _set_ttl(self, request: rq.SetTimeToLive) -> rq.TableDescription:
        if request.attribute is None:
            self._switch_ttl(request.table, self._ttl_attribute(request.table) or "none", enabled=False)
        else:
            self._switch_ttl(request.table, request.attribute, enabled=True)
        return self._describe(request.table)

    def _change_table(self, table: str, **change: Any) -> rq.TableDescription:
        self._items.update_table(TableName=table, **change)
        self._until_active(table)
        self._until_filled(table)
        return self._describe(table)

    def _switch_ttl(self, table: str, attribute: str, *, enabled: bool) -> None:
        specification = {"AttributeName": attribute, "Enabled": enabled}
        self._items.update_time_to_live(TableName=table, TimeToLiveSpecification=specification)

    def _ttl_attribute(self, table: str) -> str | None:
        wire = self._items.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
        return wire.get("AttributeName") if wire["TimeToLiveStatus"] == "ENABLED" else None

    def _until_active(self, table: str) -> None:
        self._items.get_waiter("table_exists").wait(TableName=table, WaiterConfig={"Delay": 0.05, "MaxAttempts": 600})

    def _until_filled(self, table: str) -> None:
        """Wait until the vector indexes of a table can be searched, which boto3's waiters do not look at."""
        deadline = time.monotonic() + _FILLING_SECONDS
        while not self._is_filled(table):
            assert time.monotonic() < deadline, f"A vector index of {table} was not filled in time."
            time.sleep(0.05)

    def _is_filled(self, table: str) -> bool:
        indexes = self._items.describe_table(TableName=table)["Table"].get("VectorIndexes", ())
        return all(index["IndexStatus"] == "ACTIVE" for index in indexes)

    def _describe(self, table: str) -> rq.TableDescription:
        wire = self._items.describe_table(TableName=table)["Table"]
        return rq.TableDescription(
            schema=table_schema(wire, self._ttl_attribute(table)),
            created_at=wire["CreationDateTime"].timestamp(),
            item_count=wire["ItemCount"],
            size_bytes=wire["TableSizeBytes"],
            stream_id=wire.get("LatestStreamArn"),
        )

    # --- streams ---

    def _stream_arn(self, table: str) -> str:
        arn: str | None = self._items.describe_table(TableName=table)["Table"].get("LatestStreamArn")
        if arn is None:
            raise TableNotFound(f"Table {table} has no stream.")
        return arn

    def _describe_stream(self, request: rq.DescribeStream) -> rq.StreamDescription:
        arn = self._stream_arn(request.table)
        wire = self._streams.describe_stream(StreamArn=arn)["StreamDescription"]
        return rq.StreamDescription(
            stream_id=arn,
            view=wire["StreamViewType"],
            enabled=wire["StreamStatus"] == "ENABLED",
            shards=tuple(_shard(shard, wire["StreamStatus"]) for shard in wire["Shards"]),
        )

    def _read_stream(self, request: rq.ReadStream) -> rq.StreamPage:
        position: Arguments = {"ShardIteratorType": "TRIM_HORIZON"}
        if request.after:
            text = self._sequence_texts.get(request.after, str(request.after))
            position = {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": text}
        arn = self._stream_arn(request.table)
        iterator = self._streams.get_shard_iterator(StreamArn=arn, ShardId=request.shard, **position)
        wire = self._streams.get_records(ShardIterator=iterator["ShardIterator"], Limit=request.limit)
        return rq.StreamPage(
            records=[self._stream_record(record) for record in wire["Records"]],
            closed=not wire.get("NextShardIterator"),
        )

    def _stream_record(self, wire: Arguments) -> rq.StreamRecord:
        change = wire["dynamodb"]
        sequence = int(change["SequenceNumber"])
        self._sequence_texts[sequence] = change["SequenceNumber"]
        return rq.StreamRecord(
            sequence=sequence,
            event=wire["eventName"],
            keys=item_from_wire(change["Keys"]),
            old=optional_item(change.get("OldImage")),
            new=optional_item(change.get("NewImage")),
            at=change["ApproximateCreationDateTime"].timestamp(),
            size=change["SizeBytes"],
            by_ttl=wire.get("userIdentity", {}).get("type") == "Service",
        )


_MEASURED: Arguments = {"ReturnConsumedCapacity": "INDEXES"}
_ACTION_NAMES: dict[type, str] = {
    rq.PutItem: "Put",
    rq.UpdateItem: "Update",
    rq.DeleteItem: "Delete",
    rq.ConditionCheck: "ConditionCheck",
}
_HANDLERS: dict[type, Callable[..., Any]] = {
    rq.GetItem: Referee._get,
    rq.PutItem: Referee._put,
    rq.UpdateItem: Referee._update,
    rq.DeleteItem: Referee._delete,
    rq.QueryTable: Referee._query,
    rq.ScanTable: Referee._scan,
    vrq.SearchVectors: Referee._search,
    rq.BatchGetItem: Referee._batch_get,
    rq.BatchWriteItem: Referee._batch_write,
    rq.TransactGetItems: Referee._transact_get,
    rq.TransactWriteItems: Referee._transact_write,
    rq.CreateTable: Referee._create_table,
    rq.DescribeTable: Referee._describe_table,
    rq.DeleteTable: Referee._delete_table,
    rq.ListTables: Referee._list_tables,
    rq.CreateIndex: Referee._create_index,
    rq.DeleteIndex: Referee._delete_index,
    vrq.CreateVectorIndex: Referee._create_vector_index,
    vrq.DeleteVectorIndex: Referee._delete_vector_index,
    rq.SetTimeToLive: Referee._set_ttl,
    rq.SetStream: Referee._set_stream,
    rq.DescribeStream: Referee._describe_stream,
    rq.ReadStream: Referee._read_stream,
}


def _substitutions(renderer: Renderer) -> Arguments:
    arguments: Arguments = {}
    if renderer.names:
        arguments["ExpressionAttributeNames"] = dict(renderer.names)
    if renderer.values:
        arguments["ExpressionAttributeValues"] = item_to_wire(renderer.values)
    return arguments


def _consistent(request: rq.GetItem | rq.QueryTable | rq.ScanTable) -> Arguments:
    return {"ConsistentRead": True} if request.consistent else {}


def _projection_arguments(request: rq.GetItem) -> Arguments:
    if request.projection is None:
        return {}
    renderer = Renderer()
    return {"ProjectionExpression": renderer.projection(request.projection), **_substitutions(renderer)}


def _get_arguments(request: rq.GetItem) -> Arguments:
    return {
        "TableName": request.table,
        "Key": item_to_wire(request.key),
        **_projection_arguments(request),
    }


def _write_arguments(request: Write) -> Arguments:
    renderer = Renderer()
    arguments: Arguments = {"TableName": request.table}
    if isinstance(request, rq.PutItem):
        arguments["Item"] = item_to_wire(request.item)
    else:
        arguments["Key"] = item_to_wire(request.key)
    if isinstance(request, rq.UpdateItem):
        text = renderer.update(request.update)
        arguments |= {"UpdateExpression": text} if text else {}
    if request.condition is not None:
        arguments["ConditionExpression"] = renderer.condition(request.condition)
    if request.on_failure_item:
        arguments["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    return arguments | _substitutions(renderer)


def _write_response(wire: Arguments) -> rq.WriteResponse:
    return rq.WriteResponse(optional_item(wire.get("Attributes") or None), capacity(wire["ConsumedCapacity"], "write"))


def _page_arguments(request: rq.QueryTable | rq.ScanTable, renderer: Renderer) -> Arguments:
    arguments: Arguments = {"TableName": request.table, **_consistent(request)}
    if request.index is not None:
        arguments["IndexName"] = request.index
    if request.filter is not None:
        arguments["FilterExpression"] = renderer.condition(request.filter)
    if request.projection is not None:
        arguments["ProjectionExpression"] = renderer.projection(request.projection)
    if request.limit is not None:
        arguments["Limit"] = request.limit
    if request.start is not None:
        arguments["ExclusiveStartKey"] = item_to_wire(request.start)
    if request.count_only:
        arguments["Select"] = "COUNT"
    return arguments | _substitutions(renderer)


def _search_arguments(request: vrq.SearchVectors) -> Arguments:
    renderer = Renderer()
    arguments: Arguments = {}
    if request.equal:
        arguments["SearchConditionExpression"] = renderer.key_condition(KeyCondition(request.equal))
    if request.projection is not None:
        arguments["ProjectionExpression"] = renderer.projection(request.projection)
    return arguments | _substitutions(renderer)


def _page_response(wire: Arguments) -> rq.PageResponse:
    return rq.PageResponse(
        items=[item_from_wire(item) for item in wire.get("Items", ())],
        count=wire["Count"],
        scanned=wire["ScannedCount"],
        last_key=optional_item(wire.get("LastEvaluatedKey")),
        capacity=capacity(wire["ConsumedCapacity"], "read"),
    )


def _batch_entry(write: rq.PutItem | rq.DeleteItem) -> Arguments:
    if isinstance(write, rq.PutItem):
        return {"PutRequest": {"Item": item_to_wire(write.item)}}
    return {"DeleteRequest": {"Key": item_to_wire(write.key)}}


def _matching(get: rq.GetItem, candidates: list[tuple[str, Item]]) -> Item | None:
    for table, item in candidates:
        if table == get.table and all(item.get(name) == value for name, value in get.key.items()):
            return item
    return None


def _shard(wire: Arguments, status: str) -> rq.Shard:
    return rq.Shard(id=wire["ShardId"], parent=wire.get("ParentShardId"), closed=status != "ENABLED")
