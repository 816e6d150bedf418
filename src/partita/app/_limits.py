"""Limits of a request: the host that it names, and the size of its target, its headers and its body.

A request beyond the limits is refused without being read further.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from starlette.responses import Response
from starlette.types import Message, Receive, Scope

from partita.http import HttpProblem, problem_response, raw_header
from partita.runtime import AllowedHosts

MAX_BODY_BYTES: Final = 1_000_000

_LINE_BYTES: Final = 4
"""The bytes of a header line besides name and value: `: ` and the end of the line."""


class Limits(Struct, frozen=True):
    """The limits of one app.

    The work for a query model grows with the square of the number of parameters, so a few bytes could keep a server
    busy for seconds. Therefore each part of a request's head has its own limit.
    """

    allowed_hosts: AllowedHosts | None = None
    """The host names that the app accepts; None accepts any."""
    body_bytes: int = MAX_BODY_BYTES
    target_bytes: int = 8_192
    """Path and query together."""
    parameters: int = 100
    """Number of query parameters."""
    headers: int = 100
    header_bytes: int = 32_768
    """All headers together."""

    def refusal(self, scope: Scope) -> Response | None:
        """Return the response to a request beyond the limits (421, 414, 431 or 413), or None if it may continue."""
        if not self._is_for_us(scope):
            return problem_response(421, "host_not_allowed", _NOT_FOR_US, hint=_ALLOW)
        problem = self._target_problem(scope) or self._head_problem(scope["headers"])
        if problem is not None:
            return problem_response(*problem)
        if self._is_too_large(scope):
            return problem_response(413, "body_too_large", self._body_detail)
        return None

    def receiving(self, receive: Receive) -> Receive:
        """Wrap `receive` so that it raises a 413 if the body is longer than allowed, whatever length was declared."""
        received = 0

        async def receive_counting() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self.body_bytes:
                raise HttpProblem(413, "body_too_large", self._body_detail)
            return message

        return receive_counting

    @property
    def _body_detail(self) -> str:
        return f"The body has more than {self.body_bytes:,} bytes."

    def _is_for_us(self, scope: Scope) -> bool:
        if self.allowed_hosts is None:
            return True
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        address = (scope.get("server") or ("",))[0]  # the address of the socket, whatever the request says
        return len(hosts) == 1 and self.allowed_hosts.allows(hosts[0].decode("latin-1"), address)

    def _target_problem(self, scope: Scope) -> tuple[int, str, str] | None:
        query: bytes = scope["query_string"]
        # If the server does not provide the raw path, the decoded one counts, which is never longer.
        if len(scope.get("raw_path") or scope["path"]) + len(query) > self.target_bytes:
            return 414, "target_too_long", f"Path and query have more than {self.target_bytes:,} bytes."
        if query.count(b"&") >= self.parameters:
            return 414, "too_many_parameters", f"The query has more than {self.parameters} parameters."
        return None

    def _head_problem(self, headers: list[tuple[bytes, bytes]]) -> tuple[int, str, str] | None:
        if len(headers) > self.headers:
            return 431, "head_too_large", f"The request has more than {self.headers} headers."
        length = _LINE_BYTES * len(headers)
        for name, value in headers:
            length += len(name) + len(value)
        if length > self.header_bytes:
            return 431, "head_too_large", f"The headers have more than {self.header_bytes:,} bytes."
        return None

    def _is_too_large(self, scope: Scope) -> bool:
        """Whether the declared length of the body, the first one if there are several, is beyond the limit."""
        declared = raw_header(scope, b"content-length")
        if declared is None:
            return False
        # Python does not parse numbers with thousands of digits, so one with more digits than the limit is not parsed.
        digits = declared.decode("latin-1").lstrip("0")
        return digits.isdecimal() and (len(digits) > len(str(self.body_bytes)) or int(digits) > self.body_bytes)


_NOT_FOR_US: Final = "This server does not accept the host name in the request's Host header."
_ALLOW: Final = "Start the server with --allowed-host NAME, or add the name to PARTITA_ALLOWED_HOSTS."
