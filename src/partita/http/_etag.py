"""ETags from versions; `If-Match` and `If-None-Match` make a write depend on them, and save a reader the body."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Annotated, Final

from fastapi import Depends, Header

from partita.errors import VersionConflict
from partita.http._problems import Refusal

_TAG: Final = re.compile(r'(?:^|,)\s*(W/)?"(\d{1,20})"\s*(?=,|$)', re.ASCII)


class _EveryVersion(Collection[int]):
    """All versions that an item can have. There is no end to them, so they cannot be listed."""

    def __contains__(self, version: object) -> bool:
        return True

    def __iter__(self) -> Iterator[int]:
        raise TypeError("every version is allowed: ask whether one is among them")

    def __len__(self) -> int:
        return sys.maxsize


ANY: Final = _EveryVersion()
"""What `*` stands for. It is not None, no header: what is not there has no version, and so none of these."""


def etag(version: int) -> str:
    """The ETag of an entity in that version."""
    return f'"{version}"'


def versions_allowed(
    if_match: Annotated[str | None, Header(description="Write only over this version: its `ETag`, or `*`.")] = None,
) -> Collection[int] | None:
    """The versions that `If-Match` allows; None without it. What is no ETag of ours matches nothing."""
    return None if if_match is None else _versions(if_match, weak=False)


IfMatch = Annotated[Collection[int] | None, Depends(versions_allowed)]
"""The versions over which a route may write; None where the caller does not say."""


def versions_refused(
    if_none_match: Annotated[
        str | None, Header(description="Do not write over this version: its `ETag`; `*`: only where there is none.")
    ] = None,
) -> Collection[int]:
    """The versions that `If-None-Match` keeps from being written over; it compares weakly."""
    return () if if_none_match is None else _versions(if_none_match, weak=True)


UnlessMatch = Annotated[Collection[int], Depends(versions_refused)]
"""The versions over which a route must not write."""


@contextmanager
def precondition(allowed: Collection[int] | None) -> Iterator[None]:
    """Tells a version that `If-Match` did not allow (412) from a conflict of two writers (409)."""
    try:
        yield
    except VersionConflict as conflict:
        # `*` allows whatever there is, so only what is not there fails it.
        if allowed is None or (allowed is ANY and conflict.current is not None):
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


def _versions(header: str, *, weak: bool) -> Collection[int]:
    if header.strip() == "*":
        return ANY
    return frozenset(int(version) for weakness, version in _TAG.findall(header) if weak or not weakness)
