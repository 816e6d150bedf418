"""Retries of one request: which errors are transient, and when it is safe to send the request again."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Final, TypeAlias, TypeVar

from partita.errors import (
    PartitaError,
    StoreUnavailable,
    Throttled,
    TokenInProgress,
    TransactionCancelled,
    TransactionConflict,
)
from partita.operations import Context
from partita.runtime import Blocking, Pause
from partita.store import (
    BatchGetItem,
    GetItem,
    QueryTable,
    Request,
    ScanTable,
    SearchVectors,
    TransactGetItems,
    TransactWriteItems,
)

R = TypeVar("R")

StoreRequests: TypeAlias = Generator[Request[Any] | Pause | Blocking, Any, R]
"""A generator that a session executes: it yields requests to the store, pauses, and calls that get keys."""

_READS: Final = (GetItem, QueryTable, ScanTable, SearchVectors, BatchGetItem, TransactGetItems)
_PASSING_REASONS: Final = frozenset(("None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"))


def retried(
    request: Request[Any] | Pause, error: PartitaError, context: Context, record: Callable[[PartitaError], None]
) -> StoreRequests[Any]:
    """Send a failed request again, with the tries and pauses of the retry policy; record each retry.

    Raises:
        PartitaError: the error of the last try, or the first that may not be retried. If a transaction got no response
            and no later try reveals its outcome, this is the StoreUnavailable: the transaction may have happened.
    """
    lost: StoreUnavailable | None = None
    for attempt in range(1, context.retry.tries):
        if not may_retry(request, error):
            break
        lost = error if isinstance(error, StoreUnavailable) else lost
        record(error)
        yield context.retry.pause_before(attempt, context.random)
        try:
            return (yield request)
        except PartitaError as again:
            error = again
    if lost is not None and isinstance(request, TransactWriteItems) and not _settles(error):
        raise lost from error
    raise error


def may_retry(request: Request[Any] | Pause, error: PartitaError) -> bool:
    """Whether the same request may be sent again: it was not executed, or executing it twice does no harm."""
    if isinstance(error, Throttled | TransactionConflict | TokenInProgress):
        return True
    if isinstance(error, TransactionCancelled):
        return all(reason.code in _PASSING_REASONS for reason in error.reasons)
    if isinstance(error, StoreUnavailable):
        return isinstance(request, _READS) or (isinstance(request, TransactWriteItems) and request.token is not None)
    return False


def _settles(error: PartitaError) -> bool:
    """Whether an error also reveals that an earlier try without a response failed: a success would be replayed."""
    return isinstance(error, TransactionCancelled) and any(
        reason.code not in _PASSING_REASONS for reason in error.reasons
    )
