"""Sessions run operations: guardrails, metering, retries, and then the store."""

from partita.session._meter import Consumption, Meter, Usage
from partita.session._session import AsyncSession, Session

__all__ = [
    "AsyncSession",
    "Consumption",
    "Meter",
    "Session",
    "Usage",
]
