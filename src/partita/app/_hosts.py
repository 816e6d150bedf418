"""Which names an app answers to: a request for another host is refused, before anything else reads it."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from partita.http import problem_response
from partita.runtime import AllowedHosts


class HostCheck:
    """Middleware that refuses requests whose `Host` is not allowed with 421."""

    def __init__(self, app: ASGIApp, allowed_hosts: AllowedHosts) -> None:
        self.app = app
        self.allowed_hosts = allowed_hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, if it is for this server."""
        if scope["type"] != "http" or self._is_allowed(scope):
            await self.app(scope, receive, send)
            return
        detail = "This server does not answer to the name that the request has as its Host."
        hint = "Start it with --allowed-host NAME, or name it in PARTITA_ALLOWED_HOSTS."
        await problem_response(421, "host_not_allowed", detail, hint=hint)(scope, receive, send)

    def _is_allowed(self, scope: Scope) -> bool:
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        address = (scope.get("server") or ("",))[0]  # what the socket is bound to, whatever the request says
        return len(hosts) == 1 and self.allowed_hosts.allows(hosts[0], address)
