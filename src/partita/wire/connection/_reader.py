"""Requests from the bytes of a connection.

The parser is llhttp, which takes HTTP/1.1 to the letter. What it leaves open is refused here: a request in which two
readers could see different things, such as two hosts, must not be executed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, NoReturn

import httptools
from msgspec import Struct

from partita.wire._faults import Fault
from partita.wire._signature import Authorization
from partita.wire.connection._body import Body, ByteBudget
from partita.wire.connection._limits import Limits

_VERSIONS: Final = ("1.1", "1.0")
_LINE_BYTES: Final = 4  # the colon, a space and the end of the line
_AND: Final = ", "
_ONCE: Final = frozenset(
    {
        "authorization",
        "connection",
        "content-encoding",
        "content-length",
        "expect",
        "host",
        "origin",
        "transfer-encoding",
        "x-amz-content-sha256",
        "x-amz-date",
        "x-amz-target",
    }
)
_USUAL: Final = (
    "accept",
    "accept-encoding",
    "amz-sdk-invocation-id",
    "amz-sdk-request",
    "content-type",
    "user-agent",
    "x-amz-security-token",
    "x-amz-user-agent",
    *_ONCE,
)
_NAMES: Final = {spelt.encode(): name for name in _USUAL for spelt in (name, name.title())}
_METHODS: Final = {b"POST": "POST", b"GET": "GET"}


class Head(Struct, frozen=True):
    """The request line and the headers, whose names are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    keep_alive: bool


class HttpRequest(Struct, frozen=True):
    """A request that has come whole."""

    head: Head
    body: Body
    authorization: Authorization | None = None
    """What the head says of the signature, where one is asked for."""


