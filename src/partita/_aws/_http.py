"""HTTP/1.1 and TLS as far as they are needed here, without input and output: only bytes in and bytes out."""

from __future__ import annotations

import ssl
from typing import Final
from urllib.parse import urlsplit

from partita._aws._transport import HttpRequest, HttpResponse

USER_AGENT: Final = "partita"
CHUNK: Final = 65_536
"""How many bytes are read at once."""
_MAX_HEAD: Final = 65_536
_HEAD_END: Final = b"\r\n\r\n"
_LINE_END: Final = b"\r\n"


def request_prefix(url: str) -> str:
    """The lines that every request to a URL begins with."""
    parts = urlsplit(url)
    return f"POST {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nUser-Agent: {USER_AGENT}\r\n"


def encode_request(prefix: str, request: HttpRequest) -> bytes:
    """A request as it is sent."""
    headers = "".join([f"{name}: {value}\r\n" for name, value in request.headers.items()])
    return f"{prefix}{headers}Content-Length: {len(request.body)}\r\n\r\n".encode("latin-1") + request.body


class ResponseParser:
    """Parses one response from the pieces that arrive."""

    def __init__(self) -> None:
        self._received = bytearray()
        self._status = 0
        self._headers: dict[str, str] | None = None
        self._size = 0
        self._chunks: bytearray | None = None

    def feed(self, data: bytes) -> HttpResponse | None:
        """The response, once its last piece has come.

        Raises:
            ValueError: it ends too early, or is not HTTP.
        """
        if not data:
            raise ValueError("the connection was closed before the response was complete")
        self._received += data
        if self._headers is None:
            self._parse_head()
        if self._headers is None:
            return None
        body = self._sized_body() if self._chunks is None else self._chunked_body(self._chunks)
        if body is None:
            return None
        headers = self._headers
        return HttpResponse(self._status, body, lambda name: headers.get(name.lower()), closes=_closes(headers))

    def _parse_head(self) -> None:
        end = self._received.find(_HEAD_END)
        if end < 0:
            if len(self._received) > _MAX_HEAD:
                raise ValueError("the head of the response has no end")
            return
        self._status, self._headers = _parse_head(self._received[:end].decode("latin-1"))
        del self._received[: end + len(_HEAD_END)]
        if self._headers.get("transfer-encoding", "").lower() == "chunked":
            self._chunks = bytearray()
        else:
            self._size = int(self._headers.get("content-length", "0"))

    def _sized_body(self) -> bytes | None:
        return bytes(self._received[: self._size]) if len(self._received) >= self._size else None

    def _chunked_body(self, chunks: bytearray) -> bytes | None:
        while (end := self._received.find(_LINE_END)) >= 0:
            size = int(self._received[:end].partition(b";")[0], 16)
            start = end + len(_LINE_END)
            if len(self._received) < start + size + len(_LINE_END):
                return None
            chunks += self._received[start : start + size]
            del self._received[: start + size + len(_LINE_END)]
            if size == 0:
                return bytes(chunks)
        return None


def _parse_head(head: str) -> tuple[int, dict[str, str]]:
    first, *lines = head.split("\r\n")
    version, status, *_ = first.split(" ", 2)
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    if version != "HTTP/1.1":
        headers["connection"] = "close"
    return int(status), headers


def _closes(headers: dict[str, str]) -> bool:
    return headers.get("connection", "").lower() == "close"


class Tls:
    """Bytes of the network to bytes of HTTP, and back."""

    def __init__(self, context: ssl.SSLContext, host: str) -> None:
        self._incoming = ssl.MemoryBIO()
        self.outgoing = ssl.MemoryBIO()
        self._object = context.wrap_bio(self._incoming, self.outgoing, server_hostname=host)

    def do_handshake(self) -> bool:
        """Go on with the handshake; True when it is done. What is to be sent is in `outgoing`.

        Raises:
            ssl.SSLError: the other end is not who it should be.
        """
        try:
            self._object.do_handshake()
        except ssl.SSLWantReadError:
            return False
        return True

    def receive(self, data: bytes) -> None:
        """Add what came from the network during the handshake."""
        if not data:
            raise ConnectionError("the connection was closed during the handshake")
        self._incoming.write(data)

    def encrypt(self, data: bytes) -> bytes:
        """What to send for these bytes."""
        self._object.write(data)
        return self.outgoing.read()

    def decrypt(self, data: bytes) -> bytes:
        """What these bytes of the network bring; empty where a record is not complete yet."""
        self._incoming.write(data)
        parts = []
        try:
            while part := self._object.read(CHUNK):
                parts.append(part)
        except (ssl.SSLWantReadError, ssl.SSLZeroReturnError):
            pass
        return b"".join(parts)
