"""The remote store beside other clients, all against one local server in a process of its own."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import aiohttp

from bench._clients import (
    ITEMS,
    Aiodynamo,
    Awaited,
    Blocking,
    Boto3,
    Ours,
    OursAwaited,
    Pydynox,
    PydynoxAwaited,
    PynamoDB,
)
from bench._compare import Bar, Comparison, Side, compare, per_call

CALLS: Final = 50
QUERIES: Final = 5
AT_ONCE: Final = 32
REPETITIONS: Final = 15

_NAMES: Final[dict[type, str]] = {Boto3: "boto3", PynamoDB: "PynamoDB", Pydynox: "pydynox"}

# Nothing is written to a disk: what is measured is the clients.
SERVER: Final = """
import asyncio, socket
from partita import EmbeddedStore
from partita.wire import WireServer

try:
    from uvloop import run  # as `partita dynamodb` does
except ImportError:
    from asyncio import run

async def main():
    listener = socket.create_server(("127.0.0.1", 0))
    await WireServer(EmbeddedStore(":memory:")).start(listener)
    print(listener.getsockname()[1], flush=True)
    await asyncio.Event().wait()

run(main())
"""


def comparisons(folder: Path) -> Iterator[Comparison]:  # noqa: ARG001 - every suite is given a folder
    """All measurements of this module."""
    with _server() as url, asyncio.Runner() as loop:
        ours, ours_awaited = Ours(url), OursAwaited(url)
        ours.fill()
        for peer, bar, of_query in ((Boto3(url), 3.0, 4.0), (PynamoDB(url), 3.0, 3.0), (Pydynox(url), 1.2, 1.5)):
            yield from _blocking(ours, peer, bar, of_query)
        for threaded in (Boto3(url), PynamoDB(url)):
            yield _at_once(loop, ours_awaited, _in_threads(threaded), _NAMES[type(threaded)], 3.0)
        pydynox = PydynoxAwaited(url)
        yield _at_once(loop, ours_awaited, _gathered(loop, pydynox), "pydynox", 1.2)
        session = loop.run(_session())
        yield from _awaited(loop, ours_awaited, Aiodynamo(url, session))
        loop.run(session.close())


@contextmanager
def _server() -> Iterator[str]:
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(server.stdout.readline())}"
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()


async def _session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession()


def _blocking(ours: Blocking, theirs: Blocking, bar: float, of_query: float) -> Iterator[Comparison]:
    name = _NAMES[type(theirs)]
    numbers = range(CALLS)
    for what in ("get", "put"):
        sides = [per_call(getattr(client, what), numbers) for client in (ours, theirs)]
        yield compare(f"a remote {what}, to {name}'s", Bar("at least", bar), *sides, repetitions=REPETITIONS)
    sides = [per_call(_queried(client), range(QUERIES)) for client in (ours, theirs)]
    yield compare(f"a remote query of 100, to {name}'s", Bar("at least", of_query), *sides, repetitions=REPETITIONS)
    sides = [_spent(_queried(client)) for client in (ours, theirs)]
    what = f"processor time of that query, to {name}'s"
    yield compare(what, Bar("at least", of_query), *sides, repetitions=REPETITIONS)


def _awaited(loop: asyncio.Runner, ours: Awaited, theirs: Awaited) -> Iterator[Comparison]:
    bar = Bar("at least", 1.2)
    for what in ("get", "put"):
        sides = [_in_turn(loop, getattr(client, what), CALLS) for client in (ours, theirs)]
        yield compare(f"an awaited {what}, to aiodynamo's", bar, *sides, repetitions=REPETITIONS)
    sides = [_in_turn(loop, _query_of(client), QUERIES) for client in (ours, theirs)]
    yield compare("an awaited query of 100, to aiodynamo's", bar, *sides, repetitions=REPETITIONS)
    yield _at_once(loop, ours, _gathered(loop, theirs), "aiodynamo", 1.2)


def _at_once(loop: asyncio.Runner, ours: Awaited, theirs: Side, name: str, bar: float) -> Comparison:
    what = f"{AT_ONCE} gets at once, to {name}'s"
    return compare(what, Bar("at least", bar), _gathered(loop, ours), theirs, repetitions=REPETITIONS)


def _queried(client: Blocking) -> Callable[[int], None]:
    def query(_: int) -> None:
        assert client.query() == ITEMS

    return query


def _spent(call: Callable[[int], None]) -> Side:
    """A side that takes the processor time of this process alone: the client's, whatever the server does."""

    def measure() -> float:
        start = time.process_time()
        for n in range(QUERIES):
            call(n)
        return (time.process_time() - start) / QUERIES

    return measure


def _query_of(client: Awaited) -> Callable[[int], Awaitable[None]]:
    async def query(_: int) -> None:
        assert await client.query() == ITEMS

    return query


def _in_turn(loop: asyncio.Runner, call: Callable[[int], Awaitable[object]], calls: int) -> Side:
    async def measure() -> float:
        start = time.perf_counter()
        for n in range(calls):
            await call(n)
        return (time.perf_counter() - start) / calls

    return lambda: loop.run(measure())


def _gathered(loop: asyncio.Runner, client: Awaited) -> Side:
    async def measure() -> float:
        start = time.perf_counter()
        await asyncio.gather(*(client.get(n) for n in range(AT_ONCE)))
        return (time.perf_counter() - start) / AT_ONCE

    return lambda: loop.run(measure())


def _in_threads(client: Blocking) -> Side:
    threads = ThreadPoolExecutor(AT_ONCE)

    def measure() -> float:
        start = time.perf_counter()
        list(threads.map(client.get, range(AT_ONCE)))
        return (time.perf_counter() - start) / AT_ONCE

    return measure
