"""No client can make the server use more memory, do more work or wait longer than its limits allow."""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from typing import Any

import pytest
from tests.wire.support import connected, http, serving, task
from tests.wire.unplugged import FakeClient, FakeTimer, without_sockets

from partita import EmbeddedStore
from partita.wire import Limits
from partita.wire._expressions import read_expressions
from partita.wire._faults import Fault
from partita.wire._parameters import Parameters
from partita.wire.connection import unpack

LIST = http("ListTables", b"{}")
PUT = http("PutItem", json.dumps({"TableName": "tasks", "Item": task("u", "1")}).encode())


def unfinished(size: int, sent: int) -> bytes:
    """Return a request whose body has `size` bytes, of which only `sent` are included."""
    return http("ListTables", b"{}".ljust(size))[: sent - size or None]


class TestBodies:
    """The bytes that all connections buffer together have a limit, and are released."""

    LIMITS = Limits(buffered_bytes=1_000)

    def test_one_body_too_many_is_refused(self, store: EmbeddedStore) -> None:
        server, (first, second) = without_sockets(store, 2, limits=self.LIMITS)
        first.receive(unfinished(900, sent=600))
        second.receive(unfinished(900, sent=600))
        assert (first.statuses(), second.statuses()) == ([], [503])
        assert b"#ServiceUnavailable" in second.transport.written
        assert second.is_ended
        assert server.connections.budget.used == 600
        first.receive(b" " * 300)
        assert first.statuses() == [200]
        assert server.connections.budget.used == 0

    def test_headers_after_a_body_are_refused_with_the_first_of_them(self, store: EmbeddedStore) -> None:
        server, (client,) = without_sockets(store, 1, limits=self.LIMITS)
        head = LIST.partition(b"content-length")[0]
        client.receive(head + b"transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n")
        assert client.statuses() == []
        client.receive(b"x: y\r\n" * 2)  # there could be more without end, each appended to all before it
        assert client.statuses() == [400]
        assert b"no headers after a body" in client.transport.written
        assert server.connections.budget.used == 0

    def test_what_is_announced_and_not_sent_takes_nothing(self, store: EmbeddedStore) -> None:
        _, (first, second) = without_sockets(store, 2, limits=self.LIMITS)
        first.receive(unfinished(900, sent=1))
        second.receive(http("ListTables", b"{}".ljust(900)))
        assert second.statuses() == [200]

    def test_a_lost_connection_gives_back_what_it_held(self, store: EmbeddedStore) -> None:
        server, (client,) = without_sockets(store, 1, limits=self.LIMITS)
        client.receive(unfinished(900, sent=600))
        client.lose()
        assert server.connections.budget.used == 0

    def test_a_refused_body_is_given_back(self, store: EmbeddedStore) -> None:
        server, (client,) = without_sockets(store, 1, limits=Limits(body_bytes=100))
        chunk = b"40\r\n" + b" " * 64 + b"\r\n"
        client.receive(b"POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n" + chunk)
        assert server.connections.budget.used == 64
        client.receive(chunk)
        assert client.statuses() == [413]
        assert server.connections.budget.used == 0

    def test_what_comes_after_a_refusal_is_not_held(self, store: EmbeddedStore) -> None:
        server, (client,) = without_sockets(store, 1, limits=self.LIMITS)
        client.receive(unfinished(2_000, sent=1_500))
        client.receive(b" " * 500 + LIST)
        assert client.statuses() == [503]
        assert server.connections.budget.used == 0

    def test_a_packed_body_counts_as_what_it_holds(self, store: EmbeddedStore) -> None:
        server, (client,) = without_sockets(store, 1, limits=self.LIMITS)
        client.receive(http("ListTables", gzip.compress(b" " * 990), content_encoding="gzip"))
        assert client.statuses() == [503]
        assert server.connections.budget.used == 0

    @pytest.mark.usefixtures("call")
    async def test_a_write_gives_its_body_back_when_it_is_done(self, store: EmbeddedStore) -> None:
        server, (client,) = without_sockets(store, 1, limits=self.LIMITS)
        client.receive(PUT)
        assert server.connections.budget.used > 0
        assert client.connection.responding is not None
        await client.connection.responding
        assert client.statuses() == [200]
        assert server.connections.budget.used == 0

    @pytest.mark.usefixtures("call")
    async def test_bytes_that_come_during_a_write_wait(self, store: EmbeddedStore) -> None:
        _, (client,) = without_sockets(store, 1)
        client.receive(PUT)
        client.receive(LIST)
        assert client.transport.is_reading_paused
        assert client.connection.responding is not None
        await client.connection.responding
        assert client.statuses() == [200, 200]
        assert not client.transport.is_reading_paused


