"""UpdateTable: one change at a time, and the combinations that DynamoDB refuses."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from partita.errors import ValidationFailed
from partita.runtime import Clock
from partita.store import (
    CreateIndex,
    CreateVectorIndex,
    DeleteIndex,
    DeleteVectorIndex,
    DescribeTable,
    Json,
    SetStream,
    TableDescription,
    TableSchema,
)
from partita.wire._faults import Fault, not_found
from partita.wire._parameters import Operation, Parameters, Requests
from partita.wire.tables._definitions import INVALID, new_table_name, read_index, read_stream
from partita.wire.tables._describe import table_body
from partita.wire.tables._encryption import check_change, read_encryption
from partita.wire.tables._existing import existing
from partita.wire.tables._settings import ON_DEMAND, PROVISIONED, Settings, Throughput, keep_settings, read_settings
from partita.wire.tables._throughput import (
    changed_units,
    read_billing,
    read_throughput,
    with_index_limits,
)
from partita.wire.vectors import check_vector_updates, read_vector_index

_CLASSES: Final = ("STANDARD", "STANDARD_INFREQUENT_ACCESS")
_PARTS: Final = (
    "ProvisionedThroughput",
    "BillingMode",
    "StreamSpecification",
    "GlobalSecondaryIndexUpdates",
    "SSESpecification",
    "ReplicaUpdates",
    "MultiRegionConsistency",
    "DeletionProtectionEnabled",
    "OnDemandThroughput",
    "WarmThroughput",
    "TableClass",
    "GlobalTableWitnessUpdates",
    "GlobalTableSettingsReplicationMode",
    "VectorIndexUpdates",
)
_NO_CHANGE: Final = (
    "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, "
    "SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, "
    "DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required"
)
_ALONE: Final = {
    "SSESpecification": "Server-Side Encryption modification must be the only operation in the request",
    "TableClass": "TableClass modification must be the only operation in the request",
    "DeletionProtectionEnabled": "DeletionProtection modification must be the only operation in the request",
    "WarmThroughput": "WarmThroughput must be the only operation in the request",
    "ReplicaUpdates": "Replica modification must be the only operation in the request",
}
_UNSERVED: Final = {
    "ReplicaUpdates": "Replicas",
    "MultiRegionConsistency": "Replicas",
    "GlobalTableWitnessUpdates": "Replicas",
    "GlobalTableSettingsReplicationMode": "Replicas",
    "GlobalTableSourceArn": "Replicas",
}
_WITHOUT_INDEXES: Final = {
    "ProvisionedThroughput": "updating table IOPS",
    "StreamSpecification": "changing stream status",
}
_TAKES_TIME: Final = ("ProvisionedThroughput", "BillingMode", "StreamSpecification", "TableClass")


def refuse_unserved(call: Parameters) -> None:
    """Refuse unsupported parameters instead of ignoring them."""
    for name, what in _UNSERVED.items():
        if call.given.get(name) not in (None, []):
            raise ValidationFailed(f"{INVALID}{name}: {what} are not supported by this endpoint.")


def read_class(call: Parameters) -> str | None:
    """The table class of the call, or None."""
    given = call.text("TableClass")
    if given is not None and given not in _CLASSES:
        message = "Invalid table-class parameter provided. Please try again with a valid table-class value:"
        raise ValidationFailed(f"{message} [{', '.join(_CLASSES)}].")
    return given


class TableChanges:
    """UpdateTable; `clock` gives the times of changes."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def operations(self) -> dict[str, Operation]:
        """The operations, by name."""
        return {"UpdateTable": self.update}

    def update(self, call: Parameters) -> Requests[Json]:
        """Change capacity, indexes, the stream or a setting of a table."""
        name, now = new_table_name(call), int(self._clock() * 1000)
        updates, vectors = _check(call)
        description = yield from existing(name)
        before = yield from read_settings(name)
        settings = _changed(call, before, now)
        settings = yield from _update_indexes(call, description.schema, settings, updates, now)
        yield from _update_vectors(call, description.schema, settings, vectors)
        specification = read_stream(call, creating=False)
        if specification is not None:
            yield SetStream(name, specification.get("StreamViewType") if specification["StreamEnabled"] else None)
        if settings != before:
            yield from keep_settings(name, settings)
        description = yield DescribeTable(name)
        return {"TableDescription": _response(call, description, before, settings, [*updates, *vectors])}


