"""Errors of transactions and of their tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partita.errors._conditions import ConditionFailed
from partita.errors._requests import RequestError

if TYPE_CHECKING:
    from collections.abc import Sequence


class Reason:
    """Why one action of a transaction failed; `code` is "None" if the action did not fail.

    `operation` is the caller's action; `error` is the error that it would have raised on its own.
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
        """The error that the first action with a false condition would have raised on its own."""
        return next((reason.error for reason in self.reasons if reason.error is not None), None)


class TransactionConflict(RequestError, code="transaction_conflict"):
    """Another transaction holds the item; the session retries these."""


class TokenMismatch(RequestError, code="token_mismatch"):
    """A client request token was reused with a different request."""


class TokenInProgress(RequestError, code="token_in_progress"):
    """The first call with this client request token is still running."""
