"""Requests for point-in-time recovery: continuous backups, and tables restored from them."""

from __future__ import annotations

from typing import Final

import msgspec

from partita._aws import ApiClient, Calls
from partita.store import _points
from partita.store import _requests as rq
from partita.store._dynamodb_json import Json
from partita.store._dynamodb_tables import table_definition
from partita.store.remote._tables import describe_table, described, table_call, until_active


def set_recovery(client: ApiClient, request: _points.SetRecovery) -> Calls[_points.RecoveryDescription]:
    """Enable or disable continuous backups."""
    specification: Json = {"PointInTimeRecoveryEnabled": request.days is not None}
    if request.days is not None:
        specification["RecoveryPeriodInDays"] = request.days
    given = {"TableName": request.table, "PointInTimeRecoverySpecification": specification}
    response = yield from client.send(table_call("UpdateContinuousBackups", given))
    return _description(response)


def describe_recovery(client: ApiClient, request: _points.DescribeRecovery) -> Calls[_points.RecoveryDescription]:
    """Return whether continuous backups are enabled, and which instants they cover."""
    call = table_call("DescribeContinuousBackups", {"TableName": request.table}, repeatable=True)
    return _description((yield from client.send(call)))


def _description(response: bytes) -> _points.RecoveryDescription:
    body: Json = msgspec.json.decode(response)["ContinuousBackupsDescription"]
    recovery: Json = body.get("PointInTimeRecoveryDescription", {})
    if recovery.get("PointInTimeRecoveryStatus") != "ENABLED":
        return _points.RecoveryDescription(enabled=False)
    return _points.RecoveryDescription(
        enabled=True,
        days=recovery.get("RecoveryPeriodInDays", _points.MAX_RECOVERY_DAYS),
        earliest=recovery.get("EarliestRestorableDateTime"),
        latest=recovery.get("LatestRestorableDateTime"),
    )


def restore_table(client: ApiClient, request: _points.RestoreTable) -> Calls[rq.TableDescription]:
    """Restore a past state of a table into a new table, and wait until that can be used."""
    schema = request.schema
    given: Json = {"SourceTableName": request.table, "TargetTableName": schema.name}
    given |= {"UseLatestRestorableTime": True} if request.instant is None else {"RestoreDateTime": request.instant}
    indexes = table_definition(schema)
    source = yield from described(client, request.table)
    for kind, override in _OVERRIDES.items():
        if len(source.get(kind, ())) != len(indexes.get(kind, ())):
            given[override] = indexes.get(kind, [])
    yield from client.send(table_call("RestoreTableToPointInTime", given))
    yield from until_active(client, schema.name)
    return (yield from describe_table(client, rq.DescribeTable(schema.name)))


_OVERRIDES: Final = {
    "GlobalSecondaryIndexes": "GlobalSecondaryIndexOverride",
    "LocalSecondaryIndexes": "LocalSecondaryIndexOverride",
}