def _check(call: Parameters) -> tuple[list[Parameters], list[Parameters]]:
    """Check what does not depend on the table; return the changes of indexes, and of vector indexes."""
    given = [part for part in _PARTS if call.given.get(part) not in (None, [])]
    if not given:
        raise ValidationFailed(_NO_CHANGE)
    refuse_unserved(call)
    updates = [Parameters(update) for update in call.structures("GlobalSecondaryIndexUpdates")]
    vectors = [Parameters(update) for update in call.structures("VectorIndexUpdates")]
    check_vector_updates(vectors)
    _check_index_updates(updates, len(vectors))
    read_throughput(call.fields("ProvisionedThroughput"), "provisionedThroughput")
    _check_combination(given, call, [*updates, *vectors])
    return updates, vectors


def _check_combination(given: list[str], call: Parameters, updates: list[Parameters]) -> None:
    for part, message in _ALONE.items():
        if part in given and len(given) > 1:
            raise ValidationFailed(INVALID + message)
    if "OnDemandThroughput" in given and not {"OnDemandThroughput", "BillingMode"}.issuperset(given):
        message = "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request"
        raise ValidationFailed(INVALID + message)
    provisions = "ProvisionedThroughput" in given or call.given.get("BillingMode") == PROVISIONED
    if "StreamSpecification" in given and provisions:
        raise ValidationFailed(f"{INVALID}You cannot modify stream status while updating table IOPS")
    if any(update.fields("Create") or update.fields("Delete") for update in updates):
        for part, what in _WITHOUT_INDEXES.items():
            if part in given:
                raise ValidationFailed(f"{INVALID}You cannot create or delete index while {what}")


def _check_index_updates(updates: list[Parameters], vectors: int) -> None:
    names: list[str] = []
    for update in updates:
        kinds = [kind for kind in ("Update", "Create", "Delete") if update.fields(kind)]
        if not kinds:
            message = "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create,"
            raise ValidationFailed(f"{INVALID}{message} GlobalSecondaryIndexUpdate.Delete must not be null")
        if len(kinds) > 1:
            message = "Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object"
            raise ValidationFailed(INVALID + message)
        names.append(_index_name(update.fields(kinds[0]) or {}))
    for place, name in enumerate(names):
        if name in names[:place]:
            message = f"Only one global secondary index update per index is allowed simultaneously. Index: {name}"
            raise ValidationFailed(INVALID + message)
    if vectors + sum(bool(update.fields("Create") or update.fields("Delete")) for update in updates) > 1:
        message = "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"
        raise Fault("LimitExceededException", message)


def _index_name(change: Json) -> str:
    return Parameters(change).required("IndexName", "globalSecondaryIndexUpdates.1.member.indexName")


def _changed(call: Parameters, before: Settings, now: int) -> Settings:
    settings = read_billing(call, before, now, creating=False)
    _check_throughput(call, before)
    protected, table_class = call.flag("DeletionProtectionEnabled"), read_class(call)
    key = read_encryption(call, before.encryption_key)
    if call.fields("SSESpecification") is not None:
        check_change(before.encryption_key, key, call)
    is_other = table_class is not None and table_class != (before.table_class or _CLASSES[0])
    return msgspec.structs.replace(
        settings,
        protected=before.protected if protected is None else protected,
        table_class=table_class if is_other else before.table_class,
        class_at=now if is_other else before.class_at,
        encryption_key=key,
    )


def _check_throughput(call: Parameters, before: Settings) -> None:
    units = read_throughput(call.fields("ProvisionedThroughput"), "provisionedThroughput")
    now = before.throughput
    if units is None or before.billing == ON_DEMAND or (units.read, units.write) != (now.read, now.write):
        return
    if call.given.get("GlobalSecondaryIndexUpdates") is None:
        raise ValidationFailed(_same_units("table", units))


