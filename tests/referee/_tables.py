"""Converts table schemas to DynamoDB's table definitions and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from partita.store._schema import IndexSchema, KeyAttribute, TableSchema, VectorIndexSchema


def table_definition(schema: TableSchema) -> dict[str, Any]:
    """Return the arguments of CreateTable."""
    attributes = (
        *schema.key,
        *(attribute for index in schema.indexes for attribute in index.key),
        *(attribute for index in schema.vectors for attribute in index.search),
    )
    definition: dict[str, Any] = {
        "TableName": schema.name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": _key_schema(schema.key[:1], schema.key[1:]),
        "AttributeDefinitions": attribute_definitions(attributes),
    }
    for parameter, local in (("LocalSecondaryIndexes", True), ("GlobalSecondaryIndexes", False)):
        indexes = [index_definition(index) for index in schema.indexes if index.local is local]
        if indexes:
            definition[parameter] = indexes
    if schema.vectors:
        definition["VectorIndexes"] = [vector_index_definition(index) for index in schema.vectors]
    if schema.stream is not None:
        definition["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": schema.stream}
    return definition


def attribute_definitions(attributes: Iterable[KeyAttribute]) -> list[dict[str, str]]:
    """Return each key attribute once, with its type."""
    return [{"AttributeName": key.name, "AttributeType": key.type} for key in dict.fromkeys(attributes)]


def index_definition(index: IndexSchema) -> dict[str, Any]:
    """Return an index in the form of CreateTable and UpdateTable."""
    return {
        "IndexName": index.name,
        "KeySchema": _key_schema(index.hash, index.range),
        "Projection": _projection(index.projection),
    }


def vector_index_definition(index: VectorIndexSchema) -> dict[str, Any]:
    """Return a vector index in the form of CreateTable and UpdateTable."""
    definition: dict[str, Any] = {
        "IndexName": index.name,
        "VectorAttribute": {"AttributeName": index.attribute},
        "Dimensions": index.dimensions,
        "DistanceFunction": index.distance,
        "Projection": _projection(index.projection),
    }
    if index.search:
        definition["SearchSchema"] = [
            {"AttributeName": key.name, "SearchSchemaElementType": "HASH" if key == index.hash else "INLINE_FILTER"}
            for key in index.search
        ]
    return definition


def _projection(projection: str | tuple[str, ...]) -> dict[str, Any]:
    if isinstance(projection, str):
        return {"ProjectionType": projection}
    return {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(projection)}


def _key_schema(hashes: Iterable[KeyAttribute], ranges: Iterable[KeyAttribute]) -> list[dict[str, str]]:
    return [
        *({"AttributeName": key.name, "KeyType": "HASH"} for key in hashes),
        *({"AttributeName": key.name, "KeyType": "RANGE"} for key in ranges),
    ]


def table_schema(wire: Mapping[str, Any], ttl: str | None) -> TableSchema:
    """Return the schema of a described table."""
    types = {each["AttributeName"]: each["AttributeType"] for each in wire["AttributeDefinitions"]}
    key = _key_attributes(wire, types, "HASH") + _key_attributes(wire, types, "RANGE")
    stream = wire.get("StreamSpecification", {})
    return TableSchema(
        name=wire["TableName"],
        hash=key[0],
        range=key[1] if len(key) > 1 else None,
        indexes=(
            *(_index_schema(each, types, local=True) for each in wire.get("LocalSecondaryIndexes", ())),
            *(_index_schema(each, types, local=False) for each in wire.get("GlobalSecondaryIndexes", ())),
        ),
        vectors=tuple(_vector_index_schema(each, types) for each in wire.get("VectorIndexes", ())),
        ttl=ttl,
        stream=stream.get("StreamViewType") if stream.get("StreamEnabled") else None,
    )


def _index_schema(wire: Mapping[str, Any], types: Mapping[str, Any], *, local: bool) -> IndexSchema:
    return IndexSchema(
        name=wire["IndexName"],
        hash=_key_attributes(wire, types, "HASH"),
        range=_key_attributes(wire, types, "RANGE"),
        projection=_projected(wire),
        local=local,
    )


def _vector_index_schema(wire: Mapping[str, Any], types: Mapping[str, Any]) -> VectorIndexSchema:
    search = [
        (each["SearchSchemaElementType"], KeyAttribute(each["AttributeName"], types[each["AttributeName"]]))
        for each in wire.get("SearchSchema", ())
    ]
    return VectorIndexSchema(
        name=wire["IndexName"],
        attribute=wire["VectorAttribute"]["AttributeName"],
        dimensions=wire["Dimensions"],
        distance=wire["DistanceFunction"],
        hash=next((key for role, key in search if role == "HASH"), None),
        filters=tuple(key for role, key in search if role == "INLINE_FILTER"),
        projection=_projected(wire),
    )


def _projected(wire: Mapping[str, Any]) -> Any:
    projection = wire["Projection"]
    included = projection["ProjectionType"] == "INCLUDE"
    return tuple(projection["NonKeyAttributes"]) if included else projection["ProjectionType"]


def _key_attributes(wire: Mapping[str, Any], types: Mapping[str, Any], role: str) -> tuple[KeyAttribute, ...]:
    names = (each["AttributeName"] for each in wire["KeySchema"] if each["KeyType"] == role)
    return tuple(KeyAttribute(name, types[name]) for name in names)
