"""A header of a request as the server gives it, without the mapping that Starlette makes of all of them."""

from __future__ import annotations

from starlette.types import Scope


def raw_header(scope: Scope, name: bytes) -> bytes | None:
    """The first header of a name, which is given in lower case; None without one."""
    for each, value in scope["headers"]:
        if each == name:
            found: bytes = value
            return found
    return None
