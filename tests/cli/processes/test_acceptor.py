"""Which process accepts a connection: the one with the fewest connections, or any other if that one does not."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

import pytest

from partita.cli.processes import Acceptor, ConnectionBoard

pytestmark = [pytest.mark.req("X21"), pytest.mark.anyio]


class Counted(asyncio.Protocol):
    """A protocol that counts its connections for a side."""

    def __init__(self, side: Side) -> None:
        self._side = side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._side.opened.append(transport)
        self._side.board.update(self._side.number, len(self._side.opened))
        self._side.heard.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._side.opened.remove(self._transport)


class Side:
    """An acceptor with its connections, in place of a process."""

    def __init__(self, listener: socket.socket, board: ConnectionBoard, number: int, heard: asyncio.Event) -> None:
        self.listener = listener
        self.board = board
        self.number = number
        self.heard = heard
        self.opened: list[asyncio.BaseTransport] = []
        self.acceptor = Acceptor(listener, lambda: Counted(self), board, number)


@asynccontextmanager
async def sides(listener: socket.socket, number: int) -> AsyncIterator[list[Side]]:
    board, heard = ConnectionBoard(number), asyncio.Event()
    made = [Side(listener.dup(), board, each, heard) for each in range(number)]
    async with AsyncExitStack() as stack:
        for side in made:
            stack.enter_context(side.listener)
            side.acceptor.start()
            stack.push_async_callback(side.acceptor.stop)
        yield made
    for transport in [transport for side in made for transport in side.opened]:
        transport.close()
    await asyncio.sleep(0)


def connected(listener: socket.socket, number: int) -> AbstractAsyncContextManager[None]:
    """Open this number of connections together, and keep them open in the block."""
    return connected_to(listener.getsockname(), number)


@asynccontextmanager
async def connected_to(address: tuple[str, int], number: int) -> AsyncIterator[None]:
    clients = [socket.create_connection(address) for _ in range(number)]
    try:
        yield
    finally:
        for client in clients:
            client.close()


async def until(sides: list[Side], connections: int) -> list[int]:
    while sum(len(side.opened) for side in sides) < connections:
        sides[0].heard.clear()
        await sides[0].heard.wait()
    return sorted(len(side.opened) for side in sides)


async def test_many_that_come_at_once_are_spread() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        async with sides(listener, 3) as each, connected(listener, 12):
            assert await until(each, 12) == [4, 4, 4]


async def test_who_has_the_fewest_accepts_until_another_has_fewer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        board, heard = ConnectionBoard(2), asyncio.Event()
        board.open(0)
        board.open(1)
        board.update(1, 5)
        side = Side(listener, board, 0, heard)
        async with connected(listener, 9):
            side.acceptor._ready()  # one iteration of the event loop
            assert board.get(0) == 6
            await until([side], 6)
        for transport in side.opened:
            transport.close()


@pytest.mark.parametrize(("own", "accepted"), [(1, 1), (7, 1), (8, 2), (50, 9)])
async def test_who_has_more_accepts_a_quarter_as_many_of_what_is_left(own: int, accepted: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        board, heard = ConnectionBoard(2), asyncio.Event()
        board.open(0)
        board.open(1)
        board.update(0, own)
        side = Side(listener, board, 0, heard)
        async with connected(listener, 9):
            side.acceptor._accept_left()  # as the timer does
            assert board.get(0) == own + accepted
            await until([side], accepted)
        await asyncio.sleep(0)
        for transport in side.opened:
            transport.close()


async def test_what_another_leaves_is_accepted_by_who_has_more() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        async with sides(listener, 2) as (stuck, other), connected(listener, 3):
            stuck.acceptor._loop.remove_reader(stuck.listener)  # it has no connections, but does not accept any
            assert await until([stuck, other], 3) == [0, 3]


async def test_who_accepts_no_more_does_not_count() -> None:
    board = ConnectionBoard(2)
    board.open(0)
    board.open(1)
    board.update(0, 3)
    board.update(1, 1)
    assert [board.has_fewest(0), board.has_fewest(1)] == [False, True]
    board.close(1)
    assert board.has_fewest(0)


async def test_a_connection_counts_from_when_it_is_accepted_to_its_end() -> None:
    board = ConnectionBoard(1)
    board.open(0)
    board.accepted(0)
    board.accepted(0)
    begun = board.setter(0)
    begun(1)
    assert board.get(0) == 2
    begun(2)
    begun(1)
    assert board.get(0) == 1
    board.close(0)
    begun(0)
    assert board.get(0) == -1


async def test_one_that_is_refused_does_not_count_for_ever() -> None:
    board = ConnectionBoard(1)
    board.open(0)
    board.update(0, 3)
    board.accepted(0)
    board.accepted(0)
    board.update(0, 3)  # one connection began, and another ended
    board.settle(0, 1)
    assert board.get(0) == 4
    board.settle(0, 0)
    assert board.get(0) == 3


async def test_where_all_have_stopped_who_connects_is_refused_and_does_not_wait() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
        async with sides(listener, 2) as (first, second):
            listener.close()
            await first.acceptor.stop()
            async with connected_to(address, 1):
                assert await until([second], 1) == [1]
            await second.acceptor.stop()
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(address)


async def test_where_files_have_run_out_it_is_said_and_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: said.append(context["exception"].errno))
    monkeypatch.setattr("partita.cli.processes._acceptor.RETRY_SECONDS", 0.01)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        real, failures = Exhausted(listener), 2
        real.failures = failures
        board, heard = ConnectionBoard(1), asyncio.Event()
        side = Side(real, board, 0, heard)  # type: ignore[arg-type]
        side.acceptor.start()
        async with connected(listener, 1):
            assert await until([side], 1) == [1]
        await side.acceptor.stop()
        for transport in side.opened:
            transport.close()
    assert said == [errno.EMFILE] * failures


class Exhausted:
    """A listening socket whose `accept` fails a number of times, as if there were no file descriptors left."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self.failures = 0

    def accept(self) -> tuple[socket.socket, object]:
        if self.failures:
            self.failures -= 1
            raise OSError(errno.EMFILE, "Too many open files")
        return self._listener.accept()

    def fileno(self) -> int:
        return self._listener.fileno()

    def setblocking(self, flag: bool) -> None:  # noqa: FBT001 - the signature of a socket
        self._listener.setblocking(flag)

    def close(self) -> None:
        self._listener.close()
