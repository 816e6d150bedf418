"""PartiQL statements: reads, writes and transactions."""

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
        item = {
            **task("u", str(number), status="open"),
            "n": {"N": str(number)},
            "m": {"M": {"x": {"S": "deep"}}},
            "l": {"L": [{"S": "a"}]},
        }
        call("PutItem", TableName="tasks", Item=item)
    return call


def tasks_of(response: Json) -> list[str]:
    return [item["task"]["S"] for item in response["Items"]]


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
        ("\"user\" = 'u' AND none IS MISSING AND n IS NOT MISSING", [], "01234"),
        ("n = 3", [], "3"),
        ("\"user\" IN ['u', 'v'] AND contains(status, 'pe')", [], "01234"),
        ("\"user\" = 'u' AND task IN ('1', '3', '9')", [], "13"),
        ("\"user\" = 'u' AND task <> '2'", [], "0134"),
        ("\"user\" = 'u' AND task <> '2' ORDER BY task DESC", [], "4310"),
        ("\"user\" = 'u' AND (task = '1' OR task = '4')", [], "14"),
        ("\"user\" = 'u' AND n NOT IN [1, 3]", [], "024"),
        ("\"user\" = 'u' AND n NOT BETWEEN 1 AND 3", [], "04"),
        ("\"user\" = 'u' AND NOT contains(status, 'x') AND n >= 3", [], "34"),
        ("\"user\" = 'u' AND attribute_type(n, 'N') AND attribute_type(m, 'M') AND n = 2", [], "2"),
        ("\"user\" = 'u' AND l[0] = 'a' AND m['x'] = 'deep' AND n > 3", [], "4"),
        ("\"user\" = 'u' AND n = -1 OR n = +4", [], "4"),
        ("\"user\" = 'u' AND n IS NOT NULL AND 3 < n", [], "4"),
        ("\"user\" = 'u' AND task >= '1' AND task <= '2'", [], "12"),
    ],
)
def test_select_finds(stored: Caller, where: str, parameters: list[Json], found: str) -> None:
    statement = f'SELECT * FROM "tasks" WHERE {where}'  # noqa: S608 - only constants of the test
    given: dict[str, Any] = {"Parameters": parameters} if parameters else {}
    assert list(found) == tasks_of(stored("ExecuteStatement", Statement=statement, **given))


def test_select_reads_an_index_page_by_page(stored: Caller) -> None:
    statement = "SELECT * FROM tasks.by_status WHERE status = 'open'"
    first = stored("ExecuteStatement", Statement=statement, Limit=3)
    second = stored("ExecuteStatement", Statement=statement, Limit=3, NextToken=first["NextToken"])
    assert (tasks_of(first), tasks_of(second)) == (["0", "1", "2"], ["3", "4"])
    assert "NextToken" not in second


@pytest.fixture
def three(call: Caller) -> Caller:
    """A caller whose table has three partitions of three tasks."""
    for user in "abc":
        for number in "123":
            call("PutItem", TableName="tasks", Item=task(user, number))
    return call


def places_of(response: Json) -> list[str]:
    return [item["user"]["S"] + item["task"]["S"] for item in response["Items"]]


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("\"user\" IN ['c', 'a', 'c'] ORDER BY \"user\"", "a1 a2 a3 c1 c2 c3"),
        ('"user" = \'a\' OR "user" = \'b\' ORDER BY "user" DESC, task', "b1 b2 b3 a1 a2 a3"),
        ("\"user\" IN ('a', 'b') AND task > '1' ORDER BY \"user\" ASC, task DESC", "a3 a2 b3 b2"),
    ],
)
def test_several_partitions_are_read_in_order_and_page_by_page(three: Caller, where: str, found: str) -> None:
    statement = f"SELECT * FROM tasks WHERE {where}"  # noqa: S608 - only constants of the test
    assert found.split() == places_of(three("ExecuteStatement", Statement=statement))
    paged, token = [], None
    while True:
        page = three("ExecuteStatement", Statement=statement, Limit=2, NextToken=token)
        assert len(page["Items"]) <= 2
        paged += places_of(page)
        token = page.get("NextToken")
        if token is None:
            break
    assert found.split() == paged


