"""The required parts of HTTP/1.1 and TLS, without I/O: bytes in, bytes out."""

from __future__ import annotations

import ssl
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from httptools import HttpParserCallbackError, HttpParserError, HttpResponseParser

from partita._aws._transport import HttpRequest, HttpResponse

USER_AGENT: Final = "partita"
CHUNK: Final = 65_536
"""How many bytes are read at once."""
MAX_HEAD: Final = 65_536
"""The limit for bytes of a response that are not body; a long body in chunks allows one more per eight body bytes."""
_BODY_FOR_EACH_BYTE_OF_FRAMING: Final = 8
_START: Final = b"HTTP/1."
_FINAL: Final = 200
_SWITCHING_PROTOCOLS: Final = 101


@lru_cache
def _request_prefix(url: str) -> str:
    """Return the lines that every request to a URL begins with."""
    parts = urlsplit(url)
    return f"POST {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nUser-Agent: {USER_AGENT}\r\n"


def encode_request(request: HttpRequest) -> bytes:
    """Return the bytes of a request.

    Raises:
        ValueError: a header has characters that HTTP cannot carry.
    """
    headers = "".join([f"{name}: {value}\r\n" for name, value in request.headers.items()])
    head = f"{_request_prefix(request.url)}{headers}Content-Length: {len(request.body)}\r\n\r\n"
    return head.encode("latin-1") + request.body


class ResponseParser:
    """Parses one response from the pieces that arrive, with llhttp; every part of the response has a size limit.

    Interim responses (1xx) are skipped. Data after the response is not parsed; its connection is closed.
    """

    def __init__(self, max_body: int) -> None:
        self._message = _Message(max_body)
        self._llhttp = HttpResponseParser(self._message)
        self._start = b""
        self._received = 0

    @property
    def status(self) -> int:
        """The status, or 0 until the head is complete."""
        return self._message.status

    def feed(self, data: bytes) -> HttpResponse | None:
        """Add a piece; return the response once it is complete. An empty piece is the end of the connection.

        Raises:
            ValueError: the response ends too early, is too long, or is not HTTP.
        """
        message = self._message
        if not data:
            return message.at_end()
        if len(self._start) < len(_START):
            self._check_start(data)
        self._received += len(data)
        message.llhttp = self._llhttp
        try:
            self._llhttp.feed_data(data)
        except HttpParserError as error:
            if not message.is_complete:
                raise ValueError(_reason(error)) from error
            message.closes = True  # else the data that follows could be read as the response to the next request
        finally:
            del message.llhttp  # a reference cycle would keep the body until the next garbage collection
        if message.is_complete:
            return message.response()
        self._check_framing()
        return None

    def _check_start(self, data: bytes) -> None:
        """Refuse leading empty lines and other protocols, which llhttp accepts."""
        self._start += data[: len(_START) - len(self._start)]
        if not _START.startswith(self._start):
            raise ValueError("the response is not HTTP/1.1")

    def _check_framing(self) -> None:
        """Limit head, chunk sizes and trailers: llhttp does not, and httptools copies a long line for each piece."""
        body = len(self._message.body)
        if self._received - body > MAX_HEAD + body // _BODY_FOR_EACH_BYTE_OF_FRAMING:
            raise ValueError("the head of the response is too long")


