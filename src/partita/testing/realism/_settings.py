"""The switches of realism."""

from __future__ import annotations

from msgspec import Struct


class UnitLimits(Struct, frozen=True):
    """The units that may be consumed per second."""

    read: float
    write: float


class Realism(Struct, frozen=True):
    """Behaviours that a cloud store has and a local file lacks. Each is off by default.

    The same seed and the same requests at the same times give the same responses.
    """

    seed: int = 0
    stale_seconds: float = 0.0
    """An eventually consistent read sees a write up to this many seconds later."""
    index_seconds: float = 0.0
    """An entry of a global index appears, changes and disappears up to this many seconds later."""
    table_seconds: float = 0.0
    """A new table, or an added index, becomes usable after this many seconds."""
    table_limits: UnitLimits | None = None
    """The units that one table may consume before it is throttled. The units of one second may accumulate."""
    partition_limits: UnitLimits | None = None
    """The units that one partition key may consume; AWS allows 3,000 read and 1,000 write units."""
    unprocessed: float = 0.0
    """The probability that a part of a batch is left unprocessed, from 0 to 1."""
    transaction_seconds: float = 0.0
    """A transaction holds its items for this many seconds before it is executed; conflicting requests are refused."""
