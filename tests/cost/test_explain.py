"""Explanations and forecasts: the request that DynamoDB would receive, its predicted and its measured cost."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from tests.model.sample import (
    Board,
    Comment,
    Status,
    Task,
    User,
    board,
    comment_by_id,
    create_task,
    finish,
    task_by_id,
    tasks_of,
    tasks_with_status,
    user_by_id,
)

from partita import (
    Budget,
    Operation,
    Rcu,
    Session,
    Wcu,
    batch_get,
    batch_write,
    check,
    delete,
    explain,
    f,
    insert,
    put,
    transact,
    transact_get,
    update,
)
from partita.values._sizes import item_size

TASK = Task(user_id="u", task_id="t", due=date(2026, 1, 1))
ADA = User(user_id="u", name="Ada")


def test_an_explanation_shows_the_request_the_index_and_the_budget() -> None:
    explained = explain(tasks_with_status("u", Status.OPEN).page(20))
    assert (explained.name, explained.call, explained.index) == ("tasks_with_status", "Query", "GSI1")
    assert (explained.budget, explained.consumed, explained.requests_sent) == (Rcu(5), None, None)
    assert explained.request["TableName"] == "sample"
    assert explained.request["IndexName"] == "GSI1"
    assert explained.request["Limit"] == 20
    assert {"S": "STATUS#open#"} in explained.request["ExpressionAttributeValues"].values()


def test_an_explanation_reads_well() -> None:
    heading, predicted, budget, *request = str(explain(task_by_id("u", "t"))).splitlines()
    assert heading == "task_by_id: GetItem on the table"
    assert predicted == "  predicted: 0.5 RCU (with items of 1,024 bytes)"
    assert budget == "  budget:    1 RCU"
    assert json.loads("\n".join(request)) == {
        "TableName": "sample",
        "Key": {"PK": {"S": "USER#u"}, "SK": {"S": "TASK#t"}},
    }


def test_explaining_does_not_run(db: Session) -> None:
    explain(create_task(TASK))
    assert db.run(task_by_id("u", "t")) is None


def test_explaining_with_a_session_runs_and_says_what_it_consumed(db: Session) -> None:
    explained = explain(create_task(TASK), db)
    assert (explained.consumed, explained.requests_sent) == (Wcu(3), 1)
    assert "  consumed:  3 WCU in 1 request(s)" in str(explained).splitlines()
    assert db.run(task_by_id("u", "t")) is not None


@pytest.mark.parametrize("operation", [batch_get([]), batch_write([])], ids=["gets", "writes"])
def test_an_operation_that_sends_nothing_is_explained_as_such(operation: Operation[Any]) -> None:
    assert explain(operation).predicted == Budget()


def test_an_update_that_reads_first_is_explained_by_its_first_request() -> None:
    explained = explain(update(comment_by_id("u", "c"), f(Comment.score).add(1)))
    assert explained.call == "GetItem"


EXACT: dict[str, Callable[[Task], Operation[Any]]] = {
    "get": lambda _: task_by_id("u", "t"),
    "consistent get": lambda _: user_by_id("u").consistent(),
    "get of nothing": lambda _: comment_by_id("u", "none"),
    "query of one": lambda _: tasks_of("u").page(1),
    "put": lambda _: put(Comment(user_id="u", comment_id="new")),
    "put on an index": lambda _: put(Comment(user_id="u", comment_id="new", mood="sad")),
    "insert on two indexes": lambda _: insert(Task(user_id="u", task_id="new", due=date(2026, 1, 1))),
    "insert of two kilobytes": lambda _: insert(Task(user_id="u", task_id="new", title="x" * 1_500)),
    "batch get": lambda _: batch_get([task_by_id("u", "t"), task_by_id("u", "none")]),
    "batch write": lambda _: batch_write([put(Comment(user_id="u", comment_id=str(n))) for n in range(3)]),
    "transaction": lambda _: transact(put(Comment(user_id="u", comment_id="new", mood="x")), check(user_by_id("u"))),
    "transactional get": lambda _: transact_get(user_by_id("u"), task_by_id("u", "t")),
}


@pytest.mark.parametrize("make", EXACT.values(), ids=EXACT)
def test_the_forecast_is_exact_where_sizes_are_known(db: Session, make: Callable[[Task], Operation[Any]]) -> None:
    db.run(insert(ADA))
    task = db.run(insert(Task(user_id="u", task_id="t")))
    explained = explain(make(task), db, item_bytes=300)
    assert explained.predicted == explained.consumed


UPPER_BOUNDS: dict[str, Callable[[Task], Operation[Any]]] = {
    "update of no index key": lambda _: update(user_by_id("u"), f(User.name).set("Eve")),
    "update that moves": finish,
    "delete by key": lambda _: delete(task_by_id("u", "t")),
    "delete": delete,
}


@pytest.mark.parametrize("make", UPPER_BOUNDS.values(), ids=UPPER_BOUNDS)
def test_the_forecast_of_a_change_is_what_it_costs_at_most(db: Session, make: Callable[[Task], Operation[Any]]) -> None:
    db.run(insert(ADA))
    task = db.run(insert(Task(user_id="u", task_id="t")))
    explained = explain(make(task), db, item_bytes=300)
    assert explained.consumed is not None
    assert explained.consumed.write > 0
    assert explained.predicted.covers(explained.consumed.read, explained.consumed.write)


def test_a_forecast_grows_with_the_items() -> None:
    page = tasks_of("u").page(100)
    predicted = [explain(page, item_bytes=size).predicted for size in (100, 1_024)]
    assert predicted == [Rcu(1.5), Rcu(12.5)]


def test_a_whole_item_is_forecast_by_its_own_size() -> None:
    task = Task(user_id="u", task_id="t", title="x" * 5_000)
    size = item_size(task.__entity__.item(task.model_copy(update={"version": 1})))
    units = -(-size // 1_024)
    assert explain(insert(task)).predicted == Wcu(2 * units)


def test_the_tables_of_every_registry_are_forecast_with_their_indexes() -> None:
    assert explain(insert(TASK)).predicted == Wcu(3)


def test_a_collection_is_explained_by_its_query(db: Session) -> None:
    db.run(insert(ADA))
    explained = explain(board("u"), db)
    assert (explained.call, explained.request["Limit"], explained.consumed) == ("Query", 51, Rcu(0.5))
    assert db.run(board("u")) == Board(ADA, ())
