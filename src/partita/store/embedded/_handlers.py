"""The functions that execute requests, by the type of the request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from partita._sqlite import Handler
from partita.store import _points
from partita.store import _requests as requests
from partita.store import _vector_requests as vector_requests
from partita.store.embedded import _queries, _reads, _streams, _transactions, _ttl, _writes, points, tables
from partita.store.embedded._connection import Reader
from partita.store.embedded.bulk import LoadItems, load_items
from partita.store.embedded.upkeep import RESHARDING
from partita.store.embedded.vectors import search_vectors

Read: TypeAlias = Callable[[Reader, Any], Any]

READS: Final[Mapping[type, Read]] = {
    requests.GetItem: _reads.get_item,
    requests.BatchGetItem: _reads.batch_get,
    requests.TransactGetItems: _transactions.transact_get,
    requests.QueryTable: _queries.query,
    requests.ScanTable: _queries.scan,
    vector_requests.SearchVectors: search_vectors,
    requests.DescribeTable: tables.describe_table,
    requests.ListTables: tables.list_tables,
    requests.DescribeStream: _streams.describe_stream,
    requests.ReadStream: _streams.read_stream,
    requests.FindInStream: _streams.find_in_stream,
    _points.DescribeRecovery: points.describe_recovery,
}
"""The function that executes each read, by the type of the request."""


class _Writes(dict[type, Handler]):
    """The function that executes each write; those of the steps of index builds are only imported when needed."""

    def __missing__(self, kind: type) -> Handler:
        return tables.index_steps()[kind]


WRITES: Final[Mapping[type, Handler]] = _Writes(
    {
        requests.PutItem: _writes.put_item,
        requests.UpdateItem: _writes.write_item,
        requests.DeleteItem: _writes.write_item,
        requests.BatchWriteItem: _writes.batch_write,
        requests.TransactWriteItems: _transactions.transact_write,
        requests.CreateTable: tables.create_table,
        requests.DeleteTable: tables.delete_table,
        **tables.VECTOR_INDEXES,
        requests.SetTimeToLive: tables.set_time_to_live,
        requests.SetStream: tables.set_stream,
        _ttl.DeleteExpired: _ttl.delete_expired,
        _ttl.TrimHistory: _ttl.trim_history,
        LoadItems: load_items,
        **RESHARDING,
        **points.WRITES,
    }
)
"""The function that executes each write inside a transaction, by the type of the request."""

BY_LOOP: Final = frozenset(
    (
        requests.PutItem,
        requests.UpdateItem,
        requests.DeleteItem,
        requests.BatchWriteItem,
        requests.TransactWriteItems,
    )
)
"""The writes of items, which may be committed in the thread of an event loop."""
