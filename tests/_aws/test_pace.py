"""A server that sends its response a few bytes at a time does not block its client."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from functools import partial

import pytest
from tests._aws.talking import WHOLE, Client, read_request, request_to, talking

from partita._aws import _http_transport
from partita._aws._pace import PACE_BYTES, Pace
from partita._aws._transport import ResponseLost


class Clock:
    """A clock that advances by six seconds each time it is read."""

    def __init__(self) -> None:
        self.now = 0.0
        self.looked = threading.Event()

    def __call__(self) -> float:
        self.now += 6
        self.looked.set()
        return self.now


def test_drops_are_too_slow_and_a_stream_is_not() -> None:
    slow, quick = Pace(10, Clock()), Pace(10, Clock())
    for _ in range(100):
        quick.check(PACE_BYTES // 2)
    slow.check(1)
    slow.check(PACE_BYTES // 2)
    with pytest.raises(ValueError, match="too slowly"):
        slow.check(PACE_BYTES // 2 - 1)


async def test_a_response_that_comes_in_drops_is_lost(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(_http_transport, "Pace", partial(Pace, clock=clock))

    def talk(peer: socket.socket) -> None:
        if read_request(peer):
            with suppress(OSError):  # the client closes the connection
                for each in WHOLE:
                    peer.sendall(bytes([each]))
                    clock.looked.wait()
                    clock.looked.clear()

    with talking(talk) as server:
        with pytest.raises(ResponseLost, match="too slowly"):
            await client.send(request_to(server))
        clock.looked.set()
        client.transport.close()
