"""What a server may send, and what it may not: framing, limits, and responses that were not requested."""

from __future__ import annotations

import gc
import socket
import threading
import weakref
from collections.abc import Iterator
from contextlib import suppress

import pytest
from tests._aws.talking import WHOLE, Client, read_request, request_to, responding, talking

from partita._aws._http import CHUNK, MAX_HEAD, ResponseParser
from partita._aws._transport import Limits, ResponseLost

HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"

FRAMES = {
    "by length": WHOLE,
    "in chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
    "and closed": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
    "old": b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}",
    "by the end of the connection": b"HTTP/1.1 200 OK\r\n\r\n{}",
    "old, by the end of the connection": b"HTTP/1.0 200 OK\r\n\r\n{}",
    "after 100 Continue": b"HTTP/1.1 100 Continue\r\nContent-Length: 3\r\n\r\n" + WHOLE,
    "after hints": b"HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n" * 3 + WHOLE,
    "with trailers": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: y\r\n\r\n",
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
async def test_a_response_is_read_however_it_is_framed(client: Client, frame: bytes) -> None:
    with talking(responding(frame)) as server:
        response = await client.send(request_to(server))
    assert (response.status, bytes(response.body)) == (200, b"{}")


async def test_headers_are_found_in_any_case(client: Client) -> None:
    with talking(responding(WHOLE)) as server:
        assert (await client.send(request_to(server))).header("x-amzn-requestid") == "7"


BROKEN = {
    "nothing": b"",
    "half a head": b"HTTP/1.1 200 OK\r\nContent-Le",
    "half a body": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}",
    "half the chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{",
    "not HTTP": b"220 mail.example.org ESMTP\r\n\r\n",
    "a length that is not a number": b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n{}",
}


@pytest.mark.parametrize("frame", BROKEN.values(), ids=BROKEN.keys())
async def test_a_response_that_is_not_complete_is_lost(client: Client, frame: bytes) -> None:
    with talking(responding(frame)) as server, pytest.raises(ResponseLost):
        await client.send(request_to(server))


AMBIGUOUS = {
    **{
        f"a chunk of {size}": CHUNKED + size.encode() + b"\r\n{}\r\n0\r\n\r\n"
        for size in ("-6", "+2", "-5", "1_0", "0x2", " 2", "2 ", "")
    },
    "a chunk without its end": CHUNKED + b"2\r\n{}XX0\r\n\r\n",
    "a chunk of more than can be": CHUNKED + b"1" * 17 + b"\r\n{}\r\n0\r\n\r\n",
    "a chunk after a bare line feed": CHUNKED + b"2\n{}\r\n0\r\n\r\n",
    "two lengths": HEAD + b"Content-Length: 2\r\nContent-Length: 9\r\n\r\n{}",
    "one length twice": HEAD + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "a list of lengths": HEAD + b"Content-Length: 2, 2\r\n\r\n{}",
    "a length with a sign": HEAD + b"Content-Length: +2\r\n\r\n{}",
    "a length below nothing": HEAD + b"Content-Length: -2\r\n\r\n{}",
    "a length with an underscore": HEAD + b"Content-Length: 0_2\r\n\r\n{}",
    "a length of 4,301 digits": HEAD + b"Content-Length: " + b"1" * 4_301 + b"\r\n\r\n{}",
    "a length, then chunks": HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "chunks, then a length": HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "a coding that is not known": HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "chunks twice": CHUNKED[:-2] + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "space before a colon": HEAD + b"Content-Length : 2\r\n\r\n{}",
    "a line without a colon": HEAD + b"Content-Length 2\r\nContent-Length: 2\r\n\r\n{}",
    "a folded line": HEAD + b"X: y\r\n z\r\nContent-Length: 2\r\n\r\n{}",
    "NUL": HEAD + b"X: y\0\r\nContent-Length: 2\r\n\r\n{}",
    "bare line feeds": WHOLE.replace(b"\r\n", b"\n"),
    "junk before the status": b"junk" + WHOLE,
    "an empty line before the status": b"\r\n" + WHOLE,
    "a status of four digits": WHOLE.replace(b"200", b"2000"),
    "a status with a sign": WHOLE.replace(b"200", b"+20"),
    "a version that is not one": WHOLE.replace(b"1.1", b"1.evil"),
    "a version of long ago": WHOLE.replace(b"1.1", b"0.9"),
    "a version with frames": WHOLE.replace(b"1.1", b"2.0"),
    "another protocol": WHOLE.replace(b"HTTP", b"RTSP"),
    "a change of the protocol": b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"
    + WHOLE,
    "100 Continue and no more": b"HTTP/1.1 100 Continue\r\n\r\n",
}


