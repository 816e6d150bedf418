"""The audit of a storm finds every fault, and none if there is none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from partita_services.events.loadtest.audit import ApplyResponse, Latency, Report, StoredRequest, audit

pytestmark = pytest.mark.req("E13")

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
USERS = ["a", "b", "c", "d"]


def stored(*statuses: str, users: list[str] = USERS) -> list[StoredRequest]:
    """Return requests with these statuses in queue order, a second apart."""
    return [
        StoredRequest(f"r-{user}", user, status, START + timedelta(seconds=n), START + timedelta(seconds=n + 1))
        for n, (user, status) in enumerate(zip(users, statuses, strict=True))
    ]


def responses_to(*users: str) -> list[ApplyResponse]:
    return [
        ApplyResponse(user, f"r-{user}", is_new=user not in users[:n], seconds=(n + 1) / 10)
        for n, user in enumerate(users)
    ]


GOOD = stored("SUCCEEDED", "SUCCEEDED", "REJECTED", "REJECTED")
RESPONSES = responses_to("a", "b", "a", "c", "d")


def test_a_sound_storm_has_no_faults() -> None:
    report = audit(USERS, 2, RESPONSES, GOOD, seconds=2.0)
    assert report == Report(
        users=4,
        capacity=2,
        accepted=4,
        duplicates=1,
        winners=2,
        inversions=0,
        lost=0,
        strays=0,
        latency=Latency(p50=0.3, p95=pytest.approx(0.48), p99=pytest.approx(0.496), longest=0.5),  # type: ignore[arg-type]
        requests_per_second=2.5,
        decided_per_second=1.0,
        is_strict=True,
        requests=4,
    )
    assert report.faults == ()


def faults(responses: list[ApplyResponse], found: list[StoredRequest], capacity: int = 2) -> tuple[str, ...]:
    return audit(USERS, capacity, responses, found, seconds=1.0).faults


def test_one_winner_too_many_is_found() -> None:
    assert faults(RESPONSES, stored("SUCCEEDED", "SUCCEEDED", "SUCCEEDED", "REJECTED")) == ("3 won, and 2 should have",)


def test_one_winner_too_few_is_found() -> None:
    assert faults(RESPONSES, stored("SUCCEEDED", "REJECTED", "REJECTED", "REJECTED")) == ("1 won, and 2 should have",)


def test_a_winner_after_a_loser_is_found() -> None:
    assert faults(RESPONSES, stored("SUCCEEDED", "REJECTED", "SUCCEEDED", "REJECTED")) == (
        "1 won although somebody before them got no seat",
    )


@pytest.mark.parametrize(
    ("responses", "found"),
    [
        (responses_to("a", "b", "c"), GOOD),
        (RESPONSES, GOOD[:3]),
        (RESPONSES, stored("SUCCEEDED", "SUCCEEDED", "REJECTED", "QUEUED")),
    ],
    ids=["no response", "no request", "no decision"],
)
def test_whoever_is_lost_is_found(responses: list[ApplyResponse], found: list[StoredRequest]) -> None:
    assert "1 have no response, no request or no decision" in faults(responses, found)


def test_a_user_who_got_two_requests_is_found() -> None:
    responses = [*RESPONSES, ApplyResponse("a", "r-other", is_new=True, seconds=0.1)]
    assert "1 requests exist that should not" in faults(responses, GOOD)
    assert "5 requests were accepted of 4 users" in faults(responses, GOOD)


def test_a_request_that_nobody_got_is_found() -> None:
    found = [*GOOD, StoredRequest("r-e", "e", "REJECTED", START + timedelta(seconds=9))]
    assert faults(RESPONSES, found) == ("1 requests exist that should not",)


def test_two_requests_at_one_place_are_found() -> None:
    found = [*GOOD[:3], StoredRequest("r-d", "d", "REJECTED", GOOD[2].queued_at)]
    assert faults(RESPONSES, found) == ("two requests have the same place in the queue",)


def test_with_more_seats_than_users_all_win() -> None:
    assert faults(RESPONSES, stored(*["SUCCEEDED"] * 4), capacity=9) == ()


def cancelled(requests: list[StoredRequest], *places: int) -> list[StoredRequest]:
    changed = {"status": "REJECTED", "error_code": "CANCELLED"}
    return [replace(each, **changed) if place in places else each for place, each in enumerate(requests)]


@pytest.mark.req("E14")
def test_a_freed_seat_must_go_to_the_earliest_who_waits() -> None:
    sound = cancelled(stored("SUCCEEDED", "SUCCEEDED", "SUCCEEDED", "REJECTED"), 0)
    sound[2] = replace(sound[2], waiting_position=1)
    report = audit(USERS, 2, RESPONSES, sound, seconds=1.0)
    assert (report.faults, report.cancelled, report.promoted, report.inversions) == ((), 1, 1, 0)
    passed_over = cancelled(stored("SUCCEEDED", "SUCCEEDED", "REJECTED", "SUCCEEDED"), 0)
    assert faults(RESPONSES, passed_over) == ("1 won although somebody before them got no seat",)
    unused = cancelled(stored("SUCCEEDED", "SUCCEEDED", "REJECTED", "REJECTED"), 0)
    assert faults(RESPONSES, unused) == ("1 won, and 2 should have",)


@pytest.mark.req("E14")
def test_who_cancels_may_apply_again_and_others_may_not() -> None:
    first = cancelled(stored("SUCCEEDED", "SUCCEEDED", "SUCCEEDED", "REJECTED"), 0)
    again = StoredRequest("r-a2", "a", "REJECTED", START + timedelta(seconds=9), START + timedelta(seconds=9))
    responses = [*RESPONSES, ApplyResponse("a", "r-a2", is_new=True, seconds=0.1)]
    assert faults(responses, [*first, again]) == ()
    uncancelled = stored("SUCCEEDED", "SUCCEEDED", "REJECTED", "REJECTED")
    assert len(faults(responses, [*uncancelled, again])) == 2
