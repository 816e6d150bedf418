"""Runs an import: puts the items of all objects with a prefix into the table that was created for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import BinaryIO, Final

from msgspec.structs import replace

from partita.buckets import Buckets, StoredObject
from partita.bulk import Record
from partita.runtime import chunks
from partita.store import DescribeTable, Json, TableSchema
from partita.store.embedded import BulkPut, EmbeddedStore, LoadItems
from partita.wire.bulk import READERS, ObjectInput
from partita.wire.exports._csv import csv_records
from partita.wire.exports._jobs import Job

CHUNK: Final = 1_000


def run_import(store: EmbeddedStore, buckets: Buckets, job: Job) -> Job:
    """Put the items; return the job with its counts. Records that cannot be items of the table are counted as errors.

    Raises:
        PartitaError: the bucket cannot be read, or the table was deleted.
    """
    asked = job.asked
    schema = store.execute(DescribeTable(job.table)).schema
    source = asked["S3BucketSource"]
    counted = replace(job, items=0, bytes=0, processed=0, errors=0)
    for stored in buckets.objects(source["S3Bucket"], source.get("S3KeyPrefix") or ""):
        opened = ObjectInput(
            stored.key,
            stored.size,
            partial(_open, buckets, stored),
            _reader(asked, schema),
            asked["InputCompressionType"],
        )
        for chunk in chunks(opened.records(0), CHUNK):
            counted = _loaded(store, counted, chunk)
        counted = replace(counted, bytes=counted.bytes + stored.size)
    return counted


def _open(buckets: Buckets, stored: StoredObject) -> BinaryIO:
    return buckets.open(stored)


def _reader(asked: Json, schema: TableSchema) -> Callable[[BinaryIO, int], Iterator[Record]]:
    if asked["InputFormat"] != "CSV":
        return READERS[asked["InputFormat"]]
    options = (asked.get("InputFormatOptions") or {}).get("Csv") or {}
    kinds = {part.name: part.type for part in (*schema.key, *(p for index in schema.indexes for p in index.key))}
    return partial(csv_records, kinds, options.get("Delimiter") or ",", options.get("HeaderList"))


def _loaded(store: EmbeddedStore, job: Job, records: Sequence[Record]) -> Job:
    puts = [record for record in records if isinstance(record, BulkPut)]
    rejected = len(store.execute(LoadItems(job.table, puts)).rejected) if puts else 0
    written = len(puts) - rejected
    return replace(
        job,
        items=job.items + written,
        processed=job.processed + len(records),
        errors=job.errors + len(records) - written,
    )
