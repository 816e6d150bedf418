"""ETags, `If-Match` and `If-None-Match`."""

from __future__ import annotations

import pytest

from partita import Precondition
from partita.errors import VersionConflict
from partita.http import HttpProblem, etag, is_not_modified, precondition_problems
from partita.http._etag import parse_if_match, parse_if_none_match

pytestmark = pytest.mark.req("T30")

ANY = Precondition()


def test_an_etag_matches_itself() -> None:
    assert parse_if_match(etag(7)).allows(7)


@pytest.mark.parametrize(
    ("header", "allowed"),
    [
        ('"1"', {1}),
        ('"1", "12"', {1, 12}),
        (' "1" ,"2" ', {1, 2}),
        ('"1",, "12",', {1, 12}),
        ('W/"1"', set()),
        ('W/"1", "2"', {2}),
        ("1", {1}),
        ('"x"', set()),
        ('"01"', set()),
    ],
)
def test_if_match_says_which_versions_are_allowed(header: str, allowed: set[int]) -> None:
    assert parse_if_match(header) == Precondition(frozenset(allowed))


@pytest.mark.parametrize(
    ("header", "refused"),
    [('"1"', {1}), ('W/"1"', {1}), ('"1", W/"12"', {1, 12}), ("1", {1}), ('W/"x", "1-2"', set())],
)
def test_if_none_match_says_which_versions_are_refused(header: str, refused: set[int]) -> None:
    assert parse_if_none_match(header) == Precondition(frozenset(refused), negated=True)


def test_a_star_stands_for_every_version() -> None:
    assert parse_if_match(" * ") == ANY
    assert parse_if_none_match("*") == Precondition(negated=True)


def test_a_conflict_under_if_match_is_a_failed_precondition() -> None:
    with pytest.raises(HttpProblem) as failed, precondition_problems(Precondition(frozenset({1}))):
        raise VersionConflict("changed")
    assert (failed.value.status_code, failed.value.code) == (412, "precondition_failed")


def test_a_conflict_without_if_match_stays_one() -> None:
    with pytest.raises(VersionConflict), precondition_problems(None):
        raise VersionConflict("changed")


def test_a_star_is_failed_by_what_is_not_there_alone() -> None:
    with pytest.raises(HttpProblem) as failed, precondition_problems(ANY):
        raise VersionConflict("There is none.")
    assert (failed.value.status_code, failed.value.code) == (412, "precondition_failed")
    with pytest.raises(VersionConflict), precondition_problems(ANY):
        raise VersionConflict("changed", current=object())


@pytest.mark.parametrize(
    ("header", "current"),
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
def test_if_none_match_says_what_the_reader_has(header: str | None, current: bool) -> None:  # noqa: FBT001
    assert is_not_modified(header, etag(1)) == current
