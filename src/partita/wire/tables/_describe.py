"""Table descriptions in DynamoDB's format."""

from __future__ import annotations

import hashlib
import uuid

from partita.store import Json, TableDescription, table_definition
from partita.wire._describe import stream_arn, table_arn
from partita.wire.tables._encryption import encryption_body
from partita.wire.tables._settings import ON_DEMAND, Settings, Throughput
from partita.wire.tables._throughput import limits_body, throughput_body


def table_body(
    description: TableDescription, settings: Settings, region: str, status: str | None = None, now: int | None = None
) -> Json:
    """The description of a table; `status` overrides the status of the table."""
    schema = description.schema
    body = table_definition(schema)
    del body["BillingMode"]
    body |= {
        "TableStatus": status or description.status,
        "CreationDateTime": description.created_at,
        "ProvisionedThroughput": throughput_body(settings.throughput, now),
        "TableSizeBytes": description.size_bytes,
        "ItemCount": description.item_count,
        "TableArn": table_arn(region, schema.name),
        "TableId": table_identity(schema.name, description.created_at),
        "DeletionProtectionEnabled": settings.protected,
        **limits_body(settings),
        **encryption_body(settings.encryption_key),
    }
    _describe_billing(body, description, settings)
    if settings.table_class is not None:
        changed = {} if settings.class_at is None else {"LastUpdateDateTime": settings.class_at / 1000}
        body["TableClassSummary"] = {"TableClass": settings.table_class, **changed}
    _describe_indexes(body, settings, now, description.building)
    if schema.stream is not None and description.stream_id is not None:
        body["LatestStreamLabel"] = description.stream_id
        body["LatestStreamArn"] = stream_arn(region, schema.name, description.stream_id)
    return body


def _describe_billing(body: Json, description: TableDescription, settings: Settings) -> None:
    """Add the billing mode, unless the table has never been on demand."""
    if settings.billing == ON_DEMAND:
        since = description.created_at if settings.on_demand_at is None else settings.on_demand_at / 1000
    elif settings.on_demand_at is not None:
        since = settings.on_demand_at / 1000
    else:
        return
    body["BillingModeSummary"] = {"BillingMode": settings.billing, "LastUpdateToPayPerRequestDateTime": since}


def table_identity(name: str, created_at: float) -> str:
    """The TableId, which distinguishes a table from earlier ones of the same name."""
    digest = hashlib.md5(f"{name}/{created_at}".encode(), usedforsecurity=False).digest()
    return str(uuid.UUID(bytes=digest, version=4))  # the format that clients expect, and always the same


def deleted_body(description: TableDescription, settings: Settings, region: str) -> Json:
    """The description of a deleted table, without its definition."""
    gone = (
        "AttributeDefinitions",
        "CreationDateTime",
        "GlobalSecondaryIndexes",
        "KeySchema",
        "LocalSecondaryIndexes",
        "VectorIndexes",
    )
    body = table_body(description, settings, region, "DELETING")
    return {name: value for name, value in body.items() if name not in gone}


def _describe_indexes(body: Json, settings: Settings, now: int | None, building: tuple[str, ...]) -> None:
    for kind in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes", "VectorIndexes"):
        for index in body.get(kind, ()):
            name = index["IndexName"]
            index |= {"IndexArn": f"{body['TableArn']}/index/{name}", "IndexSizeBytes": 0, "ItemCount": 0}
            if kind == "GlobalSecondaryIndexes":
                units = throughput_body(settings.indexes.get(name, Throughput()), now)
                index |= {"ProvisionedThroughput": units, **limits_body(settings, name)}
            if kind != "LocalSecondaryIndexes":
                index |= {"IndexStatus": "ACTIVE"}
                if name in building:
                    index |= {"IndexStatus": "CREATING", "Backfilling": True}