@pytest.mark.parametrize("frame", AMBIGUOUS.values(), ids=AMBIGUOUS.keys())
async def test_a_response_that_two_readers_could_read_differently_is_lost(client: Client, frame: bytes) -> None:
    with talking(responding(frame)) as server, pytest.raises(ResponseLost):
        await client.send(request_to(server))


@pytest.mark.parametrize("frame", [*FRAMES.values(), *AMBIGUOUS.values()], ids=[*FRAMES, *AMBIGUOUS])
def test_how_a_response_is_cut_into_pieces_changes_nothing(frame: bytes) -> None:
    assert parsed([frame]) == parsed([frame[i : i + 1] for i in range(len(frame))])


def parsed(pieces: list[bytes]) -> tuple[int, bytes, bool] | None:
    """Parse the pieces and the end of the connection; return status, body and whether it closes, or None if refused."""
    parser = ResponseParser(max_body=100)
    try:
        for piece in (*pieces, b""):
            if (response := parser.feed(piece)) is not None:
                return response.status, bytes(response.body), response.closes
    except ValueError:
        pass
    return None


async def test_a_trailer_does_not_replace_a_header(client: Client) -> None:
    frame = HEAD + b"X-Amz-Crc32: 1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-Amz-Crc32: 2\r\n\r\n"
    with talking(responding(frame)) as server:
        assert (await client.send(request_to(server))).header("x-amz-crc32") == "1"


async def test_what_100_continue_says_is_not_said_of_the_response(client: Client) -> None:
    with talking(responding(b"HTTP/1.1 100 Continue\r\nX-Amz-Crc32: 1\r\n\r\n" + WHOLE)) as server:
        response = await client.send(request_to(server))
    assert (response.status, response.header("x-amz-crc32")) == (200, None)


SMALL = Limits(response_bytes=1_000)

TOO_LONG = {
    "by its length": HEAD + b"Content-Length: 1001\r\n\r\n",  # refused before any of the body has arrived
    "in chunks": CHUNKED + (b"64\r\n" + b"x" * 100 + b"\r\n") * 11,
    "in one chunk": CHUNKED + b"3e9\r\n" + b"x" * 1_001,
    "until the end of the connection": HEAD + b"\r\n" + b"x" * 1_001,
}


@pytest.mark.parametrize("awaited", [False, True], ids=["blocking", "awaited"])
@pytest.mark.parametrize("frame", TOO_LONG.values(), ids=TOO_LONG.keys())
async def test_a_body_has_a_bound(frame: bytes, *, awaited: bool) -> None:
    closed = threading.Event()

    def talk(peer: socket.socket) -> None:
        read_request(peer)
        peer.sendall(frame)
        with suppress(ConnectionResetError):
            peer.recv(1)  # until the client has closed the connection, without waiting for the rest
        closed.set()

    client = Client(SMALL, awaited=awaited)
    with talking(talk) as server:
        with pytest.raises(ResponseLost, match="longer than 1000 bytes"):
            await client.send(request_to(server))
        assert closed.wait(60)


def test_a_body_as_long_as_the_bound_is_read() -> None:
    assert ResponseParser(1_000).feed(HEAD + b"Content-Length: 1000\r\n\r\n" + b"x" * 1_000) is not None