class _Message:
    """The part of the response that llhttp has parsed. It calls the `on_…` methods; `llhttp` is set only meanwhile."""

    llhttp: HttpResponseParser

    def __init__(self, max_body: int) -> None:
        self._max_body = max_body
        self._headers: dict[bytes, bytes] = {}
        self._ends_with_connection = False
        self.status = 0
        self.body: bytes | bytearray = b""
        self.closes = False
        self.is_complete = False

    def response(self) -> HttpResponse:
        """Return the response, once it is complete."""
        headers = self._headers

        def header(name: str) -> str | None:
            value = headers.get(name.lower().encode("latin-1"))
            return None if value is None else value.decode("latin-1").strip()

        return HttpResponse(self.status, self.body, header, closes=self.closes)

    def at_end(self) -> HttpResponse:
        """Return the response at the end of the connection.

        Raises:
            ValueError: the response is incomplete.
        """
        if not self._ends_with_connection:
            raise ValueError("the connection was closed before the response was complete")
        return self.response()

    def on_message_begin(self) -> None:
        """Handle the first byte of a response."""
        if self.is_complete:
            raise ValueError("more than one response was received")

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header; a header after the body is ignored."""
        if self.status:
            return
        name = name.lower()
        known = self._headers.get(name)
        self._headers[name] = value if known is None else known + b", " + value

    def on_headers_complete(self) -> None:
        """Handle the end of the head of the response, or of an interim one."""
        status = self.llhttp.get_status_code()
        if status == _SWITCHING_PROTOCOLS:
            raise ValueError("the server switches to another protocol")
        if status < _FINAL:
            self._headers.clear()
            return
        coding, size = self._headers.get(b"transfer-encoding"), self._headers.get(b"content-length")
        if coding is not None and coding.strip().lower() != b"chunked":
            raise ValueError("the transfer coding of the response is not supported")
        if size is not None and int(size) > self._max_body:
            raise ValueError(self._too_long())
        self.status = status
        self.closes = not self.llhttp.should_keep_alive()
        self._ends_with_connection = coding is None and size is None

    def on_body(self, part: bytes) -> None:
        """Add a part of the body. A single part is kept without a copy; several are joined, to have fewer objects."""
        if len(self.body) + len(part) > self._max_body:
            raise ValueError(self._too_long())
        if not self.body:
            self.body = part
            return
        if isinstance(self.body, bytes):
            self.body = bytearray(self.body)
        self.body += part

    def on_message_complete(self) -> None:
        """Handle the end of the response, or of an interim one."""
        self.is_complete = self.status != 0

    def _too_long(self) -> str:
        return f"the body of the response is longer than {self._max_body} bytes"


def _reason(error: HttpParserError) -> str:
    """Return why llhttp refused the data; if a method above refused it, return that reason."""
    return str(error.__context__ if isinstance(error, HttpParserCallbackError) and error.__context__ else error)


class Tls:
    """Converts bytes of the network to bytes of HTTP, and back."""

    def __init__(self, context: ssl.SSLContext, host: str) -> None:
        self._incoming = ssl.MemoryBIO()
        self.outgoing = ssl.MemoryBIO()
        self._object = context.wrap_bio(self._incoming, self.outgoing, server_hostname=host)
        self.is_ended = False
        """Whether the other end has announced the end of its data (close_notify)."""

    def do_handshake(self) -> bool:
        """Continue the handshake; return True when it is done. The bytes to send are in `outgoing`.

        Raises:
            ssl.SSLError: the handshake failed, for example because the certificate is not trusted.
        """
        try:
            self._object.do_handshake()
        except ssl.SSLWantReadError:
            return False
        return True

    def receive(self, data: bytes) -> None:
        """Add bytes that arrived from the network during the handshake."""
        if not data:
            raise ConnectionError("the connection was closed during the handshake")
        self._incoming.write(data)

    def encrypt(self, data: bytes) -> bytes:
        """Return the bytes to send over the network for these bytes of HTTP."""
        self._object.write(data)
        return self.outgoing.read()

    def decrypt(self, data: bytes) -> bytes:
        """Return the bytes of HTTP in these bytes of the network: none if a TLS record is incomplete, or at the end.

        Raises:
            ssl.SSLError: the connection ended without a close_notify: someone may have cut it off.
        """
        if data:
            self._incoming.write(data)
        else:
            self._incoming.write_eof()
        parts = []
        try:
            while part := self._object.read(CHUNK):
                parts.append(part)
            self.is_ended = True
        except ssl.SSLWantReadError:
            pass
        return b"".join(parts)
