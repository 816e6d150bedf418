"""The audit after a burst: who won, in which order, and whether anybody was lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from statistics import quantiles
from typing import Final

from msgspec import Struct

WON: Final = "SUCCEEDED"
FINAL: Final = frozenset((WON, "REJECTED", "FAILED_FINAL"))
CANCELLED: Final = "CANCELLED"


class ApplyResponse(Struct, frozen=True):
    """The response to an applicant: the request, whether it is new, and how many seconds the response took."""

    user_id: str
    request_id: str
    is_new: bool
    seconds: float


class StoredRequest(Struct, frozen=True, rename="camel"):
    """A request as the service returns it afterwards."""

    request_id: str
    user_id: str
    status: str
    queued_at: datetime | None = None
    finished_at: datetime | None = None
    error_code: str | None = None
    waiting_position: int | None = None


class Latency(Struct, frozen=True):
    """How long responses took, in seconds."""

    p50: float
    p95: float
    p99: float
    longest: float


class Report(Struct, frozen=True):
    """The figures of a storm, and the invariants that do not hold."""

    users: int
    capacity: int
    accepted: int
    """Responses with a new request."""
    duplicates: int
    """Responses with a request that the user already had."""
    winners: int
    inversions: int
    """Winners that were queued after somebody who got no seat and had not cancelled."""
    lost: int
    """Users without a response, requests that no longer exist, and requests without a decision."""
    strays: int
    """Requests that are in no response, and additional requests of users who got several."""
    latency: Latency
    requests_per_second: float
    decided_per_second: float
    is_strict: bool
    """Whether no two requests have the same place in the queue."""
    cancelled: int = 0
    promoted: int = 0
    """Winners that had been on the waiting list."""
    requests: int = 0
    """All requests; more than users if some have cancelled and applied again."""

    @property
    def faults(self) -> tuple[str, ...]:
        """The invariants that do not hold, in words. A user who cancels may apply again, with another request."""
        expected = min(self.capacity, self.requests - self.cancelled)
        found = {
            f"{self.winners:,} won, and {expected:,} should have": self.winners != expected,
            f"{self.inversions:,} won although somebody before them got no seat": self.inversions,
            f"{self.lost:,} have no response, no request or no decision": self.lost,
            f"{self.strays:,} requests exist that should not": self.strays,
            f"{self.accepted:,} requests were accepted of {self.users:,} users": (
                self.accepted > self.users + self.cancelled
            ),
            "two requests have the same place in the queue": not self.is_strict,
        }
        return tuple(fault for fault, is_true in found.items() if is_true)


def audit(
    users: Sequence[str],
    capacity: int,
    responses: Sequence[ApplyResponse],
    stored: Sequence[StoredRequest],
    seconds: float,
) -> Report:
    """Compare the responses to applicants with the stored requests, which are in queue order."""
    received = _requests_by_user(responses)
    return Report(
        users=len(users),
        capacity=capacity,
        accepted=sum(each.is_new for each in responses),
        duplicates=sum(not each.is_new for each in responses),
        winners=sum(each.status == WON for each in stored),
        inversions=_inversions(stored),
        lost=_lost(users, received, stored),
        strays=_strays(received, stored),
        latency=_latency([each.seconds for each in responses]),
        requests_per_second=len(responses) / seconds if seconds else 0.0,
        decided_per_second=_pace(stored),
        is_strict=_is_strict(stored),
        cancelled=sum(each.error_code == CANCELLED for each in stored),
        promoted=_promoted(stored),
        requests=max(len(users), len(stored)),
    )


def _requests_by_user(responses: Iterable[ApplyResponse]) -> dict[str, set[str]]:
    received: dict[str, set[str]] = {}
    for each in responses:
        received.setdefault(each.user_id, set()).add(each.request_id)
    return received


def _inversions(stored: Sequence[StoredRequest]) -> int:
    left = [each for each in stored if each.error_code != CANCELLED]
    first_empty = next((n for n, each in enumerate(left) if each.status != WON), len(left))
    return sum(each.status == WON for each in left[first_empty:])


def _promoted(stored: Sequence[StoredRequest]) -> int:
    return sum(each.status == WON and each.waiting_position is not None for each in stored)


def _lost(users: Sequence[str], received: Mapping[str, set[str]], stored: Sequence[StoredRequest]) -> int:
    decided = {each.request_id for each in stored if each.status in FINAL}
    without = sum(user not in received for user in users)
    return without + sum(request not in decided for requests in received.values() for request in requests)


def _strays(received: Mapping[str, set[str]], stored: Sequence[StoredRequest]) -> int:
    known = set().union(*received.values()) if received else set()
    gone = {each.request_id for each in stored if each.error_code == CANCELLED}
    several = sum(max(0, len(requests - gone) - 1) for requests in received.values())
    return several + sum(each.request_id not in known for each in stored)


def _latency(seconds: Sequence[float]) -> Latency:
    if len(seconds) < 2:  # noqa: PLR2004 - a single value has no distribution
        return Latency(*[sum(seconds)] * 4)
    percents = quantiles(seconds, n=100, method="inclusive")
    return Latency(percents[49], percents[94], percents[98], max(seconds))


def _pace(stored: Sequence[StoredRequest]) -> float:
    """Decisions per second, from the first request in the queue to the last decision."""
    finished = [each.finished_at for each in stored if each.finished_at is not None]
    queued = [each.queued_at for each in stored if each.queued_at is not None]
    lasted = (max(finished) - min(queued)).total_seconds() if finished and queued else 0.0
    return len(finished) / lasted if lasted > 0 else 0.0


def _is_strict(stored: Sequence[StoredRequest]) -> bool:
    places = [each.queued_at for each in stored if each.queued_at is not None]
    return all(earlier < later for earlier, later in pairwise(places))
