"""StartBulkPutItems, DescribeBulkOperation, ListBulkOperations and CancelBulkOperation."""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from typing import Final

import msgspec

from partita.bulk import JOURNAL, Progress
from partita.errors import (
    ConditionFailed,
    TableInUse,
    TableNotFound,
    TokenMismatch,
    ValidationFailed,
)
from partita.expressions import KeyCondition
from partita.runtime import Clock
from partita.store import CreateTable, Json, ListTables, PageResponse, QueryTable, TableDescription
from partita.wire._describe import table_arn
from partita.wire._faults import Fault
from partita.wire._parameters import Operation as WireOperation
from partita.wire._parameters import Parameters, Requests, refuse, violated
from partita.wire.background import (
    MAX_LISTED,
    TOKEN_MILLISECONDS,
    Runner,
    named_by_token,
    new_name,
    page_token,
)
from partita.wire.bulk import _stored
from partita.wire.bulk._configuration import TIERS, read_input, read_output, read_token, read_units
from partita.wire.bulk._runner import BulkRunner
from partita.wire.bulk._stored import CANCELLING, IN_PROGRESS, Operation
from partita.wire.tables import existing, table_identity

DEFAULT_LISTED: Final = 10
MIN_ARN: Final = 37
LISTED_MILLISECONDS: Final = 90 * 24 * 3_600_000
MAX_ACTIVE: Final = 50
_ARN: Final = re.compile(r"arn:[^:]*:dynamodb:[^:]*:[^:]*:table/[a-zA-Z0-9_.-]+/bulk-operation/([0-9A-Za-z-]+)")


class BulkOperations:
    """The operations. `runner` runs them; without one, none can be started."""

    def __init__(self, clock: Clock, runner: BulkRunner | None) -> None:
        self._clock = clock
        self._runner = Runner(runner)

    def operations(self) -> dict[str, WireOperation]:
        """The operations, by name."""
        return {
            "StartBulkPutItems": self.start,
            "DescribeBulkOperation": self.describe,
            "ListBulkOperations": self.list,
            "CancelBulkOperation": self.cancel,
        }

    def start(self, call: Parameters) -> Requests[Json]:
        """Start putting the items of objects into a table."""
        table, token = call.table(), read_token(call)
        asked = (read_input(call), read_output(call), read_units(call), call.choice("PerformanceTier", TIERS))
        digest = hashlib.sha256(msgspec.json.encode((table, *asked), order="deterministic")).hexdigest()
        now = int(self._clock() * 1000)
        if token is not None:
            again = yield from self._begun_before(token, digest, now)
            if again is not None:
                return {"BulkOperationDescription": (yield from _description(again, call.region))}
        description: TableDescription = yield from existing(table)
        self._runner.check(lambda runner: runner.check(call.region, asked[0], asked[1]))
        yield from _refuse_active(table)
        operation = Operation(
            id=new_name(now),
            table=table,
            created_at=description.created_at,
            status=IN_PROGRESS,
            started=now,
            input=asked[0],
            output=asked[1],
            token=token,
            max_units=asked[2],
            tier=asked[3] or "STANDARD",
            region=call.region,
        )
        yield _stored.begin(operation, digest)
        self._runner.wake(call)
        return {"BulkOperationDescription": (yield from _description(operation, call.region))}

    def _begun_before(self, token: str, digest: str, now: int) -> Requests[Operation | None]:
        """The operation that an earlier request with the same token started, or None."""
        used = yield from _stored.read_item("token", token)
        if used is None or used["at"] < now - TOKEN_MILLISECONDS:
            return None
        if used["digest"] != digest:
            raise TokenMismatch("DynamoDB rejected the request because you retried a request with a different payload")
        return (yield from _stored.read_operation(used["operation"]))

    def describe(self, call: Parameters) -> Requests[Json]:
        """Describe an operation and its progress."""
        operation = yield from _found(call)
        if not operation.is_finished:
            self._runner.wake(call)  # after a restart, the first request resumes it
        return {"BulkOperationDescription": (yield from _description(operation, call.region))}

    def cancel(self, call: Parameters) -> Requests[Json]:
        """Cancel an operation; items that were written stay."""
        operation = yield from _found(call)
        if operation.status == IN_PROGRESS:
            with suppress(ConditionFailed):  # it has just ended, or another call has cancelled it
                yield _stored.save(msgspec.structs.replace(operation, status=CANCELLING), IN_PROGRESS)
            operation = yield from _found(call)
        if operation.status != CANCELLING:
            raise ValidationFailed(f"The bulk operation cannot be cancelled: its status is {operation.status}")
        self._runner.wake(call)
        return {"BulkOperationArn": _arn(operation, call.region), "BulkOperationStatus": CANCELLING}

    def list(self, call: Parameters) -> Requests[Json]:
        """List the operations of the last 90 days, newest first."""
        limit, start = call.page_size("MaxResults", MAX_LISTED), named_by_token(call)
        newest = QueryTable(
            JOURNAL.name,
            KeyCondition((("part", "operation"),)),
            limit=limit or DEFAULT_LISTED,
            start=None if start is None else _stored.key("operation", start),
            forward=False,
            consistent=True,
        )
        try:
            page: PageResponse = yield newest
        except TableNotFound:
            return {"BulkOperationsSummaryList": []}
        operations = [msgspec.json.decode(item["operation"], type=Operation) for item in page.items]
        oldest = int(self._clock() * 1000) - LISTED_MILLISECONDS
        listed = [each for each in operations if each.started >= oldest]
        body: Json = {"BulkOperationsSummaryList": [_summary(each, call.region) for each in listed]}
        if page.last_key is not None and len(listed) == len(operations):
            body["NextToken"] = page_token(page.last_key["id"])
        return body


