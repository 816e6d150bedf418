"""Budgets as assertions."""

from __future__ import annotations

import pytest
from tests.model.sample import Task, comment_by_id, create_task, session_on, task_by_id, tasks_of

from partita import EmbeddedStore, Session
from partita.errors import AlreadyExists
from partita.testing import FakeClock, assert_budget

SMALL = Task(user_id="u", task_id="t")
BIG = Task(user_id="u", task_id="t", title="x" * 9_000)


@pytest.fixture(params=["strict", "lenient"])
def db(request: pytest.FixtureRequest, partita_store: EmbeddedStore, fake_clock: FakeClock) -> Session:
    return session_on(partita_store, fake_clock, strict_budgets=request.param == "strict")


def test_within_its_budget_an_operation_gives_its_result(db: Session) -> None:
    saved = assert_budget(db, create_task(SMALL))
    assert assert_budget(db, task_by_id("u", "t")) == saved


def test_over_its_budget_the_failure_explains_the_request(db: Session) -> None:
    with pytest.raises(AssertionError) as caught:
        assert_budget(db, create_task(BIG))
    lines = str(caught.value).splitlines()
    assert lines[:2] == ["create_task exceeded its budget.", "create_task: PutItem on the table"]
    assert lines[3:5] == ["  budget:    5 WCU", "  consumed:  18 WCU in 1 request(s)"]
    assert '  "TableName": "sample",' in lines


def test_an_operation_without_a_budget_fails(db: Session) -> None:
    for operation in (tasks_of("u"), comment_by_id("u", "c")):
        with pytest.raises(AssertionError, match="declares no budget"):
            assert_budget(db, operation)


def test_an_operation_that_fails_raises_its_own_error(db: Session) -> None:
    assert_budget(db, create_task(SMALL))
    with pytest.raises(AlreadyExists):
        assert_budget(db, create_task(SMALL))
