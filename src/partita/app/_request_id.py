"""Every response carries an `X-Request-Id`: the caller's own where it is well-formed, else a new one."""

from __future__ import annotations

import re
import secrets
from typing import Final

from starlette.types import Scope

_HEADER: Final = b"x-request-id"
_WELL_FORMED: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")


def new_request_id() -> str:
    """An identifier that no other request has."""
    return secrets.token_hex(8)


def given_request_id(scope: Scope) -> str | None:
    """The identifier that the caller has given to a request; None without a well-formed one."""
    given: bytes = next((value for name, value in scope["headers"] if name == _HEADER), b"")
    return given.decode() if _WELL_FORMED.fullmatch(given) else None


def request_id_header(request_id: str) -> tuple[bytes, bytes]:
    """The header of the response."""
    return _HEADER, request_id.encode()
