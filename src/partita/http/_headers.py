"""Read one raw header of a request, without the mapping of all headers that Starlette builds."""

from __future__ import annotations

from starlette.types import Scope


def raw_header(scope: Scope, name: bytes) -> bytes | None:
    """Return the value of the first header with this lower-case name, or None."""
    for each, value in scope["headers"]:
        if each == name:
            found: bytes = value
            return found
    return None
