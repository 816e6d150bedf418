"""Errors of points in time."""

from __future__ import annotations

from partita.errors._operations import OperationError
from partita.errors._requests import RequestError


class RecoveryDisabled(RequestError, code="recovery_disabled"):
    """A table, or a store, does not keep its past."""

    hint = "Enable continuous backups of the table: `partita points enable TABLE`, or `SetRecovery`."


class InstantOutOfRange(RequestError, code="instant_out_of_range"):
    """Continuous backups do not cover the instant; `earliest` and `latest` are the first and last that they cover."""

    hint = "List the instants that backups cover with `partita points list` or `DescribeRecovery`."

    def __init__(
        self, message: str, *, hint: str = "", earliest: float | None = None, latest: float | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.earliest = earliest
        self.latest = latest


class PastRefused(OperationError, code="past_refused"):
    """A past state can only be read, item by item."""
