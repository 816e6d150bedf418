"""Every error that Partita raises, each with a stable code and a hint that says what to do.

PartitaError
├── ModelError          a declaration is wrong; raised when the class or pattern is made
├── OperationError      an operation cannot be built or sent as it stands
│   └── GuardrailError  the operation is refused before it reaches the store
├── RequestError        the store refused the request
│   └── ConditionFailed a condition was false; carries the current item
└── StoreError          the store itself is in trouble

All others are kinds of these; `docs/errors.md` lists them by code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

Item: TypeAlias = dict[str, Any] | None
"""The stored item, where the store was asked for it."""


class PartitaError(Exception):
    """The root of the tree. `code` is stable; `hint` says what to do."""

    code: ClassVar[str] = "partita"
    hint: str = ""

    def __init_subclass__(cls, *, code: str | None = None) -> None:
        super().__init_subclass__()
        if code is not None:
            cls.code = code

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        if hint:
            self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip() if self.hint else self.message


class ModelError(PartitaError, code="model"):
    """A declaration is wrong. `owner` is the class, table or pattern that was being made."""

    def __init__(self, message: str, *, owner: object = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.owner = owner


class OperationError(PartitaError, code="operation"):
    """An operation cannot be built or sent as it stands."""


class InvalidKey(OperationError, code="invalid_key"):
    """A key part is empty, too long, or of a type that cannot stand in a key."""


class InvalidItem(OperationError, code="invalid_item"):
    """A stored item does not fit its entity; `item` is what was stored."""

    def __init__(self, message: str, *, item: dict[str, Any], reason: str = "") -> None:
        super().__init__(message, hint="Give new fields a default, or migrate the stored items.")
        self.item = item
        self.reason = reason
        """What does not fit, without the rest of the sentence."""


class DataNewer(InvalidItem, code="data_newer"):
    """A stored item was written by newer code, in a `data_version` that this code does not know."""

    def __init__(self, message: str, *, item: dict[str, Any], data_version: int) -> None:
        super().__init__(message, item=item)
        self.hint = "Deploy the code that knows this data version; nothing was written."
        self.data_version = data_version


class FieldSealed(InvalidItem, code="field_sealed"):
    """An encrypted field cannot be opened: there is no key for it, or it was altered."""

    def __init__(self, message: str, *, item: dict[str, Any], hint: str = "") -> None:
        super().__init__(message, item=item, reason=message.removesuffix("."))
        self.hint = hint or "Give the session the keys that it was sealed with: Session(store, keys=…)."


class UnknownKey(OperationError, code="unknown_key"):
    """A provider of keys does not have the key that something was sealed with."""


class InvalidCursor(OperationError, code="invalid_cursor"):
    """A cursor that was tampered with, belongs to another query, or is outdated."""

    hint = "Start again from the first page."


class PoisonMessage(OperationError, code="poison_message"):
    """A message of a queue that no code here can read; `body` is what it says."""

    def __init__(self, message: str, *, body: str) -> None:
        super().__init__(message, hint="Deploy the code that knows it, and redrive it from the dead letters.")
        self.body = body


class CopyRefused(OperationError, code="copy_refused"):
    """A copy, export or import cannot be done as it was asked for; what was done before stays."""


class CopyTakenOver(OperationError, code="copy_taken_over"):
    """Another run goes on with a copy, so this one has stopped."""


class ExportDamaged(OperationError, code="export_damaged"):
    """A file of an export is missing, cut off, altered or not of a known format; nothing of it was imported."""


class EventRefused(OperationError, code="event_refused"):
    """A function of AWS Lambda was called with an event that it cannot handle."""

    hint = "Connect it to a source that it is made for: docs/lambda.md."


class GuardrailError(OperationError, code="guardrail"):
    """The operation is refused before it reaches the store."""


class UnclaimedItem(GuardrailError, code="unclaimed_item"):
    """A strict session met an item that no declared entity claims; `example` is its key."""

    def __init__(self, message: str, *, example: dict[str, Any]) -> None:
        hint = "Declare an entity for it, or correct the key templates."
        super().__init__(f"{message} One is at {example}.", hint=hint)
        self.example = example


class ScanRefused(GuardrailError, code="scan_refused"):
    """A scan was run outside a maintenance session."""

    hint = "Declare an access pattern, or run maintenance work in `session.maintenance(reason)`."


class LimitExceeded(GuardrailError, code="limit_exceeded"):
    """A walk, collection or page went past its declared maximum."""


class BudgetExceeded(GuardrailError, code="budget_exceeded"):
    """An access pattern consumed more capacity than it declares."""


class RequestError(PartitaError, code="request"):
    """The store refused the request."""


class ValidationFailed(RequestError, code="validation"):
    """The request breaks one of DynamoDB's rules; nothing was written."""


