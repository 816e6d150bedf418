"""Versioned tables: bookkeeping separate from domain data, optimistic locking, lazy migrations, schema snapshots."""

from partita.recipes.versioned._adjust import VersionedAdjust
from partita.recipes.versioned._backfill import BackfillProgress, VersionCount, backfill_page, count_versions
from partita.recipes.versioned._form import LAST_WRITE
from partita.recipes.versioned._migrations import Migrations
from partita.recipes.versioned._shapes import SchemaDifference
from partita.recipes.versioned._snapshots import (
    SNAPSHOT_FOLDER,
    SNAPSHOT_FOLDER_IN_TESTS,
    SchemaReport,
    Verdict,
    accept_schema,
    assert_snapshot,
    check_schema,
    frozen_file,
    frozen_items,
    schema_file,
    schema_snapshot,
)
from partita.recipes.versioned._table import (
    Versioned,
    VersionedDelete,
    VersionedInsert,
    VersionedRead,
    VersionedTable,
    VersionedUpdate,
    versioned_tables,
)

__all__ = [
    "LAST_WRITE",
    "SNAPSHOT_FOLDER",
    "SNAPSHOT_FOLDER_IN_TESTS",
    "BackfillProgress",
    "Migrations",
    "SchemaDifference",
    "SchemaReport",
    "Verdict",
    "VersionCount",
    "Versioned",
    "VersionedAdjust",
    "VersionedDelete",
    "VersionedInsert",
    "VersionedRead",
    "VersionedTable",
    "VersionedUpdate",
    "accept_schema",
    "assert_snapshot",
    "backfill_page",
    "check_schema",
    "count_versions",
    "frozen_file",
    "frozen_items",
    "schema_file",
    "schema_snapshot",
    "versioned_tables",
]
