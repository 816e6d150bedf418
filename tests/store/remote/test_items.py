"""Parsed responses: the order of batches, unprocessed requests, capacity, and replays."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from tests.store.remote.scripted import ScriptedStore, http_response
from tests.strategies import items

from partita.errors import ValidationFailed
from partita.expressions._ast import KeyCondition, Path
from partita.store._dynamodb_json import wire_item
from partita.store._requests import (
    BatchGetItem,
    BatchWriteItem,
    Capacity,
    DeleteItem,
    GetItem,
    PutItem,
    QueryTable,
    TransactWriteItems,
)


def get(n: int, **options: Any) -> GetItem:
    return GetItem("t", {"pk": "p", "n": n}, **options)


@given(items)
def test_every_value_comes_back_as_it_went(item: dict[str, Any]) -> None:
    scripted = ScriptedStore(http_response({"Item": wire_item(item)}))
    assert scripted.store.execute(get(1)).item == item


def test_items_of_a_batch_are_put_into_the_order_of_the_gets() -> None:
    found = [wire_item({"pk": "p", "n": n}) for n in (3, 1)]
    response = ScriptedStore(http_response({"Responses": {"t": found}})).store.execute(
        BatchGetItem((get(1), get(2), get(3)))
    )
    assert response.items == [{"pk": "p", "n": 1}, None, {"pk": "p", "n": 3}]


def test_keys_of_numbers_are_matched_by_their_value() -> None:
    found = [{"pk": {"S": "p"}, "n": {"N": "1.50"}}]
    request = BatchGetItem((GetItem("t", {"pk": "p", "n": Decimal("1.5")}),))
    response = ScriptedStore(http_response({"Responses": {"t": found}})).store.execute(request)
    assert response.items == [{"pk": "p", "n": Decimal("1.5")}]


def test_a_projection_without_the_key_returns_none() -> None:
    scripted = ScriptedStore(http_response({"Responses": {"t": [wire_item({"pk": "p", "n": 1, "title": "x"})]}}))
    response = scripted.store.execute(BatchGetItem((get(1, projection=(Path(("title",)), Path(("n",)))),)))
    assert response.items == [{"title": "x", "n": 1}]
    part = scripted.transport.bodies[0]["RequestItems"]["t"]
    assert part["ExpressionAttributeNames"] == {"#0": "title", "#1": "n", "#2": "pk"}


def test_items_of_a_table_are_asked_for_in_one_way() -> None:
    scripted = ScriptedStore()
    with pytest.raises(ValidationFailed, match="one consistency"):
        scripted.store.execute(BatchGetItem((get(1), get(2, consistent=True))))
    assert scripted.transport.sent == []


def test_gets_that_were_left_are_passed_on() -> None:
    left = {"t": {"Keys": [wire_item({"pk": "p", "n": 2})]}}
    scripted = ScriptedStore(http_response({"Responses": {}, "UnprocessedKeys": left}))
    assert scripted.store.execute(BatchGetItem((get(1), get(2)))).unprocessed == (get(2),)


def test_writes_that_were_left_are_passed_on() -> None:
    writes = (
        PutItem("t", {"pk": "a", "tags": {"x", "y"}}),
        PutItem("t", {"pk": "b", "done": True}),
        DeleteItem("t", {"pk": "c"}),
        DeleteItem("u", {"pk": "b"}),
    )
    put = {"PutRequest": {"Item": {"pk": {"S": "a"}, "tags": {"SS": ["y", "x"]}}}}
    left = {"t": [put], "u": [{"DeleteRequest": {"Key": {"pk": {"S": "b"}}}}]}
    response = ScriptedStore(http_response({"UnprocessedItems": left})).store.execute(BatchWriteItem(writes))
    assert response.unprocessed == (writes[0], writes[3])


def test_capacity_is_that_of_the_table_and_each_index() -> None:
    consumed = {
        "TableName": "t",
        "CapacityUnits": 6.0,
        "Table": {"CapacityUnits": 1.0},
        "GlobalSecondaryIndexes": {"GSI2": {"CapacityUnits": 3.0}, "GSI1": {"CapacityUnits": 2.0}},
    }
    response = ScriptedStore(http_response({"ConsumedCapacity": consumed})).store.execute(PutItem("t", {"pk": "p"}))
    assert response.capacity == Capacity("t", 0.0, 1.0, (("GSI1", 0.0, 2.0), ("GSI2", 0.0, 3.0)))


def test_without_parts_all_capacity_is_the_tables() -> None:
    consumed = {"TableName": "t", "CapacityUnits": 2.5}
    assert ScriptedStore(http_response({"ConsumedCapacity": consumed})).store.execute(get(1)).capacity == Capacity(
        "t", 2.5
    )


def test_where_no_capacity_is_reported_there_is_none() -> None:
    assert ScriptedStore(http_response({})).store.execute(get(1)).capacity == Capacity("t")


def test_a_replayed_transaction_is_recognised_by_its_reads() -> None:
    request = TransactWriteItems((PutItem("t", {"pk": "p"}),), token="t")
    for units, replayed in (({"WriteCapacityUnits": 2.0}, False), ({"ReadCapacityUnits": 2.0}, True)):
        consumed = [{"TableName": "t", "CapacityUnits": 2.0, **units}]
        response = ScriptedStore(http_response({"ConsumedCapacity": consumed})).store.execute(request)
        assert response.replayed is replayed


def test_a_page_says_what_was_looked_at_and_where_it_goes_on() -> None:
    body = {"Items": [], "Count": 0, "ScannedCount": 7, "LastEvaluatedKey": {"pk": {"S": "p"}, "n": {"N": "7"}}}
    page = ScriptedStore(http_response(body)).store.execute(QueryTable("t", KeyCondition((("pk", "p"),))))
    assert (page.items, page.count, page.scanned, page.last_key) == ([], 0, 7, {"pk": "p", "n": 7})
