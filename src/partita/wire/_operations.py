"""Every operation that the server knows, by the name that clients call it."""

from __future__ import annotations

from collections.abc import Callable

from partita.wire import _batches, _items, _pages, _streams, _tables, partiql
from partita.wire._parameters import Operation


def operations(clock: Callable[[], float], address: str = "localhost") -> dict[str, Operation]:
    """The operations of both services, DynamoDB and its streams; `address` is where they are served."""
    return {
        "GetItem": _items.get_item,
        "PutItem": _items.put_item,
        "UpdateItem": _items.update_item,
        "DeleteItem": _items.delete_item,
        "Query": _pages.query,
        "Scan": _pages.scan,
        "BatchGetItem": _batches.batch_get,
        "BatchWriteItem": _batches.batch_write,
        "TransactGetItems": _batches.transact_get,
        "TransactWriteItems": _batches.transact_write,
        "ExecuteStatement": partiql.execute_statement,
        "BatchExecuteStatement": partiql.batch_execute,
        "ExecuteTransaction": partiql.execute_transaction,
        "CreateTable": _tables.create_table,
        "DescribeTable": _tables.describe_table,
        "UpdateTable": _tables.update_table,
        "DeleteTable": _tables.delete_table,
        "ListTables": _tables.list_tables,
        "UpdateTimeToLive": _tables.update_time_to_live,
        "DescribeTimeToLive": _tables.describe_time_to_live,
        "TagResource": _tables.tag_resource,
        "UntagResource": _tables.untag_resource,
        "ListTagsOfResource": _tables.list_tags,
        "DescribeContinuousBackups": _tables.describe_continuous_backups,
        "UpdateContinuousBackups": _tables.update_continuous_backups,
        "DescribeLimits": _tables.fixed(_tables.LIMITS),
        "DescribeEndpoints": _tables.fixed({"Endpoints": [{"Address": address, "CachePeriodInMinutes": 1440}]}),
        "ListBackups": _tables.fixed({"BackupSummaries": []}),
        "ListGlobalTables": _tables.fixed({"GlobalTables": []}),
        "ListStreams": _streams.list_streams,
        "DescribeStream": _streams.describe_stream,
        **_streams.StreamReading(clock).operations(),
    }