def _same_units(what: str, units: Throughput) -> str:
    return (
        f"The provisioned throughput for the {what} will not change. The requested value equals the current value. "
        f"Current ReadCapacityUnits provisioned for the {what}: {units.read}. Requested ReadCapacityUnits: "
        f"{units.read}. Current WriteCapacityUnits provisioned for the {what}: {units.write}. Requested "
        f"WriteCapacityUnits: {units.write}. Refer to the Amazon DynamoDB Developer Guide for current limits "
        "and how to request higher limits."
    )


def _update_indexes(
    call: Parameters, schema: TableSchema, settings: Settings, updates: list[Parameters], now: int
) -> Requests[Settings]:
    for update in updates:
        if change := update.fields("Create"):
            index = read_index(call, change, schema)
            settings = with_index_limits(change, _with_units(settings, index.name, change, now), None)
            yield CreateIndex(schema.name, index)
        elif change := update.fields("Delete"):
            name = _index_name(change)
            _check_global(schema, name, "delete")
            settings = _without(settings, name)
            yield DeleteIndex(schema.name, name)
        elif change := update.fields("Update"):
            name = _index_name(change)
            _check_global(schema, name, "update")
            settings = with_index_limits(change, _with_units(settings, name, change, now), settings)
    return settings


def _update_vectors(
    call: Parameters, schema: TableSchema, settings: Settings, updates: list[Parameters]
) -> Requests[None]:
    on_demand = settings.billing == ON_DEMAND
    if schema.vectors and not on_demand:
        raise ValidationFailed(f"{INVALID}Vector indexes are only supported for PAY_PER_REQUEST tables")
    for update in updates:
        if change := update.fields("Create"):
            yield CreateVectorIndex(schema.name, read_vector_index(call, change, schema, on_demand=on_demand))
        elif change := update.fields("Delete"):
            name = _index_name(change)
            if schema.vector(name) is None:
                raise not_found(f"Index: {name}")
            yield DeleteVectorIndex(schema.name, name)


def _check_global(schema: TableSchema, name: str, what: str) -> None:
    index = schema.index(name)
    if index is None:
        raise not_found(f"Index: {name}")
    if index.local:
        raise ValidationFailed(f"Cannot {what} an index that is not a GlobalSecondaryIndex: {name}")


def _with_units(settings: Settings, name: str, change: Json, now: int) -> Settings:
    units = read_throughput(Parameters(change).fields("ProvisionedThroughput"), "provisionedThroughput")
    if settings.billing == ON_DEMAND:
        if units is not None:
            message = f"specified for index: {name} when BillingMode is PAY_PER_REQUEST"
            raise ValidationFailed(f"{INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be {message}")
        return settings
    before = settings.indexes.get(name, Throughput())
    if units is None and not before.read:
        raise ValidationFailed(f"{INVALID}ProvisionedThroughput must be specified for index: {name}")
    if units is not None and (units.read, units.write) == (before.read, before.write):
        raise ValidationFailed(_same_units(f"index {name}", units))
    indexes = settings.indexes | {name: changed_units(before, units, now)}
    return msgspec.structs.replace(settings, indexes=indexes)


def _without(settings: Settings, name: str) -> Settings:
    def left(of: dict[str, Any]) -> dict[str, Any]:
        return {index: value for index, value in of.items() if index != name}

    return msgspec.structs.replace(
        settings,
        indexes=left(settings.indexes),
        request_limits=left(settings.request_limits),
        warm=left(settings.warm),
        insights=left(settings.insights),
    )


def _response(
    call: Parameters, description: TableDescription, before: Settings, settings: Settings, updates: list[Parameters]
) -> Json:
    """The description of the table during the change, still with the old capacity and class."""
    takes_time = bool(updates) or any(call.given.get(part) is not None for part in _TAKES_TIME)
    shown = msgspec.structs.replace(
        settings,
        billing=before.billing,
        throughput=before.throughput,
        table_class=before.table_class,
        class_at=before.class_at,
        warm=before.warm,
    )
    body = table_body(description, shown, call.region, "UPDATING" if takes_time else "ACTIVE")
    created = {created["IndexName"] for update in updates if (created := update.fields("Create"))}
    for index in (*body.get("GlobalSecondaryIndexes", ()), *body.get("VectorIndexes", ())):
        if index["IndexName"] in created:
            index |= {"IndexStatus": "CREATING", "Backfilling": False}
    return body
