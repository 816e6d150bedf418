"""Names of background operations, which begin with the time, and the tokens of pages that list them."""

from __future__ import annotations

import re
from typing import Final

from partita.runtime import new_ulid
from partita.wire._parameters import Parameters, refuse, violated

TOKEN_MILLISECONDS: Final = 8 * 3_600_000
"""How long a client token is remembered for the operation that it started."""
MAX_LISTED: Final = 25
_TOKEN: Final = re.compile(r"([0-9a-f]{16})+")
_HEX: Final = 16


def new_name(now: int) -> str:
    """A new, unique name; names from earlier milliseconds sort before it."""
    return f"{now:014}-{new_ulid()[-8:].lower()}"


def page_token(last: str, least: int = 0) -> str:
    """The token of the page that begins after a name: hexadecimal digits, their number a multiple of 16."""
    digits = last.encode().hex()
    return digits.ljust(max(least, -(-len(digits) // _HEX) * _HEX), "0")


def named_by_token(call: Parameters) -> str | None:
    """The name after which the requested page begins, from its token; None for the first page."""
    token = call.text("NextToken")
    if token is None:
        return None
    if not _TOKEN.fullmatch(token):
        refuse(violated(token, "nextToken", "Member must satisfy regular expression pattern: ([0-9a-f]{16})+"))
    return bytes.fromhex(token).rstrip(b"\0").decode(errors="replace")
