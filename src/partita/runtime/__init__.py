"""What every layer needs to run: time, identifiers, generators of requests, retries, names to answer to."""

from partita.runtime._clock import Clock, system_clock
from partita.runtime._hosts import AllowedHosts, is_loopback
from partita.runtime._ids import Ulids, new_ulid
from partita.runtime._relay import Pause, relay, run, run_async
from partita.runtime._retry import RetryPolicy

__all__ = [
    "AllowedHosts",
    "Clock",
    "Pause",
    "RetryPolicy",
    "Ulids",
    "is_loopback",
    "new_ulid",
    "relay",
    "run",
    "run_async",
    "system_clock",
]