def test_partitions_are_queried_and_not_scanned(three: Caller) -> None:
    statement = "SELECT * FROM tasks WHERE \"user\" IN ['a', 'b']"
    response = three("ExecuteStatement", Statement=statement, ReturnConsumedCapacity="TOTAL")
    assert response["ConsumedCapacity"] == {"TableName": "tasks", "CapacityUnits": 1.0}


def test_a_page_has_at_most_a_megabyte_of_all_partitions(call: Caller) -> None:
    for user in "abcd":
        call("PutItem", TableName="tasks", Item=task(user, "1", text="x" * 399_000))
    statement = "SELECT * FROM tasks WHERE \"user\" IN ['a', 'b', 'c', 'd'] ORDER BY \"user\""
    first = call("ExecuteStatement", Statement=statement)
    second = call("ExecuteStatement", Statement=statement, NextToken=first["NextToken"])
    assert (places_of(first), places_of(second)) == (["a1", "b1", "c1"], ["d1"])


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("ORDER BY task", "Must have WHERE clause"),
        ("WHERE n = 1 ORDER BY task", "Must have at least one non-optional hash key condition"),
        ("WHERE \"user\" = 'u' ORDER BY n", "Variable reference n in ORDER BY clause must be part of the primary key"),
        ("WHERE \"user\" IN ['u', 'v'] ORDER BY task", "Must have hash key in ORDER BY clause"),
        ("WHERE \"user\" IN [['u'], 'v']", "does not match schema type"),
        ("WHERE \"user\" = 'u' AND (task = '1' OR task < true)", "Incorrect operand type"),
    ],
)
def test_a_select_that_keys_do_not_allow_is_refused(stored: Caller, rest: str, message: str) -> None:
    with pytest.raises(ValidationFailed, match=message):
        stored("ExecuteStatement", Statement=f"SELECT * FROM tasks {rest}")  # noqa: S608 - only constants of the test


@pytest.mark.parametrize("token", ["x", "WzksbnVsbF0=", "Wy0xLG51bGxd"], ids=["no place", "beyond", "before"])
def test_a_token_that_was_not_given_out_is_refused(stored: Caller, token: str) -> None:
    with pytest.raises(ValidationFailed, match=r"^Invalid NextToken$"):
        stored("ExecuteStatement", Statement="SELECT * FROM tasks WHERE \"user\" = 'u'", NextToken=token)


def test_select_names_a_path_by_its_last_part(stored: Caller) -> None:
    response = stored("ExecuteStatement", Statement="SELECT m.x, n FROM tasks WHERE \"user\" = 'u' AND task = '1'")
    assert response["Items"] == [{"x": {"S": "deep"}, "n": {"N": "1"}}]


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
    response = stored("ExecuteStatement", Statement=f"{statement} RETURNING ALL NEW *")
    expected = {**task("u", "1", status="open", t="x"), "n": {"N": "11"}, "l": {"L": [{"S": "a"}]}}
    assert [expected] == response["Items"]
    with pytest.raises(ConditionFailed):
        stored("ExecuteStatement", Statement=statement)


def test_update_changes_lists_and_sets(stored: Caller) -> None:
    def update(changes: str, *parameters: Json) -> Json:
        words = ("UPDATE tasks", changes, "WHERE \"user\" = 'u' AND task = '1' RETURNING ALL NEW *")
        given = {"Parameters": list(parameters)} if parameters else {}
        response: Json = stored("ExecuteStatement", Statement=" ".join(words), **given)["Items"][0]
        return response

    with pytest.raises(ValidationFailed, match="Two document paths overlap"):
        update("SET l = list_append(l, ['b']), l[5] = 'c'")
    update("SET l = list_append(l, ['b']), m.y = 1 SET s = <<'a', 'b'>>")
    assert update("SET s = set_add(s, <<'c'>>)")["s"] == {"SS": ["a", "b", "c"]}
    expected = {"l": {"L": [{"S": "b"}]}, "m": {"M": {"y": {"N": "1"}}}, "s": {"SS": ["b"]}, "n": {"N": "1"}}
    changed = update("SET s = set_delete(s, ?) REMOVE l[0] REMOVE m.x", {"SS": ["a", "c"]})
    assert {**task("u", "1", status="open"), **expected} == changed


