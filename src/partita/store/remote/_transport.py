"""The seam to HTTP: one call out, one answer back, and whether a call that failed was sent at all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from msgspec import Struct

from partita.errors import StoreClosed

if TYPE_CHECKING:
    from pyreqwest.client import BaseClientBuilder, Client, SyncClient
    from pyreqwest.exceptions import PyreqwestError

    Builder = TypeVar("Builder", bound=BaseClientBuilder)

USER_AGENT: Final = "partita"
_NEVER_CONNECTED: Final = "client error (Connect)"


class HttpCall(Struct, frozen=True):
    """One signed request. Its headers hold credentials, so no `repr` shows them."""

    url: str
    headers: Mapping[str, str]
    body: bytes

    def __repr__(self) -> str:
        return f"HttpCall({self.url!r}, {len(self.body)} bytes)"


class HttpAnswer(Struct, frozen=True):
    """What came back, whole."""

    status: int
    body: Any
    """Anything with bytes in it."""
    header: Callable[[str], str | None]
    """Gives a header by its name, in any case."""


class NotSent(Exception):
    """No connection was made: the call certainly did not happen."""


class AnswerLost(Exception):
    """The call may have arrived, but no whole answer came back."""


class Transport(Protocol):
    """Sends calls. Safe for any number of threads and event loops at once. Never sends a call twice."""

    def send(self, call: HttpCall) -> HttpAnswer:
        """Send and wait for the whole answer.

        Raises:
            NotSent: it certainly did not happen.
            AnswerLost: it may have happened.
        """
        ...

    async def send_async(self, call: HttpCall) -> HttpAnswer:
        """The same, without blocking the event loop."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...


class Limits(Struct, frozen=True):
    """How long to wait, in seconds, how many connections to keep, and how often to try."""

    connect: float = 2.0
    read: float = 10.0
    """The longest silence while an answer is awaited."""
    connections: int = 100
    """Calls at once; others wait."""
    wait: float = 10.0
    """The longest wait for a connection that others use."""
    idle: float = 20.0
    """A connection that was idle for this long is not used again."""
    tries: int = 3
    """How often one request is sent at most; the session has retries of its own around these."""


class HttpTransport:
    """The transport on `pyreqwest`: blocking and async calls over one Rust core, each with connections of its own."""

    def __init__(self, limits: Limits, *, is_local: bool) -> None:
        self._limits = limits
        self._is_local = is_local
        self._opening = threading.Lock()
        self._blocking: SyncClient | None = None
        self._async: Client | None = None
        self._closed = False

    def send(self, call: HttpCall) -> HttpAnswer:
        """Send and wait for the whole answer."""
        from pyreqwest.exceptions import PyreqwestError  # noqa: PLC0415 - of the extra `aws`

        client = self._blocking or self._blocking_client()
        try:
            response = client.post(call.url).headers(call.headers).body_bytes(call.body).build().send()
            return HttpAnswer(response.status, response.bytes(), response.get_header)
        except PyreqwestError as error:
            raise self._failure(error) from error

    async def send_async(self, call: HttpCall) -> HttpAnswer:
        """The same, without blocking the event loop."""
        from pyreqwest.exceptions import PyreqwestError  # noqa: PLC0415 - of the extra `aws`

        client = self._async or self._async_client()
        try:
            response = await client.post(call.url).headers(call.headers).body_bytes(call.body).build().send()
            return HttpAnswer(response.status, await response.bytes(), response.get_header)
        except PyreqwestError as error:
            raise self._failure(error) from error

    def close(self) -> None:
        """Close the connections; those in use end first."""
        with self._opening:
            self._closed = True
            if self._blocking is not None:
                self._blocking.close()
            self._blocking = self._async = None

    def _blocking_client(self) -> SyncClient:
        from pyreqwest.client import SyncClientBuilder  # noqa: PLC0415 - of the extra `aws`

        with self._opening:
            self._check_open()
            if self._blocking is None:
                self._blocking = self._configured(SyncClientBuilder()).build()
            return self._blocking

    def _async_client(self) -> Client:
        from pyreqwest.client import ClientBuilder  # noqa: PLC0415 - of the extra `aws`

        with self._opening:
            self._check_open()
            if self._async is None:
                self._async = self._configured(ClientBuilder()).build()
            return self._async

    def _check_open(self) -> None:
        if self._closed:
            raise StoreClosed("The store was closed.")

    def _configured(self, builder: Builder) -> Builder:
        """No redirects, which would repeat a write, and no compression, which the checksum does not survive."""
        limits = self._limits
        configured = (
            builder.user_agent(USER_AGENT)
            .connect_timeout(timedelta(seconds=limits.connect))
            .read_timeout(timedelta(seconds=limits.read))
            .pool_timeout(timedelta(seconds=limits.wait))
            .pool_idle_timeout(timedelta(seconds=limits.idle))
            .pool_max_idle_per_host(limits.connections)
            .max_connections(limits.connections)
            .follow_redirects(False)
            .gzip(False)
            .brotli(False)
            .zstd(False)
            .deflate(False)
        )
        return configured.no_proxy() if self._is_local else configured

    def _failure(self, error: PyreqwestError) -> Exception:
        from pyreqwest.exceptions import ClientClosedError, PoolTimeoutError  # noqa: PLC0415 - of the extra `aws`

        if isinstance(error, ClientClosedError):
            return StoreClosed("The store was closed.")
        details = getattr(error, "details", None) or {}
        causes = [cause["message"] for cause in details.get("causes") or ()]
        reason = causes[-1] if causes else error.message
        # The library's ConnectError also means a connection that was lost later, so its causes have to tell.
        if isinstance(error, PoolTimeoutError) or _NEVER_CONNECTED in causes:
            return NotSent(reason)
        return AnswerLost(reason)
