"""The embedded queue: durable, in one SQLite file, for any number of processes."""

from partita.queue.embedded._queue import EmbeddedQueue

__all__ = ["EmbeddedQueue"]
