"""Parses requests from the bytes of a connection.

The parser is llhttp, which is strict about HTTP/1.1. Requests that it accepts but that two parsers could interpret
differently, such as those with two hosts, are refused here and not executed.
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
    """The request line and the headers, with header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    keep_alive: bool


class HttpRequest(Struct, frozen=True):
    """A complete request."""

    head: Head
    body: Body
    authorization: Authorization | None = None
    """The signature from the head, if the server requires one."""


class RequestReader:
    """Reads one request after another.

    Bytes are parsed in pieces of at most the maximum head size, and only as far as the next request needs. So bytes are
    buffered instead of parsed requests, and an endless head is detected before it is twice as long as allowed.
    """

    def __init__(self, limits: Limits, budget: ByteBudget, check: Callable[[Head], Authorization | None]) -> None:
        self.is_coming = False
        """Whether a request has partly arrived."""
        self.head: Head | None = None
        """The head of the request whose body is arriving."""
        self._limits = limits
        self._budget = budget
        self._check = check
        self._parser = httptools.HttpRequestParser(self)
        self._unread: bytes | memoryview = b""
        self._complete: deque[HttpRequest] = deque()
        self._fault: Fault | None = None
        self._fed = 0
        """How many bytes were parsed since the last complete request."""
        self._url = b""
        self._headers: dict[str, str] = {}
        self._joined = 0
        """How many bytes of the head are not in `_headers`, because repeated headers were joined."""
        self._body: Body | None = None
        self._authorization: Authorization | None = None
        self._expects = False

    def add(self, data: bytes) -> None:
        """Add received bytes."""
        self._unread = b"".join((self._unread, data)) if self._unread else data

    def next_request(self) -> HttpRequest | None:
        """The next complete request, or None if there is none yet.

        Raises:
            Fault: the request is refused, together with everything that follows it.
        """
        while not self._complete:
            if self._fault is not None:
                raise self._fault
            if not self._unread:
                return None
            self._parse_piece()
        return self._complete.popleft()

    def expects_continue(self) -> bool:
        """Whether the client waits for `100 Continue` before it sends the body; true once per request."""
        expects, self._expects = self._expects, False
        return expects

    def is_head_method(self) -> bool:
        """Whether the current request is a HEAD, whose response has no body."""
        return self._parser.get_method() == b"HEAD"

    def close(self) -> None:
        """Discard everything that was received."""
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
            view = memoryview(piece)  # slicing a memoryview does not copy
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
            pass  # it is raised after the responses to the requests before it

    def on_url(self, part: bytes) -> None:
        """Add a part of the request target."""
        self._url += part

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header. Refuse a trailer after a chunked body, because the parser does not limit trailers."""
        if self.head is not None:
            self._refuse("The server accepts no headers after a body.")
        key = _NAMES.get(name) or name.lower().decode()
        value = value.rstrip()
        text = value.decode() if value.isascii() else value.decode("latin-1")  # decoding latin-1 takes a third longer
        if key in self._headers:
            text = self._join(key, text)
        self._headers[key] = text

    def on_headers_complete(self) -> None:
        """Check the head when it is complete, before any of the body is buffered."""
        if self._fed > self._limits.head_bytes:  # these bytes may include a part of the body
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
        """Add a part of the body."""
        assert self._body is not None  # noqa: S101 - its head is complete
        try:
            self._body.add(part)
        except Fault as fault:
            self._fault = fault
            raise

    def on_message_complete(self) -> None:
        """Finish a request after its last byte."""
        assert self.head is not None  # noqa: S101 - the head is complete
        assert self._body is not None  # noqa: S101 - created with the head
        self._complete.append(HttpRequest(self.head, self._body, self._authorization))
        self.head = self._body = None
        self.is_coming = False
        self._url = b""
        self._fed = self._joined = 0

    def _join(self, key: str, text: str) -> str:
        """The joined value of a repeated header."""
        if key in _ONCE:
            self._refuse(f"The request has the header {key} twice.")
        self._joined += len(key) + _LINE_BYTES - len(_AND)
        return f"{self._headers[key]}{_AND}{text}"

    def _check_size(self) -> None:
        lines = sum(len(name) + len(value) + _LINE_BYTES for name, value in self._headers.items())
        if len(self._url) + lines + self._joined > self._limits.head_bytes:
            self._refuse_large_head()

    def _check_framing(self, headers: dict[str, str]) -> bool:
        """Refuse framing that other parsers than llhttp may interpret differently. Return whether to keep alive."""
        keep_alive = self._parser.should_keep_alive()
        if not keep_alive or "connection" in headers:  # else it is HTTP/1.1, the only version kept alive by default
            keep_alive = self._check_version() and keep_alive
        if self._parser.should_upgrade():
            self._refuse("The server only speaks HTTP/1.1 and does not upgrade to another protocol.")
        if "host" not in headers and self._parser.get_http_version() == "1.1":
            self._refuse("The request has no Host header.")
        if "transfer-encoding" in headers:
            self._check_coding(headers["transfer-encoding"])
        elif int(headers.get("content-length", "0")) > self._limits.body_bytes:
            limit = self._limits.body_bytes
            self._refuse(f"The body may have at most {limit} bytes.", "RequestEntityTooLargeException", 413)
        return keep_alive

    def _check_version(self) -> bool:
        """Whether it is HTTP/1.1; in older versions, every request has its own connection."""
        version = self._parser.get_http_version()
        if version not in _VERSIONS:
            self._refuse("The server only speaks HTTP/1.1 and HTTP/1.0.")
        return version == "1.1"

    def _check_coding(self, coding: str) -> None:
        if coding.lower() != "chunked" or self._parser.get_http_version() != "1.1":
            self._refuse("The body must have a Content-Length or be chunked.")

    def _refuse_large_head(self) -> NoReturn:
        self._refuse("The headers are too large.", "RequestEntityTooLargeException")

    def _refuse(self, message: str, kind: str = "SerializationException", status: int = 400) -> NoReturn:
        self._fault = Fault(kind, message, status=status)
        raise self._fault
