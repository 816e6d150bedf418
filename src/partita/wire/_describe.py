"""Tables, as DynamoDB describes them."""

from __future__ import annotations

import hashlib
import uuid
from typing import Final

from partita.store import DescribeTable, Json, TableDescription, table_definition
from partita.wire._parameters import Requests
from partita.wire._settings import ON_DEMAND, Settings, Throughput

REGION: Final = "us-east-1"
ARN: Final = f"arn:aws:dynamodb:{REGION}:000000000000:table/"


def described(table: str) -> Requests[TableDescription]:
    """The table as the store describes it."""
    description: TableDescription = yield DescribeTable(table)
    return description


def table_arn(table: str) -> str:
    """The ARN of a table."""
    return ARN + table


def stream_arn(table: str, label: str) -> str:
    """The ARN of a table's stream."""
    return f"{ARN}{table}/stream/{label}"


def table_body(description: TableDescription, settings: Settings, status: str = "ACTIVE") -> Json:
    """The description of a table."""
    schema = description.schema
    body = table_definition(schema)
    del body["BillingMode"]
    body |= {
        "TableStatus": status,
        "CreationDateTime": description.created_at,
        "ProvisionedThroughput": _throughput(settings.throughput),
        "TableSizeBytes": description.size_bytes,
        "ItemCount": description.item_count,
        "TableArn": table_arn(schema.name),
        "TableId": _identity(f"{schema.name}/{description.created_at}"),
        "DeletionProtectionEnabled": settings.protected,
    }
    if settings.billing == ON_DEMAND:
        since = {"LastUpdateToPayPerRequestDateTime": description.created_at}
        body["BillingModeSummary"] = {"BillingMode": ON_DEMAND, **since}
    if settings.table_class is not None:
        body["TableClassSummary"] = {"TableClass": settings.table_class}
    _describe_indexes(body, settings)
    if schema.stream is not None and description.stream_id is not None:
        body["LatestStreamLabel"] = description.stream_id
        body["LatestStreamArn"] = stream_arn(schema.name, description.stream_id)
    return body


def _identity(text: str) -> str:
    digest = hashlib.md5(text.encode(), usedforsecurity=False).digest()
    return str(uuid.UUID(bytes=digest, version=4))  # the form that clients know, and always the same


def deleted_body(description: TableDescription, settings: Settings) -> Json:
    """The description of a table that was deleted: no longer how it was made."""
    gone = (
        "AttributeDefinitions",
        "CreationDateTime",
        "GlobalSecondaryIndexes",
        "KeySchema",
        "LocalSecondaryIndexes",
    )
    body = table_body(description, settings, "DELETING")
    return {name: value for name, value in body.items() if name not in gone}


def _describe_indexes(body: Json, settings: Settings) -> None:
    for kind in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
        for index in body.get(kind, ()):
            arn = f"{body['TableArn']}/index/{index['IndexName']}"
            index |= {"IndexArn": arn, "IndexSizeBytes": 0, "ItemCount": 0}
            if kind == "GlobalSecondaryIndexes":
                units = settings.indexes.get(index["IndexName"], Throughput())
                index |= {"IndexStatus": "ACTIVE", "ProvisionedThroughput": _throughput(units)}


def _throughput(units: Throughput) -> Json:
    return {"NumberOfDecreasesToday": 0, "ReadCapacityUnits": units.read, "WriteCapacityUnits": units.write}