class SerializationFailed(RequestError, code="serialization"):
    """A value cannot be read at all."""


class ConditionFailed(RequestError, code="condition_failed"):
    """A condition was false, so nothing was written.

    `item` is the stored item as plain attributes, where the request asked for it;
    `current` is the same as an entity, where the operation knows which.
    """

    def __init__(
        self, message: str = "The conditional request failed", *, item: Item = None, current: Any = None, hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.item = item
        self.current = current


class AlreadyExists(ConditionFailed, code="already_exists"):
    """An insert met an existing item."""


class UniqueTaken(AlreadyExists, code="unique_taken"):
    """Another item has the value of a unique field; `owner` is which."""

    hint = "Choose another value."

    def __init__(self, field: str, value: str, *, owner: str | None, item: dict[str, Any] | None = None) -> None:
        super().__init__(f"The {field} {value!r} is taken.", item=item)
        self.field = field
        self.value = value
        self.owner = owner


class ItemMissing(ConditionFailed, code="item_missing"):
    """An update or check met no item, or one that has expired."""


class LimitReached(ConditionFailed, code="limit_reached"):
    """A bounded counter would leave its bounds; `remaining` is how many it can still be moved by."""

    def __init__(self, message: str, *, remaining: int, item: Item = None, current: Any = None) -> None:
        super().__init__(message, item=item, current=current)
        self.remaining = remaining


class RateLimited(ConditionFailed, code="rate_limited"):
    """More was asked for than a rate allows; `retry_after` is in how many seconds there is enough again."""

    def __init__(self, message: str, *, retry_after: float, item: Item = None, current: Any = None) -> None:
        super().__init__(message, item=item, current=current)
        self.hint = f"Try again in {retry_after:.3g} seconds."
        self.retry_after = retry_after


class VersionConflict(ConditionFailed, code="version_conflict"):
    """Another writer was first; `current` is what it wrote."""

    hint = "Read again, apply the change to the current item, and write once more."


class IllegalTransition(ConditionFailed, code="illegal_transition"):
    """The state of an item does not allow the move; `current` is the item."""


class LeaseHeld(ConditionFailed, code="lease_held"):
    """Someone else holds the lease; `current` is the lease."""

    hint = "Try again when it has run out."


class LeaseLost(ConditionFailed, code="lease_lost"):
    """The lease was released, or someone else has it now; `current` is the lease."""

    hint = "Stop the work, and acquire the lease again."


class Reason:
    """Why one action of a transaction did not go through; `code` is "None" where it was fine.

    `operation` is the action that the caller gave; `error` is what it would have raised by itself.
    """

    __slots__ = ("code", "error", "item", "message", "operation")

    def __init__(self, code: str = "None", message: str = "", item: dict[str, Any] | None = None) -> None:
        self.code = code
        self.message = message
        self.item = item
        self.operation: Any = None
        self.error: ConditionFailed | None = None

    def __repr__(self) -> str:
        return f"Reason({self.code!r}, {self.message!r})"


class TransactionCancelled(RequestError, code="transaction_cancelled"):
    """Nothing of the transaction was written. `reasons` aligns with its actions."""

    def __init__(self, reasons: Sequence[Reason]) -> None:
        codes = ", ".join(reason.code for reason in reasons)
        super().__init__(f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]")
        self.reasons = tuple(reasons)

    @property
    def failed(self) -> tuple[Reason, ...]:
        """The reasons that are not "None"."""
        return tuple(reason for reason in self.reasons if reason.code != "None")

    @property
    def cause(self) -> ConditionFailed | None:
        """What the first action whose condition was false would have raised by itself."""
        return next((reason.error for reason in self.reasons if reason.error is not None), None)


class TransactionConflict(RequestError, code="transaction_conflict"):
    """Another transaction holds the item; the session retries these."""


class TokenMismatch(RequestError, code="token_mismatch"):
    """A client request token came again with another request."""


class TokenInProgress(RequestError, code="token_in_progress"):
    """The first call with this client request token is still running."""


class IdempotencyMismatch(RequestError, code="idempotency_mismatch"):
    """An idempotency key came again with another request; nothing was written."""

    hint = "Use a new key for a new request."


class IdempotencyInProgress(RequestError, code="idempotency_in_progress"):
    """The first request with this idempotency key is still running."""

    hint = "Send the same request again a little later."


class AccessDenied(RequestError, code="access_denied"):
    """The credentials are missing, wrong or expired, or do not allow the request; nothing was written."""

    hint = "Check the credentials, and what their policy allows."


class TableNotFound(RequestError, code="table_not_found"):
    """The table or index does not exist."""

    hint = "Create it with `session.create_tables()`."


class BucketNotFound(RequestError, code="bucket_not_found"):
    """The bucket of a lake does not exist."""


class QueueNotFound(RequestError, code="queue_not_found"):
    """The queue does not exist."""

    hint = "Create it with `partita queue create`."


class TableInUse(RequestError, code="table_in_use"):
    """The table exists already, or is being changed."""


class StreamTrimmed(RequestError, code="stream_trimmed"):
    """The position in the stream is older than what is kept (24 hours)."""


class RebuildRequired(StreamTrimmed, code="rebuild_required"):
    """A consumer has missed changes that the stream no longer has, or reads a stream that is gone."""

    hint = "Build it again from the table with `consumer.rebuild()`, or `partita cdc rebuild` for a lake."


class Throttled(RequestError, code="throttled"):
    """Capacity was exceeded; the session retries these before it raises."""

    def __init__(self, message: str, *, reasons: Sequence[str] = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.reasons = tuple(reasons)
        """Which limit of which table or index, where the store tells."""


class Unprocessed(RequestError, code="unprocessed"):
    """A batch could not be finished; `operations` names what is left."""

    def __init__(self, message: str, *, operations: Sequence[Any] = ()) -> None:
        super().__init__(message, hint="Run the remaining operations again.")
        self.operations = tuple(operations)


class StoreError(PartitaError, code="store"):
    """The store itself is in trouble."""


class StoreDamaged(StoreError, code="store_damaged"):
    """The file is not a database of Partita's, or is corrupt; it was left as it is."""

    hint = "Restore it from a backup (`partita restore`); the damaged file was not touched."


class StoreNewer(StoreError, code="store_newer"):
    """The file was written by a newer version; it was left as it is."""

    hint = "Upgrade Partita to open this file."


class StoreFull(StoreError, code="store_full"):
    """No space is left; the write did not happen."""

    hint = "Free disk space and write again; what was acknowledged before is safe."


class StoreReadOnly(StoreError, code="store_read_only"):
    """The file or its folder cannot be written."""

    hint = "Choose a folder that this user may write to."


class StoreBusy(StoreError, code="store_busy"):
    """Another program holds the file, or this thread is in the middle of another call to the store."""


class SecretExposed(StoreError, code="secret_exposed"):
    """Other users of the machine can read or replace the key that signs tokens and cursors."""


class StoreMoved(StoreError, code="store_moved"):
    """The file was moved or deleted while it was open; the write did not happen."""

    hint = "Stop the process, put the file back or restore a backup, and start again."


class StoreClosed(StoreError, code="store_closed"):
    """The store was closed."""


class StoreUnavailable(StoreError, code="store_unavailable"):
    """The store did not respond; whether a write happened is unknown."""
