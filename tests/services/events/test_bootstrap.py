"""The entry point of the events service, its sample data, and the budgets of its access patterns."""

from __future__ import annotations

import pytest
from tests.services.events.acting import in_queue_order

from partita import Session
from partita.cost._measure import measure
from partita.errors import AlreadyExists
from partita.service import discover
from partita.testing import FakeClock
from partita_services.events.bootstrap import SERVICE
from partita_services.events.draws.draw import show_draw
from partita_services.events.draws.verify import problems_of
from partita_services.events.model import listed_events, requests_of_user
from partita_services.events.responses import DrawView
from partita_services.events.samples.data import SAMPLE_USER, sample_events, seed
from partita_services.events.terms import EventStatus, EventType, Status


def test_it_is_found_by_its_entry_point() -> None:
    assert SERVICE in discover()


@pytest.mark.req("X02")
def test_the_sample_data_is_written_once(partita_db: Session, fake_clock: FakeClock) -> None:
    for write in seed(fake_clock()):
        partita_db.run(write)
    first = partita_db.run(requests_of_user(SAMPLE_USER))
    fake_clock.advance(86_400)
    for write in seed(fake_clock()):
        with pytest.raises(AlreadyExists):
            partita_db.run(write)
    assert partita_db.run(requests_of_user(SAMPLE_USER)) == first
    assert len(partita_db.run(listed_events())) == len(sample_events(0))
    assert len(first) == 2


def test_sample_requests_obey_the_rules(partita_db: Session, fake_clock: FakeClock) -> None:
    for write in seed(fake_clock()):
        partita_db.run(write)
    for sample in sample_events(fake_clock()):
        requests = in_queue_order(partita_db, sample.event)
        won = [request.status is Status.SUCCEEDED for request in requests]
        assert sum(won) + sample.seats.remaining == sample.sample.seats
        if sample.event.event_type is EventType.FIRST_COME:
            assert won == sorted(won, reverse=True)
        elif sample.event.status is EventStatus.FINISHED:
            found = partita_db.run(show_draw(sample.event_id))
            assert problems_of(DrawView.of(found).model_dump(by_alias=True, mode="json")) == []


def test_every_access_pattern_is_measured_within_its_budget() -> None:
    verdicts = {measurement.pattern: measurement.verdict for measurement in measure(SERVICE)}
    assert {name: verdict for name, verdict in verdicts.items() if verdict != "within"} == {
        "lease_by_name": "no budget",  # a pattern of the recipe
    }
