"""HTTP/1.1 and TLS as far as they are needed here, without input and output: only bytes in and bytes out."""

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
"""The most bytes of a response besides its body; a long body in chunks may have one more for every eight of its own."""
_BODY_FOR_EACH_BYTE_OF_FRAMING: Final = 8
_START: Final = b"HTTP/1."
_FINAL: Final = 200
_SWITCHING_PROTOCOLS: Final = 101


@lru_cache
def _request_prefix(url: str) -> str:
    """The lines that every request to a URL begins with."""
    parts = urlsplit(url)
    return f"POST {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nUser-Agent: {USER_AGENT}\r\n"


def encode_request(request: HttpRequest) -> bytes:
    """A request as it is sent.

    Raises:
        ValueError: a header has characters that HTTP cannot carry.
    """
    headers = "".join([f"{name}: {value}\r\n" for name, value in request.headers.items()])
    head = f"{_request_prefix(request.url)}{headers}Content-Length: {len(request.body)}\r\n\r\n"
    return head.encode("latin-1") + request.body


class ResponseParser:
    """Parses one response from the pieces that arrive, by llhttp; no part of it is without a bound.

    Interim responses (1xx) are passed over. What comes after the response is not read: its connection is closed.
    """

    def __init__(self, max_body: int) -> None:
        self._message = _Message(max_body)
        self._llhttp = HttpResponseParser(self._message)
        self._start = b""
        self._received = 0

    @property
    def status(self) -> int:
        """The status, once the head has come; until then 0."""
        return self._message.status

    def feed(self, data: bytes) -> HttpResponse | None:
        """The response, once its last piece has come; an empty piece is the end of the connection.

        Raises:
            ValueError: it ends too early, is too long, or is not HTTP.
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
            message.closes = True  # what follows might be taken for the response to the next request
        finally:
            del message.llhttp  # a circle of references would keep the body until the next garbage collection
        if message.is_complete:
            return message.response()
        self._check_framing()
        return None

    def _check_start(self, data: bytes) -> None:
        """Refuse empty lines and other protocols, which llhttp takes."""
        self._start += data[: len(_START) - len(self._start)]
        if not _START.startswith(self._start):
            raise ValueError("the response is not HTTP/1.1")

    def _check_framing(self) -> None:
        """Bound head, chunk sizes and trailers: llhttp does not, and httptools copies a long line again and again."""
        body = len(self._message.body)
        if self._received - body > MAX_HEAD + body // _BODY_FOR_EACH_BYTE_OF_FRAMING:
            raise ValueError("the head of the response is too long")


class _Message:
    """What llhttp has found so far; it calls the methods `on_…`, and while it does, `llhttp` is there."""

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
        """The response, when all of it has come."""
        headers = self._headers

        def header(name: str) -> str | None:
            value = headers.get(name.lower().encode("latin-1"))
            return None if value is None else value.decode("latin-1").strip()

        return HttpResponse(self.status, self.body, header, closes=self.closes)

    def at_end(self) -> HttpResponse:
        """The response, when the connection has come to its end.

        Raises:
            ValueError: not all of it has come.
        """
        if not self._ends_with_connection:
            raise ValueError("the connection was closed before the response was complete")
        return self.response()

    def on_message_begin(self) -> None:
        """The first byte of a response."""
        if self.is_complete:
            raise ValueError("more than one response came")

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header; one that comes after the body is not wanted."""
        if self.status:
            return
        name = name.lower()
        known = self._headers.get(name)
        self._headers[name] = value if known is None else known + b", " + value

    def on_headers_complete(self) -> None:
        """The end of the head of the response, or of an interim one."""
        status = self.llhttp.get_status_code()
        if status == _SWITCHING_PROTOCOLS:
            raise ValueError("the server changes to another protocol")
        if status < _FINAL:
            self._headers.clear()
            return
        coding, size = self._headers.get(b"transfer-encoding"), self._headers.get(b"content-length")
        if coding is not None and coding.strip().lower() != b"chunked":
            raise ValueError("the transfer coding of the response is not known")
        if size is not None and int(size) > self._max_body:
            raise ValueError(self._too_long())
        self.status = status
        self.closes = not self.llhttp.should_keep_alive()
        self._ends_with_connection = coding is None and size is None

    def on_body(self, part: bytes) -> None:
        """A part of the body. One alone is kept as it is; many are put together, since each would cost an object."""
        if len(self.body) + len(part) > self._max_body:
            raise ValueError(self._too_long())
        if not self.body:
            self.body = part
            return
        if isinstance(self.body, bytes):
            self.body = bytearray(self.body)
        self.body += part

    def on_message_complete(self) -> None:
        """The end of the response, or of an interim one."""
        self.is_complete = self.status != 0

    def _too_long(self) -> str:
        return f"the body of the response is longer than {self._max_body} bytes"


def _reason(error: HttpParserError) -> str:
    """Why llhttp refused; where a method above did, its reason."""
    return str(error.__context__ if isinstance(error, HttpParserCallbackError) and error.__context__ else error)


class Tls:
    """Bytes of the network to bytes of HTTP, and back."""

    def __init__(self, context: ssl.SSLContext, host: str) -> None:
        self._incoming = ssl.MemoryBIO()
        self.outgoing = ssl.MemoryBIO()
        self._object = context.wrap_bio(self._incoming, self.outgoing, server_hostname=host)
        self.is_ended = False
        """Whether the other end has said that nothing more comes."""

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
        """What these bytes of the network bring; empty where a record is not complete yet, and at the end.

        Raises:
            ssl.SSLError: the connection ended, but the other end did not say so: someone may have cut it off.
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
