"""Errors of requests that the store refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partita.errors._root import PartitaError

if TYPE_CHECKING:
    from collections.abc import Sequence


class RequestError(PartitaError, code="request"):
    """The store refused the request."""


class ValidationFailed(RequestError, code="validation"):
    """The request breaks one of DynamoDB's rules; nothing was written."""


class SerializationFailed(RequestError, code="serialization"):
    """A value cannot be read at all."""


class IdempotencyMismatch(RequestError, code="idempotency_mismatch"):
    """An idempotency key was reused with a different request; nothing was written."""

    hint = "Use a new key for a new request."


class IdempotencyInProgress(RequestError, code="idempotency_in_progress"):
    """The first request with this idempotency key is still running."""

    hint = "Send the same request again a little later."


class AccessDenied(RequestError, code="access_denied"):
    """The credentials are missing, wrong or expired, or do not allow the request; nothing was written."""

    hint = "Check the credentials, and what their policy allows."


class TableNotFound(RequestError, code="table_not_found"):
    """The table or index does not exist."""

    hint = "Create it with `session.create_tables()` or `partita tables create`."


class BucketNotFound(RequestError, code="bucket_not_found"):
    """The bucket of a lake, or of bulk input or reports, does not exist."""


class ObjectChanged(RequestError, code="object_changed"):
    """An object of a bucket is gone, or has changed since it was listed."""


class QueueNotFound(RequestError, code="queue_not_found"):
    """The queue does not exist."""

    hint = "Create it with `partita queue create`."


class TableInUse(RequestError, code="table_in_use"):
    """The table exists already, or is being changed."""


class StreamTrimmed(RequestError, code="stream_trimmed"):
    """The position in the stream is older than the records it keeps (24 hours)."""


class RebuildRequired(StreamTrimmed, code="rebuild_required"):
    """A consumer has missed changes that the stream no longer has, or reads a stream that is gone. Rebuild it."""

    hint = "Rebuild it from the table with `consumer.rebuild()`, or with `partita cdc rebuild` for a lake."


class Throttled(RequestError, code="throttled"):
    """Capacity was exceeded; the session retries these before it raises."""

    def __init__(self, message: str, *, reasons: Sequence[str] = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.reasons = tuple(reasons)
        """The exceeded limits, each with its table or index, if the store reports them."""


class Unprocessed(RequestError, code="unprocessed"):
    """A batch could not be finished; `operations` lists the remaining ones."""

    def __init__(self, message: str, *, operations: Sequence[Any] = ()) -> None:
        super().__init__(message, hint="Run the remaining operations again.")
        self.operations = tuple(operations)
