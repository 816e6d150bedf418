"""Every response carries an `X-Request-Id`: the caller's own where it is well-formed, else a new one."""

from __future__ import annotations

import re
from random import getrandbits
from typing import Final

from starlette.types import Scope

from partita.http import raw_header

_HEADER: Final = b"x-request-id"
_WELL_FORMED: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")


def new_request_id() -> str:
    """An identifier that no other request has."""
    return f"{getrandbits(64):016x}"  # it names a request and protects nothing; forks draw other numbers


def given_request_id(scope: Scope) -> str | None:
    """The identifier that the caller has given to a request; None without a well-formed one."""
    given = raw_header(scope, _HEADER)
    return None if given is None or not _WELL_FORMED.fullmatch(given) else given.decode()


def request_id_header(request_id: str) -> tuple[bytes, bytes]:
    """The header of the response."""
    return _HEADER, request_id.encode()
