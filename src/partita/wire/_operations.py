"""All operations of the server, by their DynamoDB name."""

from __future__ import annotations

from partita.runtime import Clock
from partita.wire import _batches, _items, _pages, _streams, partiql, replicas
from partita.wire._parameters import Operation
from partita.wire.bulk import BulkOperations, BulkRunner
from partita.wire.exports import Exports, Imports, JobRunner
from partita.wire.tables import table_operations
from partita.wire.vectors import search_vectors


def operations(
    clock: Clock, address: str = "localhost", bulk: BulkRunner | None = None, jobs: JobRunner | None = None
) -> dict[str, Operation]:
    """The operations of DynamoDB and DynamoDB Streams.

    `address` is the address of the server. `bulk` runs bulk operations and `jobs` runs exports and imports, if the
    server has buckets for them.
    """
    on_tables = table_operations(clock, address)
    return {
        "GetItem": _items.get_item,
        "PutItem": _items.put_item,
        "UpdateItem": _items.update_item,
        "DeleteItem": _items.delete_item,
        "Query": _pages.query,
        "Scan": _pages.scan,
        "SearchVectors": search_vectors,
        "BatchGetItem": _batches.batch_get,
        "BatchWriteItem": _batches.batch_write,
        "TransactGetItems": _batches.transact_get,
        "TransactWriteItems": _batches.transact_write,
        "ExecuteStatement": partiql.execute_statement,
        "BatchExecuteStatement": partiql.batch_execute,
        "ExecuteTransaction": partiql.execute_transaction,
        **on_tables,
        **BulkOperations(clock, bulk).operations(),
        **Exports(clock, jobs).operations(),
        **Imports(clock, jobs, on_tables["CreateTable"]).operations(),
        **replicas.OPERATIONS,
        "ListStreams": _streams.list_streams,
        "DescribeStream": _streams.describe_stream,
        **_streams.StreamReading(clock).operations(),
    }
