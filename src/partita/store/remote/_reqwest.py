"""HTTP on `pyreqwest`: blocking and async calls over one Rust core, each with connections of its own."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from partita.errors import StoreClosed
from partita.store.remote._transport import USER_AGENT, AnswerLost, HttpAnswer, HttpCall, Limits, NotSent

if TYPE_CHECKING:
    from pyreqwest.client import BaseClientBuilder, Client, SyncClient
    from pyreqwest.exceptions import PyreqwestError

    Builder = TypeVar("Builder", bound=BaseClientBuilder)

_NEVER_CONNECTED: Final = "client error (Connect)"


class ReqwestTransport:
    """Sends through proxies, too, as the environment says."""

    def __init__(self, limits: Limits, ca_bundle: str | None = None, *, is_local: bool = False) -> None:
        self._limits = limits
        self._ca_bundle = ca_bundle
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
        if self._ca_bundle is not None:
            configured = configured.add_root_certificate_pem(Path(self._ca_bundle).read_bytes())
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
