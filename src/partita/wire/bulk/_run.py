"""Runs one bulk operation: lists its objects once, loads them, and writes the reports."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec

from partita.buckets import Buckets
from partita.bulk import BulkLoad
from partita.errors import OperationError, TableNotFound
from partita.runtime import Pace, run
from partita.store import DescribeTable, Json, Store
from partita.wire._describe import table_arn
from partita.wire.background import bucket_encryption
from partita.wire.bulk import _stored
from partita.wire.bulk._inputs import READERS, ObjectInput
from partita.wire.bulk._stored import CANCELLED, CANCELLING, Operation

MAX_OBJECTS: Final = 50_000
MAX_OBJECT_BYTES: Final = 5 * 1024**3


def report_prefix(output: Json) -> str:
    """The common prefix of the keys of all reports with this output configuration."""
    prefix = str(output.get("S3KeyPrefix", "")).strip("/")
    return f"{prefix}/AWSDynamoDB/" if prefix else "AWSDynamoDB/"


class OperationRun:
    """A run of an operation, possibly after an interrupted one."""

    def __init__(self, store: Store, buckets: Buckets, operation: Operation, stopped: Callable[[], bool]) -> None:
        self._store = store
        self._buckets = buckets
        self._operation = operation
        self._stopped = stopped
        self._is_cancelled = False
        self._load = BulkLoad(
            store,
            operation.table,
            operation.id,
            reports=operation.output["OutputType"],
            pace=Pace(operation.max_units),
        )

    def run(self) -> str | None:
        """Load the remaining items; return the final status, or None if the server is stopping.

        Raises:
            PartitaError: the operation cannot continue.
        """
        if self._is_to_stop():
            return CANCELLED if self._is_cancelled else None
        inputs = self._inputs()
        if not self._load.run(inputs, self._is_to_stop):
            return CANCELLED if self._is_cancelled else None
        return "COMPLETED_WITH_ERRORS" if self._load.progress().failed else "COMPLETED"

    def _is_to_stop(self) -> bool:
        """Whether to stop; checked before each transaction.

        Raises:
            TableNotFound: the table was deleted, or another table has its name.
        """
        operation = self._operation
        if self._store.execute(DescribeTable(operation.table)).created_at != operation.created_at:
            raise TableNotFound(f"Requested resource not found: Table: {operation.table} not found")
        now = run(_stored.read_operation(operation.id), self._store.execute)
        self._is_cancelled = now is not None and now.status == CANCELLING
        return self._is_cancelled or self._stopped()

    def _inputs(self) -> list[ObjectInput]:
        source, name = self._operation.input, self._operation.id
        objects = _stored.read_inputs(self._store, name)
        if objects is None:
            objects = [*self._buckets.objects(source["S3Bucket"], source.get("S3KeyPrefix", ""))]
            if not objects:
                where = f"{source['S3Bucket']}/{source.get('S3KeyPrefix', '')}"
                raise OperationError(f"There are no objects at {where}")
            if len(objects) > MAX_OBJECTS:
                raise OperationError(f"There are more than {MAX_OBJECTS:,} objects")
            if large := next((each.key for each in objects if each.size > MAX_OBJECT_BYTES), None):
                raise OperationError(f"The object {large} has more than 5 GB")
            _stored.save_inputs(self._store, name, objects)
        compression = source.get("InputCompressionType", "NONE")
        read = READERS[source["InputFormat"]]
        return [
            ObjectInput(each.key, each.size, partial(self._buckets.open, each), read, compression) for each in objects
        ]

    def write_reports(self, ended: Operation) -> None:
        """Write the reports: the items that were not put, and a summary of the operation.

        Raises:
            PartitaError: the bucket does not exist, or cannot be written.
        """
        output = self._operation.output
        folder = f"{report_prefix(output)}{self._operation.id}/"
        encryption = bucket_encryption(output)

        def write(name: str, body: bytes) -> None:
            self._buckets.write(output["S3Bucket"], f"{folder}{name}", body, encryption)

        names = self._load.write_reports(write)
        progress = self._load.progress()
        summary = {
            "bulkOperationId": ended.id,
            "tableArn": table_arn(ended.region, ended.table),
            "startTime": ended.started / 1000,
            "status": ended.status,
            "inputS3Configuration": ended.input,
            "processedItemCount": progress.processed,
            "failedItemCount": progress.failed,
            "conditionCheckFailureCount": progress.unmet,
            "files": [f"{folder}{name}" for name in names],
        }
        write("manifest-summary.json", msgspec.json.encode(summary))

    def forget(self) -> None:
        """Delete the data that is needed only while the operation runs."""
        self._load.forget_reports()
        _stored.forget_inputs(self._store, self._operation.id)
