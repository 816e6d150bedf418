"""The access patterns of the service: a list reads a projection, or has a reason not to; nothing scans."""

from __future__ import annotations

import pytest

from partita_services.commitcollect.bootstrap import SERVICE

READ_WHOLE = {
    "active_milestones": "they are read to be changed, over the version that was read",
    "events_seen_by": "it is made of lists that do",
    "catalogue": "an entry has nothing but its key",
    "milestones_with_status": "they are read to be changed, over the version that was read",
    "notices_waiting": "they are forwarded as they are",
    "login_sessions_of_user": "they are read to be removed, by their keys alone",
    "requests_of": "they are read to be removed, by their keys alone",
    "workouts_of": "they are read to be removed, by their keys alone",
}


@pytest.mark.req("C11", "C24")
def test_every_list_reads_a_projection_or_says_why_not() -> None:
    whole = {pattern.name for pattern in SERVICE.patterns if pattern.kind == "query" and pattern.view is None}
    assert whole == set(READ_WHOLE)


@pytest.mark.req("C24")
def test_nothing_is_declared_that_scans() -> None:
    kinds = {pattern.kind for pattern in SERVICE.patterns}
    assert kinds == {"get", "query", "collect", "write"}
