"""The definition of a restored table: that of its source, with overrides and without the parts that AWS omits."""

from __future__ import annotations

import msgspec

from partita.errors import ValidationFailed
from partita.store import IndexSchema, TableSchema, table_definition
from partita.wire._faults import Fault
from partita.wire._parameters import Parameters
from partita.wire.tables._definitions import BILLING, INVALID
from partita.wire.tables._encryption import read_encryption
from partita.wire.tables._settings import Settings
from partita.wire.tables._throughput import read_billing

_KINDS = {"GlobalSecondaryIndexOverride": False, "LocalSecondaryIndexOverride": True}
_SERVED = {
    "BillingModeOverride": "BillingMode",
    "ProvisionedThroughputOverride": "ProvisionedThroughput",
    "OnDemandThroughputOverride": "OnDemandThroughput",
    "SSESpecificationOverride": "SSESpecification",
}


def restored(call: Parameters, source: TableSchema, settings: Settings, now: int) -> tuple[TableSchema, Settings]:
    """The schema and the settings of the new table; stream, expiry, tags and protection are not restored.

    Raises:
        ValidationFailed: an override is invalid, or names an index that the source does not have.
    """
    call.choice("BillingModeOverride", BILLING)
    indexes, vectors = source.indexes, source.vectors
    for parameter, local in _KINDS.items():
        wanted = call.members(parameter)
        if wanted is not None:
            kept = _kept(source, call, parameter, local=local)
            indexes = tuple(index for index in indexes if index.local != local or index.name in kept)
    if call.members("VectorIndexOverride") is not None:
        wanted_vectors = _kept_vectors(source, call)
        vectors = tuple(index for index in vectors if index.name in wanted_vectors)
    target = call.table("TargetTableName")
    schema = msgspec.structs.replace(source, name=target, indexes=indexes, vectors=vectors, stream=None, ttl=None)
    names = {index.name for index in indexes}
    before = Settings(
        billing=settings.billing,
        throughput=settings.throughput,
        indexes={name: units for name, units in settings.indexes.items() if name in names},
        on_demand_at=settings.on_demand_at,
        encryption_key=settings.encryption_key,
    )
    given = {name: call.given[override] for override, name in _SERVED.items() if call.given.get(override) is not None}
    changes = Parameters(given, call.headers)
    after = read_billing(changes, before, now, creating=False)
    return schema, msgspec.structs.replace(after, encryption_key=read_encryption(changes, before.encryption_key))


def _kept(source: TableSchema, call: Parameters, parameter: str, *, local: bool) -> set[str]:
    names = {str(Parameters(index).text("IndexName")): index for index in call.structures(parameter)}
    known = {index.name: index for index in source.indexes if index.local == local}
    for name, given in names.items():
        if name not in known or not _is_same(source, known[name], given.get("KeySchema")):
            raise ValidationFailed(f"{INVALID}{parameter}: the source table does not have the index {name}")
    return set(names)


def _kept_vectors(source: TableSchema, call: Parameters) -> set[str]:
    names = {str(Parameters(index).text("IndexName")) for index in call.structures("VectorIndexOverride")}
    missing = sorted(names - {index.name for index in source.vectors})
    if missing:
        raise ValidationFailed(f"{INVALID}VectorIndexOverride: the source table does not have the index {missing[0]}")
    return names


def _is_same(source: TableSchema, index: IndexSchema, key: object) -> bool:
    alone = msgspec.structs.replace(source, indexes=(index,))
    kind = "LocalSecondaryIndexes" if index.local else "GlobalSecondaryIndexes"
    return key in (None, table_definition(alone)[kind][0]["KeySchema"])


def table_exists(name: str) -> Fault:
    """The error for a restore into a table name that already exists."""
    return Fault("TableAlreadyExistsException", f"Table already exists: {name}")
