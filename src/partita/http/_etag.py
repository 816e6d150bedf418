"""ETags from versions; `If-Match` and `If-None-Match` make a write depend on them, and save a reader the body."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final

from fastapi import Depends, Header

from partita import Precondition
from partita.errors import VersionConflict
from partita.http._problems import HttpProblem

_TAG: Final = re.compile(r'(?:^|,)\s*(W/)?"(\d{1,20})"\s*(?=,|$)', re.ASCII)


def etag(version: int) -> str:
    """The ETag of an entity in that version."""
    return f'"{version}"'


def parse_if_match(header: str) -> Precondition:
    """The precondition in `If-Match`. An ETag that is weak or not of an entity matches nothing."""
    return Precondition(_versions(header, weak=False))


def parse_if_none_match(header: str) -> Precondition:
    """The precondition in the `If-None-Match` of a write; it compares weakly."""
    return Precondition(_versions(header, weak=True), negated=True)


async def _if_match(
    if_match: Annotated[str | None, Header(description="Write only over this version: its `ETag`, or `*`.")] = None,
) -> Precondition | None:
    return None if if_match is None else parse_if_match(if_match)


async def _unless_match(
    if_none_match: Annotated[
        str | None, Header(description="Do not write over this version: its `ETag`; `*`: only where there is none.")
    ] = None,
) -> Precondition | None:
    return None if if_none_match is None else parse_if_none_match(if_none_match)


IfMatch = Annotated[Precondition | None, Depends(_if_match)]
"""The versions over which a route may write; None where the caller does not say."""

UnlessMatch = Annotated[Precondition | None, Depends(_unless_match)]
"""The versions over which a route must not write, by `If-None-Match`; None where the caller does not say."""


@contextmanager
def precondition_problems(if_match: Precondition | None) -> Iterator[None]:
    """Respond with 412 to a conflict where the caller named versions; one between two other writers stays a 409.

    Raises:
        HttpProblem: 412, the item does not have a version that `if_match` allows, or no longer.
    """
    try:
        yield
    except VersionConflict as conflict:
        # `*` allows whatever there is, so it fails only where there is no item.
        if if_match is None or (if_match.versions is None and conflict.current is not None):
            raise
        hint = "Read it again, and send its new ETag in If-Match."
        raise HttpProblem(412, "precondition_failed", conflict.message, hint=hint) from conflict


IfNoneMatch = Annotated[str | None, Header(description="The `ETag` that the caller has; 304 where it is current.")]
"""What a reader has already, for `is_not_modified`."""


def is_not_modified(if_none_match: str | None, tag: str) -> bool:
    """Whether a reader has the response with this ETag already, so that 304 is enough."""
    if if_none_match is None:
        return False
    tags = [given.strip().removeprefix("W/") for given in if_none_match.split(",")]
    return tag in tags or if_none_match.strip() == "*"


def _versions(header: str, *, weak: bool) -> frozenset[int] | None:
    """The versions that a header names; None for `*`, which stands for every version."""
    if header.strip() == "*":
        return None
    return frozenset(int(version) for weakness, version in _TAG.findall(header) if weak or not weakness)
