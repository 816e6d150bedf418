"""ETags from versions, and the `If-Match` header that makes a write depend on them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final

from fastapi import Depends, Header

from partita.errors import VersionConflict
from partita.http._problems import Refusal

_STRONG: Final = re.compile(r'(?:^|,)\s*"(\d+)"\s*(?=,|$)')


def etag(version: int) -> str:
    """The ETag of an entity in that version."""
    return f'"{version}"'


def versions_allowed(
    if_match: Annotated[str | None, Header(description="Write only over this version: its `ETag`, or `*`.")] = None,
) -> frozenset[int] | None:
    """The versions that `If-Match` allows; None for any. What is no ETag of ours matches nothing."""
    if if_match is None or if_match.strip() == "*":
        return None
    return frozenset(int(version) for version in _STRONG.findall(if_match))


IfMatch = Annotated[frozenset[int] | None, Depends(versions_allowed)]
"""The versions over which a route may write; None for any."""


@contextmanager
def precondition(allowed: frozenset[int] | None) -> Iterator[None]:
    """Tells a version that `If-Match` did not allow (412) from a conflict of two writers (409)."""
    try:
        yield
    except VersionConflict as conflict:
        if allowed is None:
            raise
        hint = "Read it again, and send its new ETag in If-Match."
        raise Refusal(412, "precondition_failed", conflict.message, hint=hint) from conflict
