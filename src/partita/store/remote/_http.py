"""The transport of the store: sockets for blocking calls, `pyreqwest` for async ones and through proxies."""

from __future__ import annotations

import os
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from partita.store.remote._endpoints import is_local
from partita.store.remote._reqwest import ReqwestTransport
from partita.store.remote._sockets import SocketTransport
from partita.store.remote._transport import HttpAnswer, HttpCall, Limits


class HttpTransport:
    """Blocking calls wait on their own socket; tasks share the connections of one Rust core."""

    def __init__(self, limits: Limits, url: str) -> None:
        ca_bundle = os.environ.get("AWS_CA_BUNDLE")
        self._async = ReqwestTransport(limits, ca_bundle, is_local=is_local(url))
        self._blocking = self._async if _has_proxy(url) else SocketTransport(limits, ca_bundle)

    def send(self, call: HttpCall) -> HttpAnswer:
        """Send and wait for the whole answer."""
        return self._blocking.send(call)

    async def send_async(self, call: HttpCall) -> HttpAnswer:
        """The same, without blocking the event loop."""
        return await self._async.send_async(call)

    def close(self) -> None:
        """Close the connections."""
        self._blocking.close()
        self._async.close()


def _has_proxy(url: str) -> bool:
    parts = urlsplit(url)
    return not is_local(url) and parts.scheme in getproxies() and not proxy_bypass(parts.hostname or "")
