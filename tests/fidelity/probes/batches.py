"""Batches of gets and of writes."""

from __future__ import annotations

from tests.fidelity import Api, probe, refused, same
from tests.fidelity._attributes import n, s


@probe(rule=35)
def a_batch_writes_to_several_tables(api: Api) -> None:
    """Puts and deletes together."""
    first, second, gone = api.new_key(), api.new_key("a"), api.new_key()
    api.put("hash", gone)
    response = api(
        "BatchWriteItem",
        RequestItems={
            api.table("hash"): [{"PutRequest": {"Item": first}}, {"DeleteRequest": {"Key": gone}}],
            api.table("pair"): [{"PutRequest": {"Item": second}}],
        },
    )
    same(response["UnprocessedItems"], {})
    found = [api.get("hash", first), api.get("hash", gone), api.get("pair", second)]
    same(found, [first, None, second])


@probe(rule=35)
def a_batch_reads_from_several_tables(api: Api) -> None:
    """Missing items are left out."""
    first, second = api.new_key(), api.new_key("a")
    api.put("hash", first)
    api.put("pair", second)
    tables = api.table("hash"), api.table("pair")
    wanted = {tables[0]: {"Keys": [first, api.new_key()], "ConsistentRead": True}, tables[1]: {"Keys": [second]}}
    response = api("BatchGetItem", RequestItems=wanted)
    same(response["Responses"], {tables[0]: [first], tables[1]: [second]})
    same(response["UnprocessedKeys"], {})


@probe(rule=35)
def a_batch_that_names_a_key_twice_is_refused(api: Api) -> None:
    """As a whole, of gets and of writes; nothing is written."""
    table, key, other = api.table("hash"), api.new_key(), api.new_key()
    refused(api, "BatchGetItem", TableName=table, RequestItems={table: {"Keys": [key, other, key]}})
    writes = [{"PutRequest": {"Item": other}}, {"PutRequest": {"Item": key}}, {"DeleteRequest": {"Key": key}}]
    refused(api, "BatchWriteItem", RequestItems={table: writes})
    same(api.get("hash", other), None)


@probe(rule=35)
def a_batch_with_a_wrong_write_writes_nothing(api: Api) -> None:
    """A key of the wrong type."""
    table, key = api.table("hash"), api.new_key()
    writes = [{"PutRequest": {"Item": key}}, {"PutRequest": {"Item": {"pk": n(1)}}}]
    refused(api, "BatchWriteItem", RequestItems={table: writes})
    same(api.get("hash", key), None)


@probe(rule=35, cases={"BatchGetItem": ("BatchGetItem",), "BatchWriteItem": ("BatchWriteItem",)})
def an_empty_batch_is_refused(api: Api, operation: str) -> None:
    """There must be a table in it."""
    refused(api, operation, RequestItems={})


@probe(rule=35)
def a_batch_of_a_missing_table_is_not_found(api: Api) -> None:
    """Of gets and of writes."""
    name = f"{api.prefix}nowhere"
    refused(api, "BatchGetItem", kind="ResourceNotFoundException", RequestItems={name: {"Keys": [{"pk": s("x")}]}})
    writes = [{"PutRequest": {"Item": {"pk": s("x")}}}]
    refused(api, "BatchWriteItem", kind="ResourceNotFoundException", RequestItems={name: writes})
