"""PartiQL's statements read and write what they say."""

from __future__ import annotations

from typing import Any

import pytest
from tests.wire.support import Caller, Json, task

from partita.errors import ConditionFailed, TransactionCancelled, ValidationFailed
from partita.wire._faults import Fault


@pytest.fixture
def stored(call: Caller) -> Caller:
    """A caller whose table has five tasks."""
    for number in range(5):
        item = {**task("u", str(number), status="open"), "n": {"N": str(number)}, "m": {"M": {"x": {"S": "deep"}}}}
        call("PutItem", TableName="tasks", Item=item)
    return call


def tasks_of(answer: Json) -> list[str]:
    return [item["task"]["S"] for item in answer["Items"]]


@pytest.mark.parametrize(
    ("where", "parameters", "found"),
    [
        ("\"user\" = 'u'", [], "01234"),
        ('"user" = ? AND task > ?', [{"S": "u"}, {"S": "2"}], "34"),
        ("\"user\" = 'u' AND task BETWEEN '1' AND '3'", [], "123"),
        ("\"user\" = 'u' AND begins_with(task, '4')", [], "4"),
        ("\"user\" = 'u' AND n < 2", [], "01"),
        ("\"user\" = 'u' AND n IN [1, 3]", [], "13"),
        ("\"user\" = 'u' AND (n = 1 OR NOT n <> 2)", [], "12"),
        ("\"user\" = 'u' AND m.x = 'deep' AND size(status) = 4 ORDER BY task DESC", [], "43210"),
        ("\"user\" = 'u' AND nothing IS MISSING AND n IS NOT MISSING", [], "01234"),
        ("n = 3", [], "3"),
        ("\"user\" IN ['u', 'v'] AND contains(status, 'pe')", [], "01234"),
    ],
)
def test_select_finds(stored: Caller, where: str, parameters: list[Json], found: str) -> None:
    statement = f'SELECT * FROM "tasks" WHERE {where}'  # noqa: S608 - the test's own words
    given: dict[str, Any] = {"Parameters": parameters} if parameters else {}
    assert list(found) == tasks_of(stored("ExecuteStatement", Statement=statement, **given))


def test_select_reads_an_index_page_by_page(stored: Caller) -> None:
    statement = "SELECT * FROM tasks.by_status WHERE status = 'open'"
    first = stored("ExecuteStatement", Statement=statement, Limit=3)
    second = stored("ExecuteStatement", Statement=statement, Limit=3, NextToken=first["NextToken"])
    assert (tasks_of(first), tasks_of(second)) == (["0", "1", "2"], ["3", "4"])
    assert "NextToken" not in second


def test_select_names_a_path_by_its_last_part(stored: Caller) -> None:
    answer = stored("ExecuteStatement", Statement="SELECT m.x, n FROM tasks WHERE \"user\" = 'u' AND task = '1'")
    assert answer["Items"] == [{"x": {"S": "deep"}, "n": {"N": "1"}}]


def test_insert_takes_every_kind_of_literal_and_no_duplicate(call: Caller) -> None:
    statement = "INSERT INTO tasks VALUE {'user': 'o''k', 'task': ?, 's': <<1, 2>>, 'l': [true, null, -1.5], 'm': {}}"
    call("ExecuteStatement", Statement=statement, Parameters=[{"S": "1"}])
    item = call("GetItem", TableName="tasks", Key=task("o'k", "1"))["Item"]
    expected = {
        "s": {"NS": ["1", "2"]},
        "l": {"L": [{"BOOL": True}, {"NULL": True}, {"N": "-1.5"}]},
        "m": {"M": {}},
    }
    assert {**task("o'k", "1"), **expected} == item
    with pytest.raises(Fault, match="Duplicate primary key exists in table"):
        call("ExecuteStatement", Statement=statement, Parameters=[{"S": "1"}])


def test_update_changes_and_returns(stored: Caller) -> None:
    statement = "UPDATE tasks SET n = n + 10 SET t = 'x' REMOVE m WHERE \"user\" = 'u' AND task = '1' AND n = 1"
    answer = stored("ExecuteStatement", Statement=f"{statement} RETURNING ALL NEW *")
    expected = {**task("u", "1", status="open", t="x"), "n": {"N": "11"}}
    assert [expected] == answer["Items"]
    with pytest.raises(ConditionFailed):
        stored("ExecuteStatement", Statement=statement)


def test_update_does_not_create(call: Caller) -> None:
    with pytest.raises(ConditionFailed):
        call("ExecuteStatement", Statement="UPDATE tasks SET n = 1 WHERE \"user\" = 'x' AND task = '1'")


def test_delete_deletes(stored: Caller) -> None:
    stored("ExecuteStatement", Statement="DELETE FROM tasks WHERE \"user\" = 'u' AND task = '1'")
    assert stored("Scan", TableName="tasks")["Count"] == 4


@pytest.mark.parametrize(
    "statement",
    [
        "SELECTT * FROM tasks",
        "SELECT * FROM",
        "SELECT * FROM tasks WHERE",
        "SELECT * FROM tasks WHERE n = ?",
        "UPDATE tasks WHERE \"user\" = 'u'",
        "DELETE FROM tasks WHERE \"user\" = 'u'",
        "INSERT INTO tasks VALUE 5",
        "SELECT * FROM tasks; DROP TABLE tasks",
        "SELECT * FROM tasks WHERE " + "(" * 1_000,
        "INSERT INTO tasks VALUE {'a': " + "[" * 1_000,
        "SELECT * FROM tasks.nothing",
        "",
    ],
)
def test_what_is_no_statement_is_refused(call: Caller, statement: str) -> None:
    with pytest.raises(ValidationFailed):
        call("ExecuteStatement", Statement=statement)


def test_statements_of_a_batch_fail_alone(stored: Caller) -> None:
    answer = stored(
        "BatchExecuteStatement",
        Statements=[
            {"Statement": "SELECT task FROM tasks WHERE \"user\" = 'u' AND task = '1'"},
            {"Statement": "SELECT * FROM nothing WHERE \"user\" = 'u'"},
            {"Statement": "INSERT INTO tasks VALUE {'user': 'u', 'task': '1'}"},
        ],
    )
    codes = [response.get("Error", {}).get("Code") for response in answer["Responses"]]
    assert codes == [None, "ResourceNotFound", "DuplicateItem"]
    assert answer["Responses"][0]["Item"] == {"task": {"S": "1"}}


def test_a_transaction_writes_all_or_nothing(stored: Caller) -> None:
    insert = "INSERT INTO tasks VALUE {{'user': 'u', 'task': '{}'}}"
    with pytest.raises(TransactionCancelled) as cancelled:
        stored("ExecuteTransaction", TransactStatements=[{"Statement": insert.format(n)} for n in (8, 1)])
    assert [reason.code for reason in cancelled.value.reasons] == ["None", "DuplicateItem"]
    assert stored("GetItem", TableName="tasks", Key=task("u", "8")) == {}


def test_a_transaction_reads_together(stored: Caller) -> None:
    select = "SELECT n FROM tasks WHERE \"user\" = 'u' AND task = '{}'"
    answer = stored("ExecuteTransaction", TransactStatements=[{"Statement": select.format(n)} for n in (2, 9)])
    assert answer == {"Responses": [{"Item": {"n": {"N": "2"}}}, {}]}
