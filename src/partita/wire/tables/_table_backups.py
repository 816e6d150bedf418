"""Backups of single tables: each is a hidden table of the store, which is restored into a new one."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec
from msgspec import Struct

from partita.errors import TableInUse, ValidationFailed
from partita.runtime import Clock, chunks
from partita.store import (
    BatchWriteItem,
    CreateTable,
    DeleteItem,
    DeleteTable,
    GetItem,
    Json,
    ListTables,
    PageResponse,
    PutItem,
    ScanTable,
    TableDescription,
    TableSchema,
)
from partita.values import Item
from partita.wire._describe import table_arn
from partita.wire._faults import Fault
from partita.wire._parameters import MAX_NAME, MIN_NAME, Operation, Parameters, Requests, refuse, violated
from partita.wire.tables._describe import table_body
from partita.wire.tables._existing import backed_up
from partita.wire.tables._restored import restored, table_exists
from partita.wire.tables._settings import (
    BACKUPS,
    TABLE,
    Settings,
    keep_settings,
    make_settings_table,
    read_settings,
)

_MAX_LISTED: Final = 100
_CHUNK: Final = 25
_NAME: Final = re.compile(r"[a-zA-Z0-9_.-]+", re.ASCII)
_ARN: Final = re.compile(r"arn:aws:dynamodb:[^:]*:[^:]*:table/[a-zA-Z0-9_.-]+/backup/([0-9]{14}-[0-9a-f]{8})")
_FEATURES: Final = ("LocalSecondaryIndexes", "GlobalSecondaryIndexes", "StreamSpecification", "SSEDescription")
_TYPES: Final = ("USER", "SYSTEM", "AWS_BACKUP", "ALL")


class Backup(Struct, frozen=True):
    """The stored data of a backup."""

    id: str
    name: str
    at: int
    """In milliseconds."""
    definition: str
    """The schema of the table, in JSON."""
    settings: Settings
    table_created_at: int
    items: int
    bytes: int
    table_created: str = ""
    """When the table was created, in seconds with all digits, on which its TableId depends; empty in older backups."""

    @property
    def schema(self) -> TableSchema:
        """The schema of the table at the time of the backup."""
        return msgspec.json.decode(self.definition, type=TableSchema)

    def description(self) -> TableDescription:
        """The description of the table at the time of the backup."""
        created_at = float(self.table_created) if self.table_created else self.table_created_at / 1000
        return TableDescription(self.schema, created_at, self.items, self.bytes)


class TableBackups:
    """The operations; `clock` gives the times of backups."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def operations(self) -> dict[str, Operation]:
        """The operations, by name."""
        return {
            "CreateBackup": self.create,
            "DescribeBackup": _describe,
            "ListBackups": _list,
            "DeleteBackup": _delete,
            "RestoreTableFromBackup": self.restore,
        }

    def create(self, call: Parameters) -> Requests[Json]:
        """Back up a table by copying it."""
        table, name = call.table(), _backup_name(call)
        description: TableDescription = yield from backed_up(table)
        settings = yield from read_settings(table)
        at, definition = int(self._clock() * 1000), msgspec.json.encode(description.schema).decode()
        number = yield from _free_number(at)
        hidden = msgspec.structs.replace(description.schema, name=f"{BACKUPS}{number}", stream=None, ttl=None)
        yield CreateTable(hidden)
        items, size = yield from _copy(table, hidden.name)
        created = description.created_at
        backup = Backup(number, name, at, definition, settings, int(created * 1000), items, size, repr(created))
        yield from make_settings_table()
        yield PutItem(TABLE, {"table": f"backup/{number}", "backup": msgspec.to_builtins(backup)})
        return {"BackupDetails": _details(backup, call.region, "CREATING")}

    def restore(self, call: Parameters) -> Requests[Json]:
        """Restore a backup into a new table, as on AWS without stream, expiry, tags and protection."""
        backup = yield from _found(call)
        now = int(self._clock() * 1000)
        schema, settings = restored(call, backup.schema, backup.settings, now)
        try:
            description: TableDescription = yield CreateTable(schema)
        except TableInUse:
            raise table_exists(schema.name) from None
        yield from keep_settings(schema.name, settings)
        yield from _copy(f"{BACKUPS}{backup.id}", schema.name)
        body = table_body(description, settings, call.region, "CREATING")
        source = {"SourceBackupArn": _arn(backup, call.region), "RestoreDateTime": now / 1000}
        return {"TableDescription": {**body, "RestoreSummary": {**source, "RestoreInProgress": True}}}


def _backup_name(call: Parameters) -> str:
    name = call.required("BackupName", "backupName")
    if not MIN_NAME <= len(name) <= MAX_NAME:
        short = len(name) < MIN_NAME
        bound = f"greater than or equal to {MIN_NAME}" if short else f"less than or equal to {MAX_NAME}"
        refuse(violated(name, "backupName", f"Member must have length {bound}"))
    if not _NAME.fullmatch(name):
        refuse(violated(name, "backupName", "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"))
    return name