class RequestReader:
    """Reads one request after another.

    Bytes are parsed in pieces no longer than a head may be, and no further than the next request needs: so what waits
    is bytes, not requests, and a head without an end is noticed before it is twice as long as it may be.
    """

    def __init__(self, limits: Limits, budget: ByteBudget, check: Callable[[Head], Authorization | None]) -> None:
        self.is_coming = False
        """Whether a part of a request has come."""
        self.head: Head | None = None
        """Of the request whose body is coming."""
        self._limits = limits
        self._budget = budget
        self._check = check
        self._parser = httptools.HttpRequestParser(self)
        self._unread: bytes | memoryview = b""
        self._complete: deque[HttpRequest] = deque()
        self._fault: Fault | None = None
        self._fed = 0
        """How many bytes have been parsed since the last request."""
        self._url = b""
        self._headers: dict[str, str] = {}
        self._joined = 0
        """How many bytes of the head are in no header, since they were joined to another of the same name."""
        self._body: Body | None = None
        self._authorization: Authorization | None = None
        self._expects = False

    def add(self, data: bytes) -> None:
        """Take bytes that have come."""
        self._unread = b"".join((self._unread, data)) if self._unread else data

    def next_request(self) -> HttpRequest | None:
        """The next request that is complete.

        Raises:
            Fault: it is refused, and whatever follows it with it.
        """
        while not self._complete:
            if self._fault is not None:
                raise self._fault
            if not self._unread:
                return None
            self._parse_piece()
        return self._complete.popleft()

    def expects_continue(self) -> bool:
        """Whether the client waits, with the body, for a sign to go on; true once for each request."""
        expects, self._expects = self._expects, False
        return expects

    def is_head_method(self) -> bool:
        """Whether the request that is read is a HEAD, whose response has no body."""
        return self._parser.get_method() == b"HEAD"

    def close(self) -> None:
        """Let go of everything that has come."""
        if self._body is not None:
            self._body.release()
        for request in self._complete:
            request.body.release()
        self._complete.clear()
        self._unread = b""
        self.head = self._body = None
        self.is_coming = False

    def _parse_piece(self) -> None:
        piece, self._unread = self._unread, b""
        if len(piece) > self._limits.head_bytes:
            view = memoryview(piece)  # whose parts are not copies
            piece, self._unread = view[: self._limits.head_bytes], view[self._limits.head_bytes :]
        self.is_coming = True
        self._fed += len(piece)
        try:
            self._parser.feed_data(piece)
            if self.head is None and self._fed > self._limits.head_bytes:
                self._refuse_large_head()
        except httptools.HttpParserCallbackError:
            if self._fault is None:
                raise
        except httptools.HttpParserError as error:
            self._fault = Fault("SerializationException", f"The request is not valid HTTP/1.1: {error}.")
        except Fault:
            pass  # it is raised when the requests before it have been responded to

    def on_url(self, part: bytes) -> None:
        """A part of what the request asks for."""
        self._url += part

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, or after the chunks of a body a trailer, which nothing bounds."""
        if self.head is not None:
            self._refuse("The server takes no headers after a body.")
        key = _NAMES.get(name) or name.lower().decode()
        value = value.rstrip()
        text = value.decode() if value.isascii() else value.decode("latin-1")  # which takes a third longer
        if key in self._headers:
            text = self._join(key, text)
        self._headers[key] = text

    def on_headers_complete(self) -> None:
        """All of the head; what it says is checked before any of the body is held."""
        if self._fed > self._limits.head_bytes:  # which may be the head, or a part of the body with it
            self._check_size()
        headers, self._headers = self._headers, {}
        keep_alive = self._check_framing(headers)
        method = self._parser.get_method()
        head = Head(_METHODS.get(method) or method.decode(), self._url.decode("latin-1"), headers, keep_alive)
        try:
            self._authorization = self._check(head)
        except Fault as fault:
            self._fault = fault
            raise
        self.head = head
        self._body = Body(self._limits.body_bytes, self._budget)
        self._expects = "expect" in headers and headers["expect"].lower() == "100-continue"

    def on_body(self, part: bytes) -> None:
        """A part of the body."""
        assert self._body is not None  # noqa: S101 - its head has come
        try:
            self._body.add(part)
        except Fault as fault:
            self._fault = fault
            raise

    def on_message_complete(self) -> None:
        """The last byte of a request."""
        assert self.head is not None  # noqa: S101 - it has come
        assert self._body is not None  # noqa: S101 - made with the head
        self._complete.append(HttpRequest(self.head, self._body, self._authorization))
        self.head = self._body = None
        self.is_coming = False
        self._url = b""
        self._fed = self._joined = 0

    def _join(self, key: str, text: str) -> str:
        """The value of a header that is there again."""
        if key in _ONCE:
            self._refuse(f"The header {key} is there twice.")
        self._joined += len(key) + _LINE_BYTES - len(_AND)
        return f"{self._headers[key]}{_AND}{text}"

    def _check_size(self) -> None:
        lines = sum(len(name) + len(value) + _LINE_BYTES for name, value in self._headers.items())
        if len(self._url) + lines + self._joined > self._limits.head_bytes:
            self._refuse_large_head()

    def _check_framing(self, headers: dict[str, str]) -> bool:
        """Refuse what llhttp accepts, and another reader may take for something else; gives whether to keep alive."""
        keep_alive = self._parser.should_keep_alive()
        if not keep_alive or "connection" in headers:  # else it is HTTP/1.1, which alone is kept alive by itself
            keep_alive = self._check_version() and keep_alive
        if self._parser.should_upgrade():
            self._refuse("The server speaks HTTP/1.1 alone, and changes to no other protocol.")
        if "host" not in headers and self._parser.get_http_version() == "1.1":
            self._refuse("The request has no Host.")
        if "transfer-encoding" in headers:
            self._check_coding(headers["transfer-encoding"])
        elif int(headers.get("content-length", "0")) > self._limits.body_bytes:
            limit = self._limits.body_bytes
            self._refuse(f"The body may have {limit} bytes.", "RequestEntityTooLargeException", 413)
        return keep_alive

    def _check_version(self) -> bool:
        """Whether it is HTTP/1.1; before that, every request has a connection of its own."""
        version = self._parser.get_http_version()
        if version not in _VERSIONS:
            self._refuse("The server speaks HTTP/1.1.")
        return version == "1.1"

    def _check_coding(self, coding: str) -> None:
        if coding.lower() != "chunked" or self._parser.get_http_version() != "1.1":
            self._refuse("The body must have a length, or come in chunks.")

    def _refuse_large_head(self) -> NoReturn:
        self._refuse("The headers are too large.", "RequestEntityTooLargeException")

    def _refuse(self, message: str, kind: str = "SerializationException", status: int = 400) -> NoReturn:
        self._fault = Fault(kind, message, status=status)
        raise self._fault
