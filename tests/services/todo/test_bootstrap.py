"""The entry point of the To-Do service, and its sample data."""

from __future__ import annotations

import pytest

from partita import Put, Session
from partita.errors import AlreadyExists
from partita.service import discover
from partita.testing import FakeClock
from partita_services.todo.bootstrap import SAMPLE_USER, SERVICE, seed
from partita_services.todo.model import Status, tasks_of_user, user_by_id


def test_it_is_found_by_its_entry_point() -> None:
    assert SERVICE in discover()


@pytest.mark.req("X02")
def test_the_sample_data_is_written_once(partita_db: Session, fake_clock: FakeClock) -> None:
    steps = seed(fake_clock())
    for step in steps:
        partita_db.run(step)
    first = partita_db.run(tasks_of_user(SAMPLE_USER))
    fake_clock.advance(86_400)
    for step in seed(fake_clock()):
        with pytest.raises(AlreadyExists):
            partita_db.run(step)
    assert partita_db.run(tasks_of_user(SAMPLE_USER)) == first
    assert len(first) == len(steps) - 1
    assert partita_db.run(user_by_id(SAMPLE_USER)) is not None


@pytest.mark.req("T31")
def test_sample_tasks_obey_the_rules(fake_clock: FakeClock) -> None:
    tasks = [step.entity for step in seed(fake_clock()) if isinstance(step, Put)]
    assert {task.status for task in tasks} == set(Status)
    for task in tasks:
        assert (task.completed_at is not None) == (task.status is Status.COMPLETED)
        assert task.created_at <= task.updated_at <= fake_clock()
