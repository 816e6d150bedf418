"""ETags from versions, with `If-Match` and `If-None-Match` for conditional writes and 304 responses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final, TypeAlias

from fastapi import Depends, Header
from pydantic import AfterValidator, WithJsonSchema

from partita import Precondition
from partita.errors import VersionConflict
from partita.http._problems import HttpProblem

_TAG: Final = r'(?:W/)?"[!#-~\x80-\xff]*"'
_are_tags: Final = re.compile(rf"[ \t,]*{_TAG}[ \t]*(?:,[ \t]*(?:{_TAG}[ \t]*)?)*").fullmatch
_is_bare: Final = re.compile(r"0|[1-9][0-9]{0,19}").fullmatch
_VERSION: Final = re.compile(r'(W/)?"(0|[1-9][0-9]{0,19})"')
_EXPECTED: Final = r'^(\*|0|[1-9][0-9]{0,19}|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$'
"""For descriptions. Before and after a tag of a list there may also be tabs and empty elements."""


def _well_formed(header: str) -> str:
    if header.strip() == "*" or _is_bare(header) or _are_tags(header):
        return header
    raise ValueError('this is not an ETag such as "3", nor a list of them, nor *')


_Tags: TypeAlias = Annotated[
    str, AfterValidator(_well_formed), WithJsonSchema({"type": "string", "pattern": _EXPECTED})
]


def etag(version: int) -> str:
    """The ETag of an entity with this version."""
    return f'"{version}"'


def parse_if_match(header: str) -> Precondition:
    """The precondition in an `If-Match` header. A weak ETag, or one that is not of a version, matches nothing."""
    return Precondition(_versions(header, weak=False))


def parse_if_none_match(header: str) -> Precondition:
    """The precondition in the `If-None-Match` header of a write. The comparison is weak."""
    return Precondition(_versions(header, weak=True), negated=True)


async def _if_match(
    if_match: Annotated[
        _Tags | None,
        Header(description="Write only if the item has this `ETag`, or one of several; `*`: if it exists."),
    ] = None,
) -> Precondition | None:
    return None if if_match is None else parse_if_match(if_match)


async def _unless_match(
    if_none_match: Annotated[
        _Tags | None, Header(description="Write only if the item does not have this `ETag`; `*`: if it does not exist.")
    ] = None,
) -> Precondition | None:
    return None if if_none_match is None else parse_if_none_match(if_none_match)


IfMatch = Annotated[Precondition | None, Depends(_if_match)]
"""The versions that a route may overwrite, by `If-Match`; None if the request does not have the header."""

UnlessMatch = Annotated[Precondition | None, Depends(_unless_match)]
"""The versions that a route must not overwrite, by `If-None-Match`; None if the request does not have the header."""


@contextmanager
def precondition_problems(if_match: Precondition | None) -> Iterator[None]:
    """Turn a conflict into a 412 if the caller named versions. Without named versions it stays a 409.

    Raises:
        HttpProblem: 412, the item does not have, or no longer has, a version that `if_match` allows.
    """
    try:
        yield
    except VersionConflict as conflict:
        # `*` allows every version, so it fails only if there is no item.
        if if_match is None or (if_match.versions is None and conflict.current is not None):
            raise
        hint = "Read the item again, and send its new ETag in If-Match."
        raise HttpProblem(412, "precondition_failed", conflict.message, hint=hint) from conflict


IfNoneMatch = Annotated[str | None, Header(description="The `ETag` that the caller has; 304 if it is still current.")]
"""The ETag that a reader already has, for `is_not_modified`."""


def is_not_modified(if_none_match: str | None, tag: str) -> bool:
    """Whether the reader already has the response with this ETag, so that a 304 is enough."""
    if if_none_match is None:
        return False
    tags = [given.strip().removeprefix("W/") for given in if_none_match.split(",")]
    return tag in tags or if_none_match.strip() == "*"


def _versions(header: str, *, weak: bool) -> frozenset[int] | None:
    """The versions that a header names; None for `*`, which means every version."""
    if header.strip() == "*":
        return None
    if _is_bare(header):
        return frozenset((int(header),))
    return frozenset(int(version) for weakness, version in _VERSION.findall(header) if weak or not weakness)
