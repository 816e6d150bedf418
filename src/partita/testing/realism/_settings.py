"""The switches of realism."""

from __future__ import annotations

from msgspec import Struct


class UnitLimits(Struct, frozen=True):
    """Units that may be consumed in a second."""

    read: float
    write: float


class Realism(Struct, frozen=True):
    """What a store in the cloud does and a file does not. Each is off until it is switched on.

    The same seed and the same requests at the same times give the same responses.
    """

    seed: int = 0
    stale_seconds: float = 0.0
    """An eventually consistent read sees a write up to so many seconds later."""
    index_seconds: float = 0.0
    """An entry of a global index appears, changes and goes up to so many seconds later."""
    table_seconds: float = 0.0
    """A table, or an index that is added, can be used after so many seconds."""
    table_limits: UnitLimits | None = None
    """What one table may consume; beyond that it is throttled. A second's worth may be saved up."""
    partition_limits: UnitLimits | None = None
    """What one partition key may consume; AWS allows 3,000 reads and 1,000 writes."""
    unprocessed: float = 0.0
    """The chance that a part of a batch is left unprocessed, from 0 to 1."""
    transaction_seconds: float = 0.0
    """A transaction holds its items for so many seconds before it happens; who meets it is refused."""
