"""Operations on tables: creating, describing, deleting and listing them."""

from __future__ import annotations

from typing import Final

import msgspec

from partita.errors import ValidationFailed
from partita.runtime import Clock
from partita.store import CreateTable, DeleteTable, Json, ListTables, TableDescription
from partita.wire._parameters import Operation, Parameters, Requests
from partita.wire.tables import _settings
from partita.wire.tables._changes import TableChanges, read_class, refuse_unserved
from partita.wire.tables._definitions import read_table
from partita.wire.tables._describe import deleted_body, table_body
from partita.wire.tables._encryption import read_encryption
from partita.wire.tables._existing import existing
from partita.wire.tables._policies import ResourcePolicies
from partita.wire.tables._policy_document import canonical_policy
from partita.wire.tables._settings import DEFAULT, Settings, keep_settings, read_settings
from partita.wire.tables._tags import check_tag_count, read_tags
from partita.wire.tables._throughput import read_billing, with_index_limits

MAX_LISTED: Final = 100


class Tables:
    """The operations; `clock` gives the times of changes."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def operations(self) -> dict[str, Operation]:
        """The operations, by name."""
        return {
            "CreateTable": self.create,
            "DescribeTable": self.describe,
            "DeleteTable": _delete,
            "ListTables": _list,
            **TableChanges(self._clock).operations(),
        }

    def _now(self) -> int:
        return int(self._clock() * 1000)

    def create(self, call: Parameters) -> Requests[Json]:
        """Create a table, which can be used immediately."""
        schema = read_table(call)
        refuse_unserved(call)
        settings = self._new_settings(call)
        description: TableDescription = yield CreateTable(schema)
        yield from keep_settings(schema.name, settings)
        body = table_body(description, settings, call.region, "CREATING")
        for index in (*body.get("GlobalSecondaryIndexes", ()), *body.get("VectorIndexes", ())):
            index["IndexStatus"] = "CREATING"
        if call.text("ResourcePolicy") is not None:
            body["ResourcePolicy"] = settings.policies[_settings.OWN].text
        return {"TableDescription": body}

    def _new_settings(self, call: Parameters) -> Settings:
        now = self._now()
        settings = read_billing(call, DEFAULT, now, creating=True)
        for index in call.structures("GlobalSecondaryIndexes"):
            settings = with_index_limits(index, settings, None)
        tags, policy = read_tags(call), call.text("ResourcePolicy")
        check_tag_count(tags)
        return msgspec.structs.replace(
            settings,
            tags=tags,
            protected=call.flag("DeletionProtectionEnabled") or False,
            table_class=read_class(call),
            encryption_key=read_encryption(call, None),
            policies={}
            if policy is None
            else {_settings.OWN: ResourcePolicies(self._clock).new(canonical_policy(policy))},
        )

    def describe(self, call: Parameters) -> Requests[Json]:
        """Describe a table."""
        description = yield from existing(call.table())
        settings = yield from read_settings(description.schema.name)
        return {"Table": table_body(description, settings, call.region, now=self._now())}


def _delete(call: Parameters) -> Requests[Json]:
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
    return {"TableDescription": deleted_body(description, settings, call.region)}


def _list(call: Parameters) -> Requests[Json]:
    """List the names of all tables, page by page."""
    start = call.text("ExclusiveStartTableName")
    if start is not None:
        call.table("ExclusiveStartTableName")
    limit = call.page_size("Limit", MAX_LISTED)
    tables = yield ListTables()
    names = [name for name in tables if not _settings.is_own(name) and (start is None or name > start)]
    page = names[: limit or MAX_LISTED]
    body: Json = {"TableNames": page}
    if len(page) < len(names):
        body["LastEvaluatedTableName"] = page[-1]
    return body
