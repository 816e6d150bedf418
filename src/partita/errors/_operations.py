"""Errors of operations that cannot be built or sent, and of guardrails."""

from __future__ import annotations

from typing import Any

from partita.errors._root import PartitaError


class OperationError(PartitaError, code="operation"):
    """An operation cannot be built or sent in this form."""


class InvalidKey(OperationError, code="invalid_key"):
    """A key part is empty, too long, or of a type that is not allowed in a key."""


class InvalidItem(OperationError, code="invalid_item"):
    """A stored item does not fit its entity; `item` is the stored item."""

    hint = "Give new fields a default, or migrate the stored items."

    def __init__(self, message: str, *, item: dict[str, Any], reason: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.item = item
        self.reason = reason
        """The reason on its own, as it is also part of the message."""


class DataNewer(InvalidItem, code="data_newer"):
    """A stored item was written by newer code, with a `data_version` that this code does not know."""

    def __init__(self, message: str, *, item: dict[str, Any], data_version: int) -> None:
        super().__init__(message, item=item)
        self.hint = "Deploy the code that knows this data version; nothing was written."
        self.data_version = data_version


class FieldSealed(InvalidItem, code="field_sealed"):
    """An encrypted field cannot be opened: there is no key for it, or it was altered."""

    def __init__(self, message: str, *, item: dict[str, Any], hint: str = "") -> None:
        super().__init__(message, item=item, reason=message.removesuffix("."))
        self.hint = hint or "Pass the session the keys that sealed the value: Session(store, keys=…)."


class UnknownKey(OperationError, code="unknown_key"):
    """A key provider does not have the key with which a value was sealed."""


class InvalidCursor(OperationError, code="invalid_cursor"):
    """A cursor was tampered with, belongs to another query, or is outdated."""

    hint = "Start again from the first page."


class PoisonMessage(OperationError, code="poison_message"):
    """A queue contains a message that no code here can read; `body` is its content."""

    def __init__(self, message: str, *, body: str) -> None:
        super().__init__(message, hint="Deploy code that knows the message, and redrive it from the dead letters.")
        self.body = body


class CopyRefused(OperationError, code="copy_refused"):
    """A copy, export or import cannot be done as requested; what was already copied stays."""


class CopyTakenOver(OperationError, code="copy_taken_over"):
    """Another run has taken over a copy, so this run has stopped."""


class ExportDamaged(OperationError, code="export_damaged"):
    """A file of an export is missing, truncated, altered or in an unknown format; nothing of it was imported."""


class EventRefused(OperationError, code="event_refused"):
    """An AWS Lambda function was called with an event that it cannot handle."""

    hint = "Connect the function to an event source that its handler supports: docs/lambda.md."


class ExtraMissing(OperationError, code="extra_missing"):
    """The packages of an extra are required but not installed; `extra` is its name."""

    def __init__(self, message: str, *, extra: str) -> None:
        super().__init__(message, hint=f"Install the extra: pip install 'partita[{extra}]'.")
        self.extra = extra


class GuardrailError(OperationError, code="guardrail"):
    """The operation is refused before it reaches the store."""


class UnclaimedItem(GuardrailError, code="unclaimed_item"):
    """A strict session met an item that no declared entity claims; `example` is its key."""

    def __init__(self, message: str, *, example: dict[str, Any]) -> None:
        hint = "Declare an entity for this item, or correct the key templates."
        super().__init__(f"{message} One example has the key {example}.", hint=hint)
        self.example = example


class ScanRefused(GuardrailError, code="scan_refused"):
    """A scan was run outside a maintenance session."""

    hint = "Declare an access pattern, or run maintenance work in `session.maintenance(reason)`."


class LimitExceeded(GuardrailError, code="limit_exceeded"):
    """A walk, collection or page exceeded its declared maximum."""


class BudgetExceeded(GuardrailError, code="budget_exceeded"):
    """An access pattern consumed more capacity than it declares."""