class TestUnpacking:
    """The work for a compressed body grows with its size, not with the square of it."""

    def test_empty_members_without_number_are_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        read = counted_bytes(monkeypatch)
        packed = bytearray(gzip.compress(b"") * 50_000)
        with pytest.raises(Exception, match="more than 100 members"):
            unpack(packed, "gzip", 1_000)
        assert sum(read) <= 100 * 64 * 1024

    def test_a_large_member_is_read_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        read = counted_bytes(monkeypatch)
        content = bytes(range(256)) * 4_000
        packed = bytearray(zlib.compress(content, 0))
        assert unpack(packed, "deflate", len(content)) == content
        assert sum(read) == len(packed)

    def test_a_small_body_that_grows_large_is_refused_before_it_has(self) -> None:
        packed = bytearray(gzip.compress(b" " * 1_000_000))
        with pytest.raises(Fault, match="too large when decompressed"):
            unpack(packed, "gzip", 1_000)

    def test_a_hundred_members_are_read(self) -> None:
        assert unpack(bytearray(gzip.compress(b"x") * 100), "gzip", 1_000) == b"x" * 100


def counted_bytes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which every call of zlib adds the number of bytes that it gets."""
    counts: list[int] = []
    decompressobj = zlib.decompressobj

    class Counting:
        def __init__(self, wbits: int) -> None:
            self._member = decompressobj(wbits=wbits)

        def decompress(self, data: bytes, max_length: int) -> bytes:
            counts.append(len(data))
            return self._member.decompress(data, max_length)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._member, name)

    monkeypatch.setattr(zlib, "decompressobj", Counting)
    return counts


class TestConnections:
    """Idle clients do not shut others out."""

    LIMITS = Limits(connections=2)

    def test_the_one_that_has_been_idle_for_longest_gives_way(self, store: EmbeddedStore) -> None:
        with (
            serving(store, limits=self.LIMITS) as address,
            connected(address) as first,
            connected(address) as second,
        ):
            for client in (first, second, first):
                client.send(LIST)
                assert client.receive()[0] == 200
            with connected(address) as third:
                third.send(LIST)
                assert third.receive()[0] == 200
                assert second.is_closed()
                first.send(LIST)
                assert first.receive()[0] == 200

    def test_half_a_head_gives_way_too(self, store: EmbeddedStore) -> None:
        timer = FakeTimer()
        server, (first, second) = without_sockets(store, 2, limits=self.LIMITS, timer=timer)
        for client in (first, second):
            timer.now += 1
            client.receive(LIST[:20])
        FakeClient(server).receive(LIST)
        assert (first.transport.is_aborted, second.transport.is_aborted) == (True, False)

    def test_one_too_many_is_sent_away_where_all_are_busy(self, store: EmbeddedStore) -> None:
        server, clients = without_sockets(store, 2, limits=self.LIMITS)
        for client in clients:
            client.receive(unfinished(10, sent=5))
        third = FakeClient(server)
        assert third.transport.is_aborted
        assert not any(client.transport.is_aborted for client in clients)

    def test_a_lost_connection_makes_room(self, store: EmbeddedStore) -> None:
        server, clients = without_sockets(store, 2, limits=self.LIMITS)
        for client in clients:
            client.receive(unfinished(10, sent=5))
        clients[0].lose()
        third = FakeClient(server)
        third.receive(LIST)
        assert third.statuses() == [200]


class TestDeadlines:
    """A deadline does not depend on the number of pieces in which a request arrives."""

    LIMITS = Limits(head_seconds=10.0, request_seconds=30.0, idle_seconds=300.0)

    def seconds_until_closed(self, store: EmbeddedStore, first: bytes, piece: bytes) -> float:
        """Return after how many seconds a client is aborted that sends `first`, and then `piece` every second."""
        timer = FakeTimer()
        server, (client,) = without_sockets(store, 1, limits=self.LIMITS, timer=timer)
        client.receive(first)
        while not client.transport.is_aborted and timer.now < 1_000:
            timer.now += 1
            if piece:
                client.receive(piece)
            server.connections.close_late()
        return timer.now

    def test_a_head_has_ten_seconds(self, store: EmbeddedStore) -> None:
        assert self.seconds_until_closed(store, b"POST / HTTP/1.1\r\nx: ", b"x") == 11

    def test_empty_lines_are_half_a_head(self, store: EmbeddedStore) -> None:
        assert self.seconds_until_closed(store, b"\r\n", b"\r\n") == 11

    def test_head_and_body_have_thirty_seconds_together(self, store: EmbeddedStore) -> None:
        assert self.seconds_until_closed(store, unfinished(1_000, sent=1), b" ") == 31

    def test_chunks_have_thirty_seconds_together(self, store: EmbeddedStore) -> None:
        head = b"POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n"
        assert self.seconds_until_closed(store, head, b"1\r\n \r\n") == 31

    def test_a_chunk_extension_without_end_has_thirty_seconds(self, store: EmbeddedStore) -> None:
        head = b"POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n1;x"
        assert self.seconds_until_closed(store, head, b"x" * 1_000) == 31

    def test_an_idle_client_has_five_minutes(self, store: EmbeddedStore) -> None:
        assert self.seconds_until_closed(store, LIST, b"") == 301

    def test_a_refused_client_is_not_waited_for(self, store: EmbeddedStore) -> None:
        assert self.seconds_until_closed(store, b"nonsense\r\n\r\n", b"x") == 3

    def test_a_client_that_does_not_read_has_thirty_seconds(self, store: EmbeddedStore) -> None:
        timer = FakeTimer()
        server, (client,) = without_sockets(store, 1, limits=self.LIMITS, timer=timer)
        client.receive(LIST)
        client.connection.pause_writing()
        client.receive(LIST)
        assert client.statuses() == [200]
        timer.now = 31
        server.connections.close_late()
        assert client.transport.is_aborted

    def test_a_client_that_reads_again_gets_the_rest(self, store: EmbeddedStore) -> None:
        _, (client,) = without_sockets(store, 1)
        client.connection.pause_writing()
        client.receive(LIST)
        client.connection.resume_writing()
        assert client.statuses() == [200]


def test_a_refused_client_can_finish_sending_and_read_why(store: EmbeddedStore) -> None:
    with serving(store, limits=Limits(body_bytes=10)) as address, connected(address) as client:
        client.send(http("ListTables", b" " * 1_000_000))
        assert client.receive()[0] == 413
        assert client.is_closed()


def test_a_head_may_be_as_long_as_the_limit_behind_another_request(store: EmbeddedStore) -> None:
    """The length of the previous request does not count."""
    _, (client,) = without_sockets(store, 1, limits=Limits(head_bytes=1_000))
    long = http("ListTables", b"{}", filler="x" * 800)
    client.receive(http("ListTables", b"{}".ljust(900)) + long[:5])
    for position in range(5, len(long)):
        client.receive(long[position : position + 1])
    assert client.statuses() == [200, 200]


def test_expressions_are_remembered_without_long_names() -> None:
    name = "".join(["n"] * 60_000)
    given = {"ProjectionExpression": "#n", "ExpressionAttributeNames": {"#n": name}}
    before = sys.getrefcount(name)
    trees = read_expressions(Parameters(given), ("ProjectionExpression",))
    assert [path.parts for path in trees["ProjectionExpression"]] == [(name,)]
    del trees
    assert sys.getrefcount(name) == before
