"""ETags, `If-Match` and `If-None-Match`."""

from __future__ import annotations

import pytest

from partita.errors import VersionConflict
from partita.http import Refusal, etag, precondition, still_right
from partita.http._etag import ANY, versions_allowed, versions_refused

pytestmark = pytest.mark.req("T30")


def test_an_etag_matches_itself() -> None:
    assert versions_allowed(etag(7)) == frozenset({7})


@pytest.mark.parametrize(
    ("header", "allowed"),
    [
        (None, None),
        ('"1"', {1}),
        ('"1", "12"', {1, 12}),
        (' "1" ,"2" ', {1, 2}),
        ('W/"1"', set()),
        ("1", set()),
        ('"x"', set()),
        ("", set()),
    ],
)
def test_if_match_says_which_versions_are_allowed(header: str | None, allowed: set[int] | None) -> None:
    found = versions_allowed(header)
    assert (None if found is None else set(found)) == allowed


@pytest.mark.parametrize(
    ("header", "refused"),
    [(None, set()), ('"1"', {1}), ('W/"1"', {1}), ('"1", W/"12"', {1, 12}), ('W/"x", 1', set()), ("", set())],
)
def test_if_none_match_says_which_versions_are_refused(header: str | None, refused: set[int]) -> None:
    assert set(versions_refused(header)) == refused


def test_a_star_stands_for_every_version_and_not_for_no_header() -> None:
    assert versions_allowed(" * ") is versions_refused("*") is ANY
    assert all(version in ANY for version in (0, 1, 10**30))
    assert len(ANY) > 0
    with pytest.raises(TypeError, match="every version"):
        list(ANY)


def test_a_conflict_under_if_match_is_a_failed_precondition() -> None:
    with pytest.raises(Refusal) as refused, precondition(frozenset({1})):
        raise VersionConflict("changed")
    assert (refused.value.status_code, refused.value.code) == (412, "precondition_failed")


def test_a_conflict_without_if_match_stays_one() -> None:
    with pytest.raises(VersionConflict), precondition(None):
        raise VersionConflict("changed")


def test_a_star_is_failed_by_what_is_not_there_alone() -> None:
    with pytest.raises(Refusal) as refused, precondition(ANY):
        raise VersionConflict("There is none.")
    assert (refused.value.status_code, refused.value.code) == (412, "precondition_failed")
    with pytest.raises(VersionConflict), precondition(ANY):
        raise VersionConflict("changed", current=object())


@pytest.mark.parametrize(
    ("header", "right"),
    [
        (None, False),
        ("*", True),
        ('"1"', True),
        ('W/"1"', True),
        ('"0", W/"1"', True),
        ('"2"', False),
        ("1", False),
        ("", False),
    ],
)
def test_if_none_match_says_what_the_reader_has(header: str | None, right: bool) -> None:  # noqa: FBT001
    assert still_right(header, etag(1)) == right