def endless(start: bytes, again: bytes) -> Iterator[bytes]:
    """Yield a response that begins like this, and continues in pieces forever."""
    yield start
    piece = again * (CHUNK // len(again))
    while True:
        yield piece


ENDLESS = {
    "a status": (b"HTTP/1.1 200 O", b"K"),
    "the name of a header": (HEAD, b"x"),
    "the value of a header": (HEAD + b"X: ", b"y"),
    "headers": (HEAD, b"X: y\r\n"),
    "interim responses": (b"HTTP/1.1 102 Processing\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "an extension of a chunk": (CHUNKED + b"2;", b"x"),
    "the value of a trailer": (CHUNKED + b"2\r\n{}\r\n0\r\nX: ", b"y"),
    "trailers": (CHUNKED + b"2\r\n{}\r\n0\r\n", b"X: y\r\n"),
    "chunks of one byte": (CHUNKED, b"1\r\nx\r\n"),
    "zeros before the size of a chunk": (CHUNKED, b"0"),
}


@pytest.mark.parametrize(("start", "again"), ENDLESS.values(), ids=ENDLESS.keys())
def test_what_is_not_body_has_a_bound(start: bytes, again: bytes) -> None:
    parser, taken = ResponseParser(max_body=10 * CHUNK), [0]
    with pytest.raises(ValueError, match="the head of the response is too long"):
        feed_all(parser, counted(endless(start, again), taken))
    assert taken[0] <= MAX_HEAD + 2 * CHUNK


def feed_all(parser: ResponseParser, pieces: Iterator[bytes]) -> None:
    for piece in pieces:
        parser.feed(piece)


def counted(pieces: Iterator[bytes], taken: list[int]) -> Iterator[bytes]:
    for piece in pieces:
        taken[0] += len(piece)
        yield piece


def test_a_long_body_may_come_in_many_chunks() -> None:
    parser = ResponseParser(max_body=10_000_000)
    assert parser.feed(CHUNKED) is None
    for _ in range(20_000):
        assert parser.feed(b"c8\r\n" + b"x" * 200 + b"\r\n") is None
    response = parser.feed(b"0\r\n\r\n")
    assert response is not None
    assert len(response.body) == 4_000_000


@pytest.mark.parametrize("piece", [WHOLE, WHOLE[:-1]], ids=["whole", "in part"])
def test_a_body_is_freed_without_a_garbage_collection(piece: bytes) -> None:
    parser = ResponseParser(max_body=100)
    message = weakref.ref(parser._message)
    gc.disable()
    try:
        parser.feed(piece)
        del parser
        assert message() is None
    finally:
        gc.enable()


STALE = WHOLE.replace(b"{}", b"no")


async def test_a_second_response_at_once_is_not_that_to_the_next_request(client: Client) -> None:
    with talking(responding(WHOLE + STALE)) as server:
        bodies = [bytes((await client.send(request_to(server))).body) for _ in range(2)]
    assert bodies == [b"{}", b"{}"]
    assert server.accepted == 2


@pytest.mark.parametrize("rest", [STALE[:1], b"junk", b"\0"])
async def test_a_connection_with_anything_after_the_response_is_not_used_again(client: Client, rest: bytes) -> None:
    with talking(responding(WHOLE + rest)) as server:
        assert (await client.send(request_to(server))).closes


async def test_a_second_response_later_is_not_that_to_the_next_request(client: Client) -> None:
    def talk(peer: socket.socket) -> None:
        if read_request(peer):
            peer.sendall(WHOLE)
            received.wait()
            peer.sendall(STALE)
            read_request(peer)

    received = threading.Event()
    with talking(talk) as server:
        await client.send(request_to(server))
        received.set()
        while client.idle_connection(server).is_usable(60):
            pass  # until the unrequested bytes have arrived
        assert bytes((await client.send(request_to(server))).body) == b"{}"
    assert server.accepted == 2
