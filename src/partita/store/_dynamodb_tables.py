"""Conversion of table schemas to and from the form of DynamoDB's API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from partita.store._dynamodb_json import Json
from partita.store._schema import IndexSchema, KeyAttribute, TableSchema, VectorIndexSchema


def table_definition(schema: TableSchema) -> Json:
    """The parameters of CreateTable."""
    keys = (*(index.key for index in schema.indexes), *(index.search for index in schema.vectors))
    attributes = (*schema.key, *(attribute for key in keys for attribute in key))
    definition: Json = {
        "TableName": schema.name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": _key_schema(schema.key[:1], schema.key[1:]),
        "AttributeDefinitions": attribute_definitions(attributes),
    }
    for parameter, local in (("LocalSecondaryIndexes", True), ("GlobalSecondaryIndexes", False)):
        if indexes := [index_definition(index) for index in schema.indexes if index.local is local]:
            definition[parameter] = indexes
    if schema.vectors:
        definition["VectorIndexes"] = [vector_definition(index) for index in schema.vectors]
    if schema.stream is not None:
        definition["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": schema.stream}
    return definition


def attribute_definitions(attributes: Iterable[KeyAttribute]) -> list[Json]:
    """The definition of each key attribute, without duplicates."""
    return [{"AttributeName": key.name, "AttributeType": key.type} for key in dict.fromkeys(attributes)]


def index_definition(index: IndexSchema) -> Json:
    """An index in the form of CreateTable and UpdateTable."""
    return {
        "IndexName": index.name,
        "KeySchema": _key_schema(index.hash, index.range),
        "Projection": _projection(index.projection),
    }


def vector_definition(index: VectorIndexSchema) -> Json:
    """A vector index in the form of CreateTable and UpdateTable."""
    roles = [("INLINE_FILTER", key) for key in index.filters]
    roles = roles if index.hash is None else [("HASH", index.hash), *roles]
    search = [{"AttributeName": key.name, "SearchSchemaElementType": role} for role, key in roles]
    return {
        "IndexName": index.name,
        "VectorAttribute": {"AttributeName": index.attribute},
        **({"SearchSchema": search} if search else {}),
        "Projection": _projection(index.projection),
        "Dimensions": index.dimensions,
        "DistanceFunction": index.distance,
    }


def _projection(projection: str | tuple[str, ...]) -> Json:
    if isinstance(projection, str):
        return {"ProjectionType": projection}
    return {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(projection)}


def _key_schema(hashes: Iterable[KeyAttribute], ranges: Iterable[KeyAttribute]) -> list[Json]:
    return [
        *({"AttributeName": key.name, "KeyType": "HASH"} for key in hashes),
        *({"AttributeName": key.name, "KeyType": "RANGE"} for key in ranges),
    ]


def table_schema(described: Json, ttl: str | None) -> TableSchema:
    """The schema of a table from a DescribeTable response, which does not include the TTL attribute."""
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
        vectors=tuple(_vector_schema(each, types) for each in described.get("VectorIndexes") or ()),
    )


def _index_schema(described: Json, types: Mapping[str, Any], *, local: bool) -> IndexSchema:
    return IndexSchema(
        name=described["IndexName"],
        hash=_key_attributes(described, types, "HASH"),
        range=_key_attributes(described, types, "RANGE"),
        projection=_projected(described["Projection"]),
        local=local,
    )


def _vector_schema(described: Json, types: Mapping[str, Any]) -> VectorIndexSchema:
    roles: dict[str, list[KeyAttribute]] = {"HASH": [], "INLINE_FILTER": []}
    for each in described.get("SearchSchema") or ():
        name = each["AttributeName"]
        roles[each["SearchSchemaElementType"]].append(KeyAttribute(name, types[name]))
    return VectorIndexSchema(
        name=described["IndexName"],
        attribute=described["VectorAttribute"]["AttributeName"],
        dimensions=described["Dimensions"],
        distance=described["DistanceFunction"],
        hash=next(iter(roles["HASH"]), None),
        filters=tuple(roles["INLINE_FILTER"]),
        projection=_projected(described["Projection"]),
    )


def _projected(projection: Json) -> Any:
    included = projection["ProjectionType"] == "INCLUDE"
    return tuple(projection["NonKeyAttributes"]) if included else projection["ProjectionType"]


def _key_attributes(described: Json, types: Mapping[str, Any], role: str) -> tuple[KeyAttribute, ...]:
    names = (each["AttributeName"] for each in described["KeySchema"] if each["KeyType"] == role)
    return tuple(KeyAttribute(name, types[name]) for name in names)
