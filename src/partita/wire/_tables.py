"""Operations on tables: making, changing, describing, TTL, tags, and the limits of an account."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from partita.errors import TableNotFound, ValidationFailed
from partita.store import (
    CreateIndex,
    CreateTable,
    DeleteIndex,
    DeleteTable,
    DescribeTable,
    Json,
    ListTables,
    SetStream,
    SetTimeToLive,
    TableDescription,
)
from partita.wire import _settings
from partita.wire._definitions import (
    check_tag_count,
    new_table_name,
    read_billing,
    read_index,
    read_stream,
    read_table,
    read_tags,
    read_throughput,
)
from partita.wire._describe import deleted_body, table_body
from partita.wire._faults import Fault, not_found
from partita.wire._parameters import MAX_NAME, Operation, Parameters, Requests, refuse, violated
from partita.wire._settings import DEFAULT, Settings, keep_settings, read_settings

MAX_LISTED: Final = 100
_ARN: Final = re.compile(r"arn:aws:dynamodb:[^:]*:[^:]*:table/([a-zA-Z0-9_.-]+)")
_NO_CHANGE: Final = (
    "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates "
    "or SSESpecification or ReplicaUpdates is required"
)


def create_table(call: Parameters) -> Requests[Json]:
    """Make a table; it can be used at once."""
    schema = read_table(call)
    settings = read_billing(call, DEFAULT, creating=True)
    description: TableDescription = yield CreateTable(schema)
    yield from keep_settings(schema.name, settings)
    body = table_body(description, settings, "CREATING")
    for index in body.get("GlobalSecondaryIndexes", ()):
        index["IndexStatus"] = "CREATING"
    return {"TableDescription": body}


def existing(name: str) -> Requests[TableDescription]:
    """The table, which must be there; the error names it."""
    try:
        description: TableDescription = yield DescribeTable(name)
    except TableNotFound:
        raise not_found(f"Table: {name}") from None
    return description


def describe_table(call: Parameters) -> Requests[Json]:
    """What is known of a table."""
    description = yield from existing(call.table())
    settings = yield from read_settings(description.schema.name)
    return {"Table": table_body(description, settings)}


def delete_table(call: Parameters) -> Requests[Json]:
    """Delete a table with everything in it."""
    description = yield from existing(call.table())
    name = description.schema.name
    settings = yield from read_settings(name)
    if settings.protected:
        message = (
            "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection"
        )
        raise ValidationFailed(f"{message} first.")
    yield DeleteTable(name)
    yield from _settings.forget_settings(name)
    return {"TableDescription": deleted_body(description, settings)}


def list_tables(call: Parameters) -> Requests[Json]:
    """The names of all tables, page by page."""
    start, limit = call.text("ExclusiveStartTableName"), call.whole("Limit")
    if start is not None:
        call.table("ExclusiveStartTableName")
    if limit is not None and not 1 <= limit <= MAX_LISTED:
        bound = f"less than or equal to {MAX_LISTED}" if limit > 1 else "greater than or equal to 1"
        refuse(violated(limit, "limit", f"Member must have value {bound}"))
    tables = yield ListTables()
    names = [name for name in tables if name != _settings.TABLE and (start is None or name > start)]
    page = names[: limit or MAX_LISTED]
    body: Json = {"TableNames": page}
    if len(page) < len(names):
        body["LastEvaluatedTableName"] = page[-1]
    return body


def update_table(call: Parameters) -> Requests[Json]:
    """Change capacity, indexes or the stream of a table."""
    name = new_table_name(call)
    parts = ("ProvisionedThroughput", "BillingMode", "StreamSpecification", "GlobalSecondaryIndexUpdates")
    others = ("SSESpecification", "DeletionProtectionEnabled", "TableClass", "ReplicaUpdates")
    if all(call.given.get(part) in (None, []) for part in (*parts, *others)):
        raise ValidationFailed(_NO_CHANGE)
    updates = [Parameters(update) for update in call.structures("GlobalSecondaryIndexUpdates")]
    _check_index_updates(updates)
    read_throughput(call.fields("ProvisionedThroughput"), "provisionedThroughput")
    description = yield from existing(name)
    before = yield from read_settings(name)
    settings = read_billing(call, before, creating=False)
    _check_throughput(call, before)
    settings = yield from _update_indexes(call, description, settings, updates)
    yield from _update_stream(call, name)
    if settings != before:
        yield from keep_settings(name, settings)
    description = yield DescribeTable(name)
    body = table_body(description, settings, "UPDATING")
    _show_creating(body, updates)
    return {"TableDescription": body}


def _check_throughput(call: Parameters, before: Settings) -> None:
    units = read_throughput(call.fields("ProvisionedThroughput"), "provisionedThroughput")
    if units is None or before.billing == _settings.ON_DEMAND or units != before.throughput:
        return
    if call.given.get("GlobalSecondaryIndexUpdates") is None:
        raise ValidationFailed(
            "The provisioned throughput for the table will not change. The requested value equals the current value. "
            f"Current ReadCapacityUnits provisioned for the table: {units.read}. Requested ReadCapacityUnits: "
            f"{units.read}. Current WriteCapacityUnits provisioned for the table: {units.write}. Requested "
            f"WriteCapacityUnits: {units.write}. Refer to the Amazon DynamoDB Developer Guide for current limits "
            "and how to request higher limits."
        )


def _update_indexes(
    call: Parameters, description: TableDescription, settings: Settings, updates: list[Parameters]
) -> Requests[Settings]:
    indexes, schema = dict(settings.indexes), description.schema
    for update in updates:
        if change := update.fields("Create"):
            index = read_index(call, change, schema)
            indexes[index.name] = _units(change)
            yield CreateIndex(schema.name, index)
        elif change := update.fields("Delete"):
            name = _index_name(change)
            indexes.pop(name, None)
            yield DeleteIndex(schema.name, name)
        elif change := update.fields("Update"):
            name = _index_name(change)
            if schema.index(name) is None:
                raise not_found(f"Index: {name}")
            indexes[name] = _units(change)
    return msgspec.structs.replace(settings, indexes=indexes)


def _check_index_updates(updates: list[Parameters]) -> None:
    for update in updates:
        if sum(bool(update.fields(kind)) for kind in ("Create", "Update", "Delete")) != 1:
            message = "Exactly one of GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Update or"
            raise ValidationFailed(f"One or more parameter values were invalid: {message} Delete must be specified")
    if sum(bool(update.fields("Create") or update.fields("Delete")) for update in updates) > 1:
        message = "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"
        raise Fault("LimitExceededException", message)


def _index_name(change: Json) -> str:
    return Parameters(change).required("IndexName", "globalSecondaryIndexUpdates.1.member.indexName")


def _units(change: Json) -> _settings.Throughput:
    given = Parameters(change).fields("ProvisionedThroughput")
    return read_throughput(given, "provisionedThroughput") or _settings.Throughput()


def _update_stream(call: Parameters, name: str) -> Requests[None]:
    specification = read_stream(call)
    if specification is None:
        return
    yield SetStream(name, specification.get("StreamViewType") if specification["StreamEnabled"] else None)


def _show_creating(body: Json, updates: list[Parameters]) -> None:
    created = {created["IndexName"] for update in updates if (created := update.fields("Create"))}
    for index in body.get("GlobalSecondaryIndexes", ()):
        if index["IndexName"] in created:
            index |= {"IndexStatus": "CREATING", "Backfilling": False}


def update_time_to_live(call: Parameters) -> Requests[Json]:
    """Name the attribute that says when items expire, or switch expiry off."""
    name, given = call.table(), call.fields("TimeToLiveSpecification")
    if given is None:
        refuse(violated(None, "timeToLiveSpecification", "Member must not be null"))
    part = Parameters(given)
    enabled, attribute = part.flag("Enabled"), part.text("AttributeName")
    for at, value in (("enabled", enabled), ("attributeName", attribute)):
        if value is None:
            refuse(violated(None, f"timeToLiveSpecification.{at}", "Member must not be null"))
    if not attribute:
        raise ValidationFailed("TimeToLiveSpecification.AttributeName must be a non empty string; its length is 0.")
    if len(attribute) > MAX_NAME:
        rule = f"Member must have length less than or equal to {MAX_NAME}"
        refuse(violated(attribute, "timeToLiveSpecification.attributeName", rule))
    description = yield from existing(name)
    current = description.schema.ttl
    if not enabled and current not in (None, attribute):
        message = "TimeToLive is active on a different AttributeName: current AttributeName is "
        raise ValidationFailed(message + current)
    yield SetTimeToLive(name, attribute if enabled else None)
    return {"TimeToLiveSpecification": {"Enabled": enabled, "AttributeName": attribute}}


def describe_time_to_live(call: Parameters) -> Requests[Json]:
    """The attribute that says when items expire."""
    description = yield from existing(call.table())
    attribute = description.schema.ttl
    if attribute is None:
        return {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}
    return {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": attribute}}


def tag_resource(call: Parameters) -> Requests[Json]:
    """Add tags to a table."""
    name, tags = yield from _tagged(call)
    settings = yield from read_settings(name)
    given = call.members("Tags")
    if not given:
        raise ValidationFailed("At least one Tag needs to be provided as Input.")
    tags = settings.tags | read_tags(call)
    check_tag_count(tags)
    yield from keep_settings(name, msgspec.structs.replace(settings, tags=tags))
    return {}


def untag_resource(call: Parameters) -> Requests[Json]:
    """Remove tags from a table."""
    name, tags = yield from _tagged(call)
    keys = call.texts("TagKeys")
    if not keys:
        raise ValidationFailed("Atleast one Tag Key needs to be provided as Input.")
    settings = yield from read_settings(name)
    left = {key: value for key, value in tags.items() if key not in keys}
    yield from keep_settings(name, msgspec.structs.replace(settings, tags=left))
    return {}


def list_tags(call: Parameters) -> Requests[Json]:
    """The tags of a table; whether another's table exists is not shown."""
    try:
        _, tags = yield from _tagged(call)
    except Fault:
        message = f"User is not authorized to perform: dynamodb:ListTagsOfResource on {call.text('ResourceArn')}"
        raise Fault("AccessDeniedException", message) from None
    return {"Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}


def _tagged(call: Parameters) -> Requests[tuple[str, dict[str, str]]]:
    arn = call.text("ResourceArn")
    if arn is None:
        refuse(violated(None, "resourceArn", "Member must not be null"))
    if not arn.startswith("arn:"):
        raise ValidationFailed(f"Invalid TableArn: ARNs must start with 'arn:': {arn}")
    match = _ARN.fullmatch(arn)
    if match is None:
        raise ValidationFailed(f"Invalid TableArn: Invalid ResourceArn provided as input {arn}")
    try:
        yield DescribeTable(match[1])
    except TableNotFound:
        raise not_found(f"ResourcArn: {arn}") from None
    settings = yield from read_settings(match[1])
    return match[1], settings.tags


def describe_continuous_backups(call: Parameters) -> Requests[Json]:
    """Backups as DynamoDB describes them; the store has its own, `partita backup`."""
    description = yield from _backed_up(call.table())
    settings = yield from read_settings(description.schema.name)
    return _backups(recovery=settings.recovery)


def update_continuous_backups(call: Parameters) -> Requests[Json]:
    """Remember whether recovery to a point in time is wanted."""
    description = yield from _backed_up(call.table())
    part = Parameters(call.fields("PointInTimeRecoverySpecification") or {})
    recovery = part.flag("PointInTimeRecoveryEnabled") or False
    settings = yield from read_settings(description.schema.name)
    yield from keep_settings(description.schema.name, msgspec.structs.replace(settings, recovery=recovery))
    return _backups(recovery=recovery)


def _backed_up(name: str) -> Requests[TableDescription]:
    """The table; operations on backups have an error of their own where it is missing."""
    try:
        description: TableDescription = yield DescribeTable(name)
    except TableNotFound:
        raise Fault("TableNotFoundException", f"Table not found: {name}") from None
    return description


def _backups(*, recovery: bool) -> Json:
    status = {"PointInTimeRecoveryStatus": "ENABLED" if recovery else "DISABLED"}
    return {
        "ContinuousBackupsDescription": {
            "ContinuousBackupsStatus": "ENABLED",
            "PointInTimeRecoveryDescription": status,
        }
    }


def fixed(body: Json) -> Operation:
    """An operation whose response is always the same."""

    def operation(_: Parameters) -> Requests[Json]:
        return body
        yield  # a generator that makes no requests

    return operation


LIMITS: Final = {
    "AccountMaxReadCapacityUnits": 80_000,
    "AccountMaxWriteCapacityUnits": 80_000,
    "TableMaxReadCapacityUnits": 40_000,
    "TableMaxWriteCapacityUnits": 40_000,
}
