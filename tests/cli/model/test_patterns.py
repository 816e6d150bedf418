"""`partita patterns`."""

from __future__ import annotations

import json

from tests.cli.conftest import Run

from partita_services.todo.model import TABLE


def test_every_access_pattern_is_listed(run: Run) -> None:
    result = run("patterns", "todo")
    assert result.exit_code == 0
    listed = {line.partition("(")[0]: line for line in result.output.splitlines()}
    assert listed.keys() >= TABLE.patterns.keys()
    assert listed["tasks_with_status"].split("  ")[0] == "tasks_with_status(user_id, status)"
    for shown in ("query", "GSI1", "12.5 RCU", "A user's tasks in one status."):
        assert shown in listed["tasks_with_status"]


def test_json_has_the_types_of_parameters(run: Run) -> None:
    listed = json.loads(run("patterns", "--json").output)["todo"]
    assert [pattern["name"] for pattern in listed] == list(TABLE.patterns)
    (due,) = [pattern for pattern in listed if pattern["name"] == "tasks_due_within"]
    assert due == {
        "name": "tasks_due_within",
        "kind": "query",
        "index": "GSI2",
        "served_by": "GSI2",
        "parameters": {"user_id": "str", "due_date": "Span[date]"},
        "budget": {"read": 12.5, "write": 0.0, "searched": 0.0, "searched_least": None},
        "doc": "A user's tasks due in a range of dates, both ends included.",
    }
