"""The operations on global tables (version 2017), and on the scaling of replicas.

Operations that describe something respond as AWS does for a table without replicas. Operations that would create a
replica are refused.
"""

from __future__ import annotations

from typing import Final

from partita.errors import TableNotFound, ValidationFailed
from partita.store import DescribeTable, Json, TableDescription
from partita.wire._faults import Fault
from partita.wire._parameters import Operation, Parameters, Requests, refuse, violated
from partita.wire.tables import existing


def _unknown(call: Parameters) -> Requests[Json]:
    """Raise GlobalTableNotFoundException, because there are no global tables."""
    name = call.table("GlobalTableName")
    yield from ()
    raise Fault("GlobalTableNotFoundException", f"Global table with name: '{name}' does not exist")


def _create(call: Parameters) -> Requests[Json]:
    """Refuse to create a global table, after the checks that AWS makes first."""
    name = call.table("GlobalTableName")
    if call.members("ReplicationGroup") is None:
        refuse(violated(None, "replicationGroup", "Member must not be null"))
    try:
        yield DescribeTable(name)
    except TableNotFound:
        raise Fault("TableNotFoundException", f"Table not found: {name}") from None
    raise ValidationFailed("Replicas are not supported")


def _update(call: Parameters) -> Requests[Json]:
    if call.members("ReplicaUpdates") is None:
        refuse(violated(None, "replicaUpdates", "Member must not be null"))
    return (yield from _unknown(call))


def _list(call: Parameters) -> Requests[Json]:
    """List global tables: always none."""
    limit = call.whole("Limit")
    if limit is not None and limit < 1:
        refuse(violated(limit, "limit", "Member must have value greater than or equal to 1"))
    yield from ()
    return {"GlobalTables": []}


def _describe_scaling(call: Parameters) -> Requests[Json]:
    """Describe the scaling of a table: always without replicas."""
    description: TableDescription = yield from existing(call.table())
    body = {"TableName": description.schema.name, "TableStatus": description.status, "Replicas": []}
    return {"TableAutoScalingDescription": body}


def _update_scaling(call: Parameters) -> Requests[Json]:
    yield from existing(call.table())
    raise ValidationFailed("Replicas are not supported")


OPERATIONS: Final[dict[str, Operation]] = {
    "CreateGlobalTable": _create,
    "DescribeGlobalTable": _unknown,
    "DescribeGlobalTableSettings": _unknown,
    "DescribeTableReplicaAutoScaling": _describe_scaling,
    "ListGlobalTables": _list,
    "UpdateGlobalTable": _update,
    "UpdateGlobalTableSettings": _unknown,
    "UpdateTableReplicaAutoScaling": _update_scaling,
}
"""The operations, by name."""
