"""ETags from versions; `If-Match` makes a write depend on them, and `If-None-Match` saves a reader the body."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final

from fastapi import Depends, Header

from partita.errors import VersionConflict
from partita.http._problems import Refusal

_STRONG: Final = re.compile(r'(?:^|,)\s*"(\d{1,20})"\s*(?=,|$)', re.ASCII)


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


IfNoneMatch = Annotated[str | None, Header(description="The `ETag` that the caller has; 304 where it is still right.")]
"""What a reader has already, for `still_right`."""


def still_right(if_none_match: str | None, tag: str) -> bool:
    """Whether a reader has the answer with this ETag already, so that 304 is enough."""
    if if_none_match is None:
        return False
    tags = [given.strip().removeprefix("W/") for given in if_none_match.split(",")]
    return tag in tags or if_none_match.strip() == "*"
