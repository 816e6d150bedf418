"""The `X-Request-Id` of every response: the one of the request if it is well-formed, otherwise a new one."""

from __future__ import annotations

import re
from random import getrandbits
from typing import Final

from starlette.types import Scope

from partita.http import raw_header

_HEADER: Final = b"x-request-id"
_WELL_FORMED: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")


def new_request_id() -> str:
    """Return a new identifier, which no other request has."""
    return f"{getrandbits(64):016x}"  # need not be secret; forked processes draw different numbers


def given_request_id(scope: Scope) -> str | None:
    """Return the identifier that the caller gave to the request, or None if there is no well-formed one."""
    given = raw_header(scope, _HEADER)
    return None if given is None or not _WELL_FORMED.fullmatch(given) else given.decode()


def request_id_header(request_id: str) -> tuple[bytes, bytes]:
    """The header of the response."""
    return _HEADER, request_id.encode()