def test_a_failed_condition_carries_the_item_where_it_is_asked_for(stored: Caller) -> None:
    statement = "UPDATE tasks SET n = n-1 WHERE \"user\" = 'u' AND task = '1' AND n = 9"
    asked = {"Statement": statement, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    with pytest.raises(ConditionFailed) as failure:
        stored("ExecuteStatement", **asked)
    assert failure.value.item is not None
    response = stored("BatchExecuteStatement", Statements=[asked])
    assert response["Responses"][0]["Error"]["Item"]["n"] == {"N": "1"}


def test_update_does_not_create(call: Caller) -> None:
    with pytest.raises(ConditionFailed):
        call("ExecuteStatement", Statement="UPDATE tasks SET n = 1 WHERE \"user\" = 'x' AND task = '1'")


def test_delete_deletes_and_returns(stored: Caller) -> None:
    statement = "DELETE FROM tasks WHERE \"user\" = 'u' AND task = '1'"
    assert stored("ExecuteStatement", Statement=f"{statement} RETURNING ALL OLD *")["Items"][0]["n"] == {"N": "1"}
    assert stored("ExecuteStatement", Statement=statement) == {"Items": []}
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
        "DELETE FROM tasks WHERE \"user\" = 'u' AND task = '1' RETURNING ALL NEW *",
        "UPDATE tasks SET s = set_add(t, <<1>>) WHERE \"user\" = 'u' AND task = '1'",
        "EXISTS(SELECT * FROM tasks WHERE \"user\" = 'u' AND task = '1')",
        "INSERT INTO tasks VALUE 5",
        "INSERT INTO tasks VALUE {'user': 'u', 'task': '1', 's': <<[1]>>}",
        'SELECT * FROM tasks WHERE "user" = <<{}>>',
        "SELECT * FROM tasks; DROP TABLE tasks",
        "SELECT * FROM tasks WHERE " + "(" * 1_000,
        "INSERT INTO tasks VALUE {'a': " + "[" * 1_000,
        "SELECT * FROM tasks.nothing",
        "",
    ],
)
def test_what_is_not_a_statement_is_refused(call: Caller, statement: str) -> None:
    with pytest.raises(ValidationFailed):
        call("ExecuteStatement", Statement=statement)


def test_a_transaction_writes_all_or_nothing(stored: Caller) -> None:
    insert = "INSERT INTO tasks VALUE {{'user': 'u', 'task': '{}'}}"
    with pytest.raises(TransactionCancelled) as cancelled:
        stored("ExecuteTransaction", TransactStatements=[{"Statement": insert.format(n)} for n in (8, 1)])
    assert [reason.code for reason in cancelled.value.reasons] == ["None", "DuplicateItem"]
    assert stored("GetItem", TableName="tasks", Key=task("u", "8")) == {}


def test_a_transaction_reads_together(stored: Caller) -> None:
    select = "SELECT n FROM tasks WHERE \"user\" = 'u' AND task = '{}'"
    response = stored("ExecuteTransaction", TransactStatements=[{"Statement": select.format(n)} for n in (2, 9)])
    assert response == {"Responses": [{"Item": {"n": {"N": "2"}}}, {}]}


def test_a_transaction_may_require_what_it_does_not_write(stored: Caller) -> None:
    insert = {"Statement": "INSERT INTO tasks VALUE {'user': 'u', 'task': '8'}"}
    exists = "EXISTS(SELECT * FROM tasks WHERE \"user\" = 'u' AND task = '{}' AND n = 1)"
    for number in ("9", "2"):
        required = {"Statement": exists.format(number)}
        with pytest.raises(TransactionCancelled) as cancelled:
            stored("ExecuteTransaction", TransactStatements=[insert, required])
        assert [reason.code for reason in cancelled.value.reasons] == ["None", "ConditionalCheckFailed"]
    stored("ExecuteTransaction", TransactStatements=[insert, {"Statement": exists.format(1)}])
    assert stored("GetItem", TableName="tasks", Key=task("u", "8")) == {"Item": task("u", "8")}
