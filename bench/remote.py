"""The remote store compared with other clients, all with one local server in a separate process.

Queries are also sent to a server that only repeats recorded responses, because most of the time of a query is spent in
the real server.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import aiohttp
from msgspec import Struct

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
from bench._replay import replaying

CALLS: Final = 50
QUERIES: Final = 5
AT_ONCE: Final = 32
REPETITIONS: Final = 15


class Peer(Struct, frozen=True):
    """Another client, and the ratios required compared with it."""

    connect: Callable[[str], Blocking]
    single: float
    """The required ratio of gets and puts."""
    query: float
    slower: int
    """About how many times as long a query takes with it; a round of ours has as many times more queries."""


_PEERS: Final = {
    "boto3": Peer(Boto3, 3.0, 4.0, slower=8),
    "PynamoDB": Peer(PynamoDB, 3.0, 3.0, slower=8),
    "pydynox": Peer(Pydynox, 1.2, 1.5, slower=2),
}

# Nothing is written to a disk, because the clients are measured.
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


def comparisons(folder: Path) -> Iterator[Comparison]:  # noqa: ARG001 - every suite gets a folder
    """All measurements of this module."""
    with _server() as port, replaying(port) as recorded, asyncio.Runner() as loop:
        url = f"http://127.0.0.1:{port}"
        ours, ours_awaited = Ours(url), OursAwaited(url)
        ours.fill()
        for name, peer in _PEERS.items():
            yield from _single(name, peer, ours, peer.connect(url))
            yield from _queries(name, peer, url, recorded)
        for name in ("boto3", "PynamoDB"):
            yield _at_once(loop, ours_awaited, _in_threads(_PEERS[name].connect(url)), name, 3.0)
        pydynox = PydynoxAwaited(url)
        yield _at_once(loop, ours_awaited, _gathered(loop, pydynox), "pydynox", 1.2)
        session = loop.run(_session())
        yield from _awaited(loop, ours_awaited, Aiodynamo(url, session))
        loop.run(session.close())


@contextmanager
def _server() -> Iterator[int]:
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        yield int(server.stdout.readline())
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()


async def _session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession()


def _single(name: str, peer: Peer, ours: Blocking, theirs: Blocking) -> Iterator[Comparison]:
    for what in ("get", "put"):
        sides = [per_call(getattr(client, what), range(CALLS)) for client in (ours, theirs)]
        yield compare(f"a remote {what}, to {name}'s", Bar("at least", peer.single), *sides, repetitions=REPETITIONS)


def _queries(name: str, peer: Peer, url: str, recorded: str) -> Iterator[Comparison]:
    turns = range(QUERIES * peer.slower), range(QUERIES)
    for what, server, clock in (
        ("a remote query of 100", url, time.perf_counter),
        ("the same as it was recorded", recorded, time.perf_counter),
        ("processor time of that query", recorded, time.process_time),  # of this process, which runs only the client
    ):
        clients = Ours(server), peer.connect(server)
        sides = [_queried(client, turn, clock) for client, turn in zip(clients, turns, strict=True)]
        yield compare(f"{what}, to {name}'s", Bar("at least", peer.query), *sides, repetitions=REPETITIONS)


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


def _queried(client: Blocking, turn: Sequence[int], clock: Callable[[], float]) -> Side:
    def measure() -> float:
        start = clock()
        for _ in turn:
            assert client.query() == ITEMS
        return (clock() - start) / len(turn)

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
