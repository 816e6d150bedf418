"""Tables: waiting until a change is done, TTL, and lists of many pages."""

from __future__ import annotations

from typing import Any

import pytest
from tests.store.remote.scripted import ScriptedStore, error_response, http_response

from partita.errors import TableInUse, TableNotFound
from partita.store._requests import CreateIndex, CreateTable, DeleteIndex, DeleteTable, DescribeTable, ListTables
from partita.store._schema import IndexSchema, KeyAttribute, TableSchema

SCHEMA = TableSchema("t", KeyAttribute("pk"), ttl="expires")
INDEX = IndexSchema("by_city", (KeyAttribute("city"),), projection=("name",))
DONE = http_response({})
GONE = error_response("ResourceNotFoundException")
NO_TTL = http_response({"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}})


def described(status: str = "ACTIVE", *, index: str | None = None, **more: Any) -> Any:
    table: dict[str, Any] = {
        "TableName": "t",
        "TableStatus": status,
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "city")],
        "CreationDateTime": 1_767_268_800.5,
        "ItemCount": 3,
        "TableSizeBytes": 99,
        **more,
    }
    if index is not None:
        keys = [{"AttributeName": "city", "KeyType": "HASH"}]
        projection = {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["name"]}
        part = {"IndexName": "by_city", "IndexStatus": index, "KeySchema": keys, "Projection": projection}
        table["GlobalSecondaryIndexes"] = [part]
    return http_response({"Table": table})


def ttl(status: str) -> Any:
    return http_response({"TimeToLiveDescription": {"TimeToLiveStatus": status, "AttributeName": "expires"}})


def test_a_table_is_made_waited_for_and_given_its_ttl() -> None:
    scripted = ScriptedStore(
        DONE, described("CREATING"), described("CREATING"), described(), DONE, described(), ttl("ENABLING")
    )
    assert scripted.store.execute(CreateTable(SCHEMA)).schema == SCHEMA
    assert scripted.transport.names == [
        "CreateTable",
        *["DescribeTable"] * 3,
        "UpdateTimeToLive",
        "DescribeTable",
        "DescribeTimeToLive",
    ]
    assert scripted.pauses == [0.05, pytest.approx(0.075)]
    assert scripted.transport.bodies[0]["BillingMode"] == "PAY_PER_REQUEST"


def test_a_description_is_that_of_the_endpoint() -> None:
    stream = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    scripted = ScriptedStore(
        described(index="ACTIVE", StreamSpecification=stream, LatestStreamArn="arn:s"), ttl("ENABLED")
    )
    description = scripted.store.execute(DescribeTable("t"))
    expected = TableSchema("t", KeyAttribute("pk"), None, (INDEX,), ttl="expires", stream="NEW_IMAGE")
    assert description.schema == expected
    assert (description.created_at, description.item_count, description.size_bytes) == (1_767_268_800.5, 3, 99)
    assert description.stream_id == "arn:s"


def test_an_index_is_waited_for_until_it_is_filled() -> None:
    scripted = ScriptedStore(
        DONE,
        described("UPDATING", index="CREATING"),
        described(index="CREATING"),
        described(index="ACTIVE"),
        described(index="ACTIVE"),
        NO_TTL,
    )
    assert scripted.store.execute(CreateIndex("t", INDEX)).schema.indexes == (INDEX,)
    assert len(scripted.pauses) == 2
    assert scripted.transport.bodies[0]["AttributeDefinitions"] == [{"AttributeName": "city", "AttributeType": "S"}]


def test_an_index_is_waited_for_until_it_is_gone() -> None:
    scripted = ScriptedStore(DONE, described(index="DELETING"), described(), described(), NO_TTL)
    assert scripted.store.execute(DeleteIndex("t", "by_city")).schema.indexes == ()


def test_a_table_is_waited_for_until_it_is_gone() -> None:
    scripted = ScriptedStore(described(), NO_TTL, DONE, described("DELETING"), GONE)
    assert scripted.store.execute(DeleteTable("t")).schema.name == "t"


def test_a_table_that_is_not_there_is_not_deleted() -> None:
    with pytest.raises(TableNotFound):
        ScriptedStore(GONE).store.execute(DeleteTable("t"))


def test_waiting_has_an_end() -> None:
    scripted = ScriptedStore(DONE, *[described("CREATING")] * 1000)
    with pytest.raises(TableInUse, match="still being changed"):
        scripted.store.execute(CreateTable(SCHEMA))
    assert 900 <= sum(scripted.pauses) < 910


def test_all_pages_of_the_names_are_read() -> None:
    first = http_response({"TableNames": ["b", "c"], "LastEvaluatedTableName": "c"})
    scripted = ScriptedStore(first, http_response({"TableNames": ["a"]}))
    assert scripted.store.execute(ListTables()) == ("a", "b", "c")
    assert scripted.transport.bodies == [{}, {"ExclusiveStartTableName": "c"}]
