"""The head and the body of an HTTP/1.1 request: as much of them as the protocol needs, bounded."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from partita.wire._faults import Fault

_PARTS: Final = 3
_LINE_END: Final = b"\r\n"
_MAX_LINE: Final = 1_000


class Head(Struct, frozen=True):
    """The request line and the headers, whose names are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    length: int
    keep_alive: bool
    chunked: bool = False


def read_head(buffer: bytearray, max_head: int, max_body: int) -> Head | None:
    """Remove the head from the buffer and parse it, if all of it is there.

    Raises:
        Fault: it is not HTTP/1.1, or announces more than is allowed.
    """
    end = buffer.find(b"\r\n\r\n")
    if end > max_head or (end < 0 and len(buffer) > max_head):
        raise Fault("RequestEntityTooLargeException", "The headers are too large.")
    if end < 0:
        return None
    first, *lines = buffer[:end].decode("latin-1").split("\r\n")
    del buffer[: end + 4]
    parts = first.split(" ")
    if len(parts) != _PARTS or not parts[2].startswith("HTTP/1."):
        raise Fault("SerializationException", "The request is not HTTP/1.1.")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    closes = headers.get("connection", "").lower() == "close" or parts[2] == "HTTP/1.0"
    chunked = headers.get("transfer-encoding", "").lower() == "chunked"
    return Head(parts[0], parts[1], headers, 0 if chunked else _length(headers, max_body), not closes, chunked)


def _length(headers: dict[str, str], limit: int) -> int:
    if "transfer-encoding" in headers:
        raise Fault("MissingContentLengthException", "The body must have a length, or come in chunks.", status=411)
    text = headers.get("content-length", "0")
    if not (text.isascii() and text.isdigit()):
        raise Fault("SerializationException", "The Content-Length is not a number.")
    if int(text) > limit:
        raise Fault("RequestEntityTooLargeException", f"The body may have {limit} bytes.", status=413)
    return int(text)


class Body:
    """The body that a head announces, while it comes."""

    def __init__(self, head: Head, limit: int) -> None:
        self._head = head
        self._limit = limit
        self._chunks = bytearray()

    def read(self, buffer: bytearray) -> bytes | None:
        """Move what belongs to the body out of the buffer; gives it when all of it is there.

        Raises:
            Fault: its chunks are malformed, or too much together.
        """
        if self._head.chunked:
            return self._joined(buffer)
        length = self._head.length
        if len(buffer) < length:
            return None
        body = bytes(buffer[:length])
        del buffer[:length]
        return body

    def _joined(self, buffer: bytearray) -> bytes | None:
        while (end := buffer.find(_LINE_END, 0, _MAX_LINE)) >= 0:
            size, start = self._size(bytes(buffer[:end])), end + len(_LINE_END)
            after = start + size + len(_LINE_END)
            if len(buffer) < after:
                return None
            if buffer[start + size : after] != _LINE_END:
                raise Fault("SerializationException", "A chunk of the body is longer than it says.")
            self._chunks += buffer[start : start + size]
            del buffer[:after]
            if size == 0:
                return bytes(self._chunks)
        if len(buffer) >= _MAX_LINE:
            raise Fault("SerializationException", "A chunk of the body does not say its size.")
        return None

    def _size(self, line: bytes) -> int:
        text = line.partition(b";")[0].strip()
        if not text or text.strip(b"0123456789abcdefABCDEF"):
            raise Fault("SerializationException", "A chunk of the body does not say its size.")
        size = int(text, 16)
        if len(self._chunks) + size > self._limit:
            raise Fault("RequestEntityTooLargeException", f"The body may have {self._limit} bytes.", status=413)
        return size
