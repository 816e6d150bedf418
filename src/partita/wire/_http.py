"""The head of an HTTP/1.1 request: as much of it as the protocol needs, bounded."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from partita.wire._faults import Fault

_PARTS: Final = 3


class Head(Struct, frozen=True):
    """The request line and the headers, whose names are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    length: int
    keep_alive: bool


def read_head(buffer: bytearray, most_head: int, most_body: int) -> Head | None:
    """Take the head off the buffer, if all of it is there.

    Raises:
        Fault: it is no HTTP, or announces more than is allowed.
    """
    end = buffer.find(b"\r\n\r\n")
    if end > most_head or (end < 0 and len(buffer) > most_head):
        raise Fault("RequestEntityTooLargeException", "The headers are too large.")
    if end < 0:
        return None
    first, *lines = buffer[:end].decode("latin-1").split("\r\n")
    del buffer[: end + 4]
    parts = first.split(" ")
    if len(parts) != _PARTS or not parts[2].startswith("HTTP/1."):
        raise Fault("SerializationException", "The request is no HTTP/1.1.")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    closes = headers.get("connection", "").lower() == "close" or parts[2] == "HTTP/1.0"
    return Head(parts[0], parts[1], headers, _length(headers, most_body), not closes)


def _length(headers: dict[str, str], most: int) -> int:
    if "transfer-encoding" in headers:
        raise Fault("MissingContentLengthException", "The request must have a Content-Length.", status=411)
    text = headers.get("content-length", "0")
    if not (text.isascii() and text.isdigit()):
        raise Fault("SerializationException", "The Content-Length is no number.")
    if int(text) > most:
        raise Fault("RequestEntityTooLargeException", f"The body may have {most} bytes.", status=413)
    return int(text)