def _free_number(at: int) -> Requests[str]:
    tables = yield ListTables()
    taken = {table.removeprefix(BACKUPS) for table in tables}
    return next(number for place in range(len(taken) + 1) if (number := f"{at:014}-{place:08x}") not in taken)


def _copy(source: str, target: str) -> Requests[tuple[int, int]]:
    """Copy all items; return their number and their size in bytes."""
    count, start = 0, None
    while True:
        page: PageResponse = yield ScanTable(source, start=start, consistent=True)
        for chunk in chunks(page.items, _CHUNK):
            yield BatchWriteItem(tuple(PutItem(target, item) for item in chunk))
        count += len(page.items)
        start = page.last_key
        if start is None:
            copied: TableDescription = yield from backed_up(target)
            return count, copied.size_bytes


def _found(call: Parameters) -> Requests[Backup]:
    arn = call.required("BackupArn", "backupArn")
    match = _ARN.fullmatch(arn)
    if match is None:
        raise ValidationFailed("Invalid Backup ARN")
    tables = yield ListTables()
    item: Item | None = None
    if TABLE in tables:
        response = yield GetItem(TABLE, {"table": f"backup/{match[1]}"})
        item = response.item
    if item is None:
        raise Fault("BackupNotFoundException", f"Backup not found: {arn}")
    return msgspec.convert(item["backup"], Backup)


def _describe(call: Parameters) -> Requests[Json]:
    backup = yield from _found(call)
    return {"BackupDescription": _body(backup, call.region, "AVAILABLE")}


def _delete(call: Parameters) -> Requests[Json]:
    backup = yield from _found(call)
    yield DeleteItem(TABLE, {"table": f"backup/{backup.id}"})
    yield DeleteTable(f"{BACKUPS}{backup.id}")
    return {"BackupDescription": _body(backup, call.region, "DELETED")}


def _list(call: Parameters) -> Requests[Json]:
    """List the backups of all tables or of one, oldest first."""
    wanted = call.table() if call.text("TableName") is not None else None
    limit, start = call.page_size("Limit", _MAX_LISTED) or _MAX_LISTED, call.text("ExclusiveStartBackupArn") or ""
    if call.choice("BackupType", _TYPES, "ALL") not in ("USER", "ALL"):
        return {"BackupSummaries": []}
    tables = yield ListTables()
    backups: list[Backup] = []
    for number in sorted(table.removeprefix(BACKUPS) for table in tables if table.startswith(BACKUPS)):
        response = yield GetItem(TABLE, {"table": f"backup/{number}"})
        if response.item is not None:  # without an item, the backup is still being created
            backups.append(msgspec.convert(response.item["backup"], Backup))
    after = start.rpartition("/")[2]
    found = [each for each in backups if each.id > after and wanted in (None, each.schema.name)]
    body: Json = {"BackupSummaries": [_summary(each, call.region) for each in found[:limit]]}
    if len(found) > limit:
        body["LastEvaluatedBackupArn"] = _arn(found[limit - 1], call.region)
    return body


def _arn(backup: Backup, region: str) -> str:
    return f"{table_arn(region, backup.schema.name)}/backup/{backup.id}"


def _details(backup: Backup, region: str, status: str) -> Json:
    return {
        "BackupArn": _arn(backup, region),
        "BackupName": backup.name,
        "BackupSizeBytes": backup.bytes,
        "BackupStatus": status,
        "BackupType": "USER",
        "BackupCreationDateTime": backup.at / 1000,
    }


def _source(backup: Backup, region: str) -> Json:
    return table_body(backup.description(), backup.settings, region)


def _summary(backup: Backup, region: str) -> Json:
    source = _source(backup, region)
    return {name: source[name] for name in ("TableName", "TableId", "TableArn")} | _details(backup, region, "AVAILABLE")


def _body(backup: Backup, region: str, status: str) -> Json:
    table = _source(backup, region)
    names = ("TableName", "TableId", "TableArn", "TableSizeBytes", "KeySchema", "ProvisionedThroughput", "ItemCount")
    source: dict[str, Any] = {name: table[name] for name in names}
    source |= {"TableCreationDateTime": table["CreationDateTime"], "BillingMode": backup.settings.billing}
    features: dict[str, Any] = {name: table[name] for name in _FEATURES if name in table}
    if "StreamSpecification" in features:
        features["StreamDescription"] = features.pop("StreamSpecification")
    if backup.schema.ttl is not None:
        expiry = {"TimeToLiveStatus": "ENABLED", "AttributeName": backup.schema.ttl}
        features["TimeToLiveDescription"] = expiry
    return {
        "BackupDetails": _details(backup, region, status),
        "SourceTableDetails": source,
        "SourceTableFeatureDetails": features,
    }
