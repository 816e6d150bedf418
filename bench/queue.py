"""How many messages per second the embedded queue accepts and delivers, all of one group, all durable."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

from partita.queue import Acknowledge, GetStats, Receive, Send
from partita.queue.embedded import EmbeddedQueue

MESSAGES = 20_000
THREADS = 16
BATCH = 90
BODY = '{"v":1,"kind":"apply","request_id":"01KA4T3QW1ZX5J2C8RD7N6YB9M"}'

_numbers = count()


def by_threads(queue: EmbeddedQueue) -> None:
    def send(share: int) -> None:
        for _ in range(share):
            queue.execute(message())

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(send, [MESSAGES // THREADS] * THREADS))


def by_tasks(queue: EmbeddedQueue) -> None:
    async def send() -> None:
        await asyncio.gather(*(queue.execute_async(message()) for _ in range(MESSAGES)))

    asyncio.run(send())


def message() -> Send:
    return Send(BODY, "concert", f"message-{next(_numbers)}")


def received(queue: EmbeddedQueue) -> None:
    while messages := queue.execute(Receive(limit=BATCH)):
        queue.execute(Acknowledge(tuple(each.receipt for each in messages)))


def rate(name: str, work: Callable[[EmbeddedQueue], None], queue: EmbeddedQueue, messages: int = MESSAGES) -> None:
    """Measure the rate of a call, and print it."""
    start = time.perf_counter()
    work(queue)
    print(f"{name:<48} {messages / (time.perf_counter() - start):>8,.0f} a second")


def main() -> None:
    """Send messages in two ways, and receive all of them."""
    with (
        tempfile.TemporaryDirectory(prefix="partita-bench-") as folder,
        EmbeddedQueue(Path(folder) / "queue.db", "bench") as queue,
    ):
        rate(f"sent by {THREADS} threads", by_threads, queue)
        rate("sent by the tasks of one event loop", by_tasks, queue)
        rate(f"received and acknowledged, {BATCH} at a time", received, queue, 2 * MESSAGES)
        assert queue.execute(GetStats()).waiting == 0


if __name__ == "__main__":
    main()
