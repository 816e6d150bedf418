"""Counting requests independently of the parsers: whole valid ones count, but nothing after an ambiguous one does."""

from __future__ import annotations

import pytest
from fuzz.targets.framing import count_requests

GET = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"


def post(*lines: bytes, body: bytes = b"") -> bytes:
    return b"\r\n".join((b"POST / HTTP/1.1", b"host: a", *lines, b"", body))


@pytest.mark.parametrize(
    ("data", "count"),
    [
        (GET, 1),
        (GET + GET, 2),
        (b"\r\n" + GET, 1),
        (post(b"content-length: 2", body=b"{}") + GET, 2),
        (post(b"content-length: 3", body=b"{}"), 0),
        (post(b"transfer-encoding: chunked", body=b"2\r\n{}\r\n0\r\n\r\n") + GET, 2),
        (post(b"transfer-encoding: chunked", body=b"2;x\r\n{}\r\n0\r\n\r\n"), 1),
        (b"", 0),
        (GET[:-2], 0),
    ],
)
def test_whole_requests_are_counted(data: bytes, count: int) -> None:
    assert count_requests(data) == count


@pytest.mark.parametrize(
    "unclear",
    [
        post(b"content-length : 0"),
        post(b"content-length: 0", b"content-length: 0"),
        post(b"content-length: 0", b"transfer-encoding: chunked", body=b"0\r\n\r\n"),
        post(b"content-length: +0"),
        post(b"content-length: 0\nx: y"),
        post(b"content-length: 0\rx: y"),
        post(b"x: y", b" content-length: 0"),
        post(b"x\0y: z"),
        post(b"no colon"),
        post(b"host: b"),
        post(b"transfer-encoding: \x0bchunked", body=b"0\r\n\r\n"),
        post(b"transfer-encoding: chunked", body=b"-6\r\n"),
        post(b"transfer-encoding: chunked", body=b"0x2\r\n{}\r\n0\r\n\r\n"),
        GET.replace(b"HTTP/1.1", b"HTTP/1.evil"),
    ],
)
def test_nothing_counts_from_an_unclear_request_on(unclear: bytes) -> None:
    assert count_requests(GET + unclear + GET) == 1
