from partita.session._meter import Consumption, Meter, Usage, usage_since, usage_sum
from partita.session._session import AsyncSession, Session
from partita.session._stream import AsyncItemStream, ItemStream

__all__ = [
    "AsyncItemStream",
    "AsyncSession",
    "Consumption",
    "ItemStream",
    "Meter",
    "Session",
    "Usage",
    "usage_since",
    "usage_sum",
]
