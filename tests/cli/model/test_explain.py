"""`partita explain`."""

from __future__ import annotations

import json

import pytest
from tests.cli.conftest import Run


def test_the_request_and_its_cost_are_shown(run: Run) -> None:
    result = run("explain", "tasks_with_status", "u1", "pending")
    assert result.exit_code == 0
    assert "tasks_with_status: Query on GSI1" in result.output
    assert "12.5 RCU" in result.output
    assert '"STATUS#pending#"' in result.output


def test_a_service_may_be_named(run: Run) -> None:
    named, bare = run("explain", "todo.user_by_id", "u1"), run("explain", "user_by_id", "u1")
    assert (named.exit_code, named.output) == (0, bare.output)


def test_running_says_what_was_consumed(seeded: Run) -> None:
    explained = json.loads(seeded("explain", "tasks_with_status", "demo", "pending", "--run", "--json").output)
    assert explained["consumed"] == {"read": 1.0, "write": 0.0, "searched": 0.0, "searched_least": None}
    assert explained["requests_sent"] == 1


def test_without_running_nothing_is_consumed(run: Run) -> None:
    explained = json.loads(run("explain", "tasks_with_status", "demo", "pending", "--json").output)
    assert (explained["consumed"], explained["requests_sent"]) == (None, None)


def test_an_entity_is_given_as_json(run: Run) -> None:
    task = json.dumps({"user_id": "u1", "task_id": "t1", "title": "a", "created_at": 1, "updated_at": 1})
    request = json.loads(run("explain", "create_task", task, "--json").output)["request"]
    assert request["Item"]["GSI1SK"] == {"S": "STATUS#pending#t1"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tasks_with_status", "u1"), "The pattern takes 2 arguments, not 1: tasks_with_status USER_ID STATUS"),
        (("tasks_with_status", "u1", "done"), "STATUS: 'done' does not fit: Input should be 'pending'"),
        (("tasks_due_on", "u1", "tomorrow"), "DUE_DATE: 'tomorrow' does not fit: "),
        (("create_task", '{"title": ""}'), "title: String should have at least 1 character"),
        (("tasks_with_statu", "u1"), "There is no access pattern 'tasks_with_statu'. `partita patterns` lists them."),
    ],
)
def test_an_argument_that_does_not_fit_is_a_usage_error(arguments: tuple[str, ...], message: str, run: Run) -> None:
    result = run("explain", *arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_an_operation_that_cannot_be_built_is_an_error(run: Run) -> None:
    result = run("explain", "user_by_id", "")
    assert result.exit_code == 1
    assert result.output == "Error: A key part is empty. Set a value, or None to keep the item out of the index.\n"