def _refuse_active(table: str) -> Requests[None]:
    """Create the journal if needed, and refuse a second operation on the same table.

    Raises:
        Fault: the table has an operation that has not ended, or too many operations are active.
    """
    tables = yield ListTables()
    if JOURNAL.name not in tables:
        with suppress(TableInUse):  # another connection has just created it
            yield CreateTable(JOURNAL)
    page: PageResponse = yield QueryTable(JOURNAL.name, KeyCondition((("part", "unfinished"),)), consistent=True)
    if len(page.items) >= MAX_ACTIVE:
        raise Fault("LimitExceededException", f"There are {MAX_ACTIVE} bulk operations that have not ended")
    for item in page.items:
        other = yield from _stored.read_operation(item["id"])
        if other is not None and other.table == table:
            raise Fault("ResourceInUseException", f"Table has a bulk operation in progress: {table}")


def _found(call: Parameters) -> Requests[Operation]:
    arn = call.required("BulkOperationArn", "bulkOperationArn")
    if len(arn) < MIN_ARN:
        refuse(violated(arn, "bulkOperationArn", f"Member must have length greater than or equal to {MIN_ARN}"))
    match = _ARN.fullmatch(arn)
    operation = None if match is None else (yield from _stored.read_operation(match[1]))
    if operation is None:
        raise Fault("ResourceNotFoundException", f"Requested resource not found: Bulk operation: {arn} not found")
    return operation


def _arn(operation: Operation, region: str) -> str:
    return f"{table_arn(region, operation.table)}/bulk-operation/{operation.id}"


def _summary(operation: Operation, region: str) -> Json:
    ended = {} if operation.ended is None else {"EndTime": operation.ended / 1000}
    return {
        "BulkOperationArn": _arn(operation, region),
        "BulkOperationStatus": operation.status,
        "StartTime": operation.started / 1000,
        **ended,
    }


def _description(operation: Operation, region: str) -> Requests[Json]:
    progress, total = yield from _stored.read_progress(operation.id)
    body = _summary(operation, region) | {
        "TableDetails": [
            {
                "TableName": table_arn(region, operation.table),
                "TableId": table_identity(operation.table, operation.created_at),
            }
        ],
        "InputS3Configuration": operation.input,
        "OutputS3Configuration": operation.output,
        "ProcessedItemCount": progress.processed,
        "ProcessedInputBytes": progress.read_bytes,
        "FailedItemCount": progress.failed,
        "PerformanceTier": operation.tier,
    }
    others = {
        "ClientToken": operation.token,
        "TotalInputBytes": total,
        "MaxWriteRequestUnits": operation.max_units,
        "FailureCode": operation.failure_code,
        "FailureMessage": operation.failure,
    }
    body |= {name: value for name, value in others.items() if value is not None}
    if progress.processed:
        body["BulkOperationUsage"] = [(yield from _usage(operation.table, region, progress))]
    return body


def _usage(table: str, region: str, progress: Progress) -> Requests[Json]:
    """The bytes that were put into the table and into each index."""
    try:
        description: TableDescription = yield from existing(table)
        local = {index.name for index in description.schema.indexes if index.local}
    except Fault:
        local = set()
    whole = progress.written_bytes + sum(progress.index_bytes.values())
    body: Json = {
        "TableName": table_arn(region, table),
        "BulkPutBytes": whole,
        "Table": {"BulkPutBytes": progress.written_bytes},
    }
    for name, size in progress.index_bytes.items():
        kind = "LocalSecondaryIndexes" if name in local else "GlobalSecondaryIndexes"
        body.setdefault(kind, {})[name] = {"BulkPutBytes": size}
    if progress.vector_bytes:
        body["VectorIndexes"] = {name: {"BulkPutVectorBytes": size} for name, size in progress.vector_bytes.items()}
    return body
