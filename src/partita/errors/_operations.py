"""Errors of operations that cannot be built or sent, and of guardrails."""

from __future__ import annotations

from typing import Any

from partita.errors._root import PartitaError


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


class ExtraMissing(OperationError, code="extra_missing"):
    """Something needs the packages of an extra that is not installed; `extra` is which."""

    def __init__(self, message: str, *, extra: str) -> None:
        super().__init__(message, hint=f"Install the extra: pip install 'partita[{extra}]'.")
        self.extra = extra


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
