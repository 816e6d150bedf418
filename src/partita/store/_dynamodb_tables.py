"""Table schemas as DynamoDB's API has them, both ways."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from partita.store._dynamodb_json import Json
from partita.store._schema import IndexSchema, KeyAttribute, TableSchema


def table_definition(schema: TableSchema) -> Json:
    """The parameters of CreateTable."""
    attributes = (*schema.key, *(attribute for index in schema.indexes for attribute in index.key))
    definition: Json = {
        "TableName": schema.name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": _key_schema(schema.key[:1], schema.key[1:]),
        "AttributeDefinitions": attribute_definitions(attributes),
    }
    for parameter, local in (("LocalSecondaryIndexes", True), ("GlobalSecondaryIndexes", False)):
        if indexes := [index_definition(index) for index in schema.indexes if index.local is local]:
            definition[parameter] = indexes
    if schema.stream is not None:
        definition["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": schema.stream}
    return definition


def attribute_definitions(attributes: Iterable[KeyAttribute]) -> list[Json]:
    """Each key attribute once, with its type."""
    return [{"AttributeName": key.name, "AttributeType": key.type} for key in dict.fromkeys(attributes)]


def index_definition(index: IndexSchema) -> Json:
    """An index as CreateTable and UpdateTable take it."""
    if isinstance(index.projection, str):
        projection: Json = {"ProjectionType": index.projection}
    else:
        projection = {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(index.projection)}
    return {
        "IndexName": index.name,
        "KeySchema": _key_schema(index.hash, index.range),
        "Projection": projection,
    }


def _key_schema(hashes: Iterable[KeyAttribute], ranges: Iterable[KeyAttribute]) -> list[Json]:
    return [
        *({"AttributeName": key.name, "KeyType": "HASH"} for key in hashes),
        *({"AttributeName": key.name, "KeyType": "RANGE"} for key in ranges),
    ]


def table_schema(described: Json, ttl: str | None) -> TableSchema:
    """The schema of a table as DescribeTable has it; its TTL attribute stands elsewhere."""
    types = {each["AttributeName"]: each["AttributeType"] for each in described["AttributeDefinitions"]}
    key = _key_attributes(described, types, "HASH") + _key_attributes(described, types, "RANGE")
    stream = described.get("StreamSpecification") or {}
    return TableSchema(
        name=described["TableName"],
        hash=key[0],
        range=key[1] if len(key) > 1 else None,
        indexes=(
            *(_index_schema(each, types, local=True) for each in described.get("LocalSecondaryIndexes") or ()),
            *(_index_schema(each, types, local=False) for each in described.get("GlobalSecondaryIndexes") or ()),
        ),
        ttl=ttl,
        stream=stream.get("StreamViewType") if stream.get("StreamEnabled") else None,
    )


def _index_schema(described: Json, types: Mapping[str, Any], *, local: bool) -> IndexSchema:
    projection = described["Projection"]
    included = projection["ProjectionType"] == "INCLUDE"
    return IndexSchema(
        name=described["IndexName"],
        hash=_key_attributes(described, types, "HASH"),
        range=_key_attributes(described, types, "RANGE"),
        projection=tuple(projection["NonKeyAttributes"]) if included else projection["ProjectionType"],
        local=local,
    )


def _key_attributes(described: Json, types: Mapping[str, Any], role: str) -> tuple[KeyAttribute, ...]:
    names = (each["AttributeName"] for each in described["KeySchema"] if each["KeyType"] == role)
    return tuple(KeyAttribute(name, types[name]) for name in names)
