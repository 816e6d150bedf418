"""PartiQL's functions and type tests, in every position where they are allowed."""

# ruff: noqa: S608 - the statements are the tests' own

from __future__ import annotations

from typing import Any

import pytest
from tests.wire.support import Caller, Json

from partita.errors import ConditionFailed, ValidationFailed

pytestmark = pytest.mark.rule(50)

ITEM: Json = {
    "pk": {"S": "i"},
    "s": {"S": "str"},
    "n": {"N": "5"},
    "b": {"B": "AQI="},
    "flag": {"BOOL": True},
    "nul": {"NULL": True},
    "l": {"L": [{"S": "x"}, {"N": "1"}]},
    "m": {"M": {"sub": {"S": "x"}, "deep": {"L": [{"M": {"y": {"N": "1"}}}]}}},
    "ss": {"SS": ["a", "b", "c"]},
    "ns": {"NS": ["1", "2", "3"]},
    "bs": {"BS": ["AQ==", "Ag=="]},
}
WRONG_TYPE = "An operand in the update expression has an incorrect data type"


@pytest.fixture
def call(call: Caller) -> Caller:
    """A caller with a table that has one item with all types."""
    key = [{"AttributeName": "pk", "KeyType": "HASH"}]
    types = [{"AttributeName": "pk", "AttributeType": "S"}]
    call("CreateTable", TableName="abc", BillingMode="PAY_PER_REQUEST", AttributeDefinitions=types, KeySchema=key)
    call("PutItem", TableName="abc", Item=ITEM)
    return call


def run(call: Caller, statement: str, *parameters: Json) -> Json:
    given: dict[str, Any] = {"Parameters": list(parameters)} if parameters else {}
    return call("ExecuteStatement", Statement=statement, **given)


def stored(call: Caller, pk: str = "i") -> Json:
    item: Json = call("GetItem", TableName="abc", Key={"pk": {"S": pk}}).get("Item", {})
    return item


def holds(call: Caller, condition: str, *parameters: Json) -> bool:
    return len(run(call, f"SELECT * FROM abc WHERE pk = 'i' AND {condition}", *parameters)["Items"]) == 1


def refusal(call: Caller, statement: str, *parameters: Json) -> str:
    with pytest.raises(ValidationFailed) as refused:
        run(call, statement, *parameters)
    return refused.value.message


TRUE = [
    "attribute_exists(ss)",
    "ATTRIBUTE_EXISTS(ss)",
    'attribute_exists("ss")',
    "attribute_exists(m.sub)",
    "attribute_exists(m.deep[0].y)",
    "attribute_exists(m['sub'])",
    "attribute_not_exists(nope)",
    "NOT attribute_exists(nope)",
    "NOT attribute_not_exists(ss)",
    "(attribute_exists(nope) OR attribute_exists(ss))",
    "attribute_exists(ss) = true",
    "attribute_exists(nope) = false",
    "true <> attribute_exists(nope)",
    "size(s) = 3",
    "SIZE(ss) >= 3",
    "attribute_type(ss, 'SS')",
    "attribute_type(m.sub, 'S')",
    "begins_with(s, 'st')",
    "contains(ss, 'a')",
    "contains(s, 'tr')",
    "contains(l, 'x')",
    "nul IS NULL",
    "s IS NOT NULL",
    "nope IS MISSING",
    "s IS NOT MISSING",
    "flag IS BOOL",
    "flag IS BOOLEAN",
    "s IS STRING",
    "s IS CHARACTER VARYING",
    "n IS INT",
    "n IS DECIMAL",
    "n IS DOUBLE PRECISION",
    "b IS BLOB",
    "l IS LIST",
    "m IS STRUCT",
    "m IS TUPLE",
    "ss IS BAG",
    "ns IS BAG AND bs IS BAG",
    "s IS NOT BOOL",
    "s IS NOT TIMESTAMP",
    "l = ['x', 1]",
    "m.deep = [{'y': 1}]",
    "ss = <<'c', 'b', 'a'>>",
    "ns = <<3, 2, 1>>",
]
FALSE = [
    "attribute_exists(nope)",
    "attribute_exists(m.nope)",
    "attribute_not_exists(ss)",
    "size(s) = 4",
    "attribute_type(ss, 'S')",
    "s IS NULL",
    "nope IS NULL",
    "nul IS NOT NULL",
    "s IS BOOL",
    "s IS MISSING",
    "s IS TIMESTAMP",
    "n IS STRING",
    "l = [1, 'x']",
]


@pytest.mark.parametrize("condition", TRUE)
def test_a_condition_holds(call: Caller, condition: str) -> None:
    assert holds(call, condition)


@pytest.mark.parametrize("condition", FALSE)
def test_a_condition_does_not_hold(call: Caller, condition: str) -> None:
    assert not holds(call, condition)


@pytest.mark.parametrize(
    ("value", "other"),
    [
        ({"SS": ["c", "a", "b"]}, {"SS": ["a", "b", "d"]}),
        ({"NS": ["3", "1.0", "2"]}, {"NS": ["1", "2"]}),
        ({"BS": ["Ag==", "AQ=="]}, {"BS": ["AQ=="]}),
        ({"L": [{"S": "x"}, {"N": "1"}]}, {"L": [{"N": "1"}, {"S": "x"}]}),
        ({"B": "AQI="}, {"B": "AQM="}),
        ({"NULL": True}, {"S": "not null"}),
        ({"BOOL": True}, {"BOOL": False}),
    ],
)
def test_any_type_is_compared_with_a_parameter(call: Caller, value: Json, other: Json) -> None:
    name = {"SS": "ss", "NS": "ns", "BS": "bs", "L": "l", "B": "b", "NULL": "nul", "BOOL": "flag"}[next(iter(value))]
    assert holds(call, f"{name} = ?", value)
    assert not holds(call, f"{name} <> ?", value)
    assert not holds(call, f"{name} = ?", other)
    assert holds(call, f"{name} <> ?", other)


@pytest.mark.parametrize(
    "value",
    [{"BOOL": True}, {"NULL": True}, {"L": []}, {"M": {}}, {"SS": ["a"]}, {"NS": ["1"]}, {"BS": ["AQ=="]}],
)
def test_an_operand_without_an_order_is_refused(call: Caller, value: Json) -> None:
    kind = next(iter(value))
    message = "Incorrect operand type for operator or function; operator or function: {}, operand type: {}"
    for sign in ("<", "<=", ">", ">="):
        statement = f"SELECT pk FROM abc WHERE pk = 'i' AND v {sign} ?"
        assert refusal(call, statement, value) == message.format(sign, kind)
    statement = "SELECT pk FROM abc WHERE pk = 'i' AND v BETWEEN ? AND ?"
    assert refusal(call, statement, value, value) == message.format("BETWEEN", kind)


def test_functions_filter_a_select_without_a_key(call: Caller) -> None:
    call("PutItem", TableName="abc", Item={"pk": {"S": "other"}})
    assert run(call, "SELECT pk FROM abc WHERE attribute_exists(m.sub)")["Items"] == [{"pk": {"S": "i"}}]


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (
            "attribute_exists('ss')",
            "Operator or function requires a document path; operator or function: attribute_exists",
        ),
        (
            "attribute_exists()",
            (
                "Incorrect number of operands for operator or function; "
                "operator or function: attribute_exists, number of operands: 0"
            ),
        ),
        (
            "attribute_exists(ss, ns)",
            (
                "Incorrect number of operands for operator or function; "
                "operator or function: attribute_exists, number of operands: 2"
            ),
        ),
        ("EXISTS(ss)", "Unrecognized function: exists at 1:38:6"),
        ("set_add(ss, <<'x'>>) = ss", "Unrecognized function: set_add at 1:38:7"),
        ("size(s)", "The function is not allowed to be used this way in an expression; function: size"),
        (
            "size(s, n) = 1",
            "Incorrect number of operands for operator or function; operator or function: size, number of operands: 2",
        ),
        (
            "attribute_type(s, 'X')",
            "Invalid attribute type name found; type: X, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}",
        ),
    ],
)
def test_a_function_that_is_misused_is_refused(call: Caller, condition: str, message: str) -> None:
    statement = f"SELECT * FROM abc WHERE pk = 'i' AND {condition}"
    assert refusal(call, statement) == message


def test_a_parameter_is_no_path(call: Caller) -> None:
    message = "Operator or function requires a document path; operator or function: attribute_exists"
    assert refusal(call, "SELECT * FROM abc WHERE pk = 'i' AND attribute_exists(?)", {"S": "ss"}) == message


def test_a_function_is_no_column(call: Caller) -> None:
    statement = "SELECT attribute_exists(ss) FROM abc WHERE pk = 'i'"
    assert refusal(call, statement) == "Unexpected path component at 1:8:16"


def test_a_condition_decides_a_write(call: Caller) -> None:
    run(call, "UPDATE abc SET z = 1 WHERE pk = 'i' AND attribute_exists(ss)")
    run(call, "UPDATE abc SET y = 1 WHERE pk = 'i' AND attribute_not_exists(y)")
    assert (stored(call)["z"], stored(call)["y"]) == ({"N": "1"}, {"N": "1"})
    for statement in (
        "UPDATE abc SET z = 2 WHERE pk = 'i' AND attribute_exists(nope)",
        "UPDATE abc SET y = 2 WHERE pk = 'i' AND attribute_not_exists(y)",
        "UPDATE abc SET z = 2 WHERE pk = 'i' AND s IS BOOL",
        "UPDATE abc SET z = 2 WHERE pk = 'none' AND attribute_not_exists(pk)",
        "DELETE FROM abc WHERE pk = 'i' AND attribute_exists(nope)",
    ):
        with pytest.raises(ConditionFailed):
            run(call, statement)
    assert stored(call, "none") == {}
    run(call, "DELETE FROM abc WHERE pk = 'i' AND attribute_not_exists(nope)")
    assert stored(call) == {}


def test_a_delete_of_what_is_not_there_asks_nothing(call: Caller) -> None:
    assert run(call, "DELETE FROM abc WHERE pk = 'none' AND s = 'x'") == {"Items": []}


def members(call: Caller, name: str) -> list[str]:
    found: list[str] = next(iter(stored(call)[name].values()))
    return found


def test_members_are_added_to_a_set(call: Caller) -> None:
    run(call, "UPDATE abc SET ss = set_add(ss, <<'0', 'z'>>) SET ns = SET_ADD(ns, <<4, 1>>) WHERE pk = 'i'")
    run(call, "UPDATE abc SET bs = set_add(bs, ?) WHERE pk = 'i'", {"BS": ["AQ==", "Aw=="]})
    run(call, "UPDATE abc SET made = set_add(made, <<'x'>>) WHERE pk = 'i'")
    assert members(call, "ss") == ["0", "a", "b", "c", "z"]
    assert members(call, "ns") == ["1", "2", "3", "4"]
    assert members(call, "bs") == ["AQ==", "Ag==", "Aw=="]
    assert stored(call)["made"] == {"SS": ["x"]}
    with pytest.raises(ConditionFailed):
        run(call, "UPDATE abc SET ss = set_add(ss, <<'x'>>) WHERE pk = 'none'")


def test_members_are_taken_out_of_a_set(call: Caller) -> None:
    run(call, "UPDATE abc SET ss = set_delete(ss, <<'a', 'zz'>>), ns = set_delete(ns, <<1, 2, 3>>) WHERE pk = 'i'")
    run(call, "UPDATE abc SET nope = set_delete(nope, <<'a'>>) WHERE pk = 'i'")
    assert members(call, "ss") == ["b", "c"]
    assert "ns" not in stored(call)
    assert "nope" not in stored(call)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("z = set_add(ss, <<'x'>>)", "The first argument to SET_ADD must equal the assignment value at 1:20:7"),
        ("s = set_add(<<'a'>>, <<'b'>>)", "The first argument to SET_ADD must equal the assignment value at 1:20:7"),
        ("ss = set_add(ss, 'x')", "The second argument to SET_ADD must be a value with type SET at 1:29:2"),
        ("ss = set_add(ss, ['x'])", "The second argument to SET_ADD must be a value with type SET at 1:29:2"),
        ("ss = set_add(ss)", "SET_ADD must have exactly two arguments at 1:21:7"),
        ("ss = set_add(ss, <<'x'>>, <<'y'>>)", "SET_ADD must have exactly two arguments at 1:21:7"),
        ("ss = set_add(ss, <<1>>)", WRONG_TYPE),
        ("s = set_add(s, <<'x'>>)", WRONG_TYPE),
        (
            "ss = set_add(ss, <<'x', 'x'>>)",
            "One or more parameter values were invalid: Input collection [x, x] contains duplicates.",
        ),
        ("ss = set_add(ss, <<>>)", "Empty bags are not supported"),
        (
            "m.inner = set_add(m.inner, <<'y'>>)",
            "Statement wasn't well formed, can't be processed: Invalid path dot component",
        ),
        ("z = set_delete(ss, <<'a'>>)", "The first argument to SET_DELETE must equal the assignment value at 1:20:10"),
        ("ss = set_delete(ss, 'a')", "The second argument to SET_DELETE must be a value with type SET at 1:32:2"),
        ("ss = set_delete(ss, <<1>>)", WRONG_TYPE),
        ("z = other(ss)", "Unrecognized function: other at 1:20:5"),
    ],
)
def test_a_change_that_is_wrong_is_refused(call: Caller, change: str, message: str) -> None:
    assert refusal(call, f"UPDATE abc SET {change} WHERE pk = 'i'") == message
    assert stored(call) == ITEM


def test_functions_of_sets_have_no_place_in_an_insert(call: Caller) -> None:
    statement = "INSERT INTO abc VALUE {'pk': 'new', 'ss': set_add(<<'a'>>, <<'b'>>)}"
    assert refusal(call, statement) == "Unsupported data type: set_add under key root at 1:43:7"


def test_from_may_stand_first(call: Caller) -> None:
    run(call, "FROM abc WHERE pk = 'i' SET c = 1")
    run(call, "from abc where pk = ? and n = 5 set d = ? remove s", {"S": "i"}, {"N": "7"})
    assert (stored(call)["c"], stored(call)["d"], "s" in stored(call)) == ({"N": "1"}, {"N": "7"}, False)
    returned = run(call, "FROM abc WHERE pk = 'i' REMOVE m RETURNING ALL NEW *")["Items"]
    assert returned == [stored(call)]
    for statement in ("FROM abc WHERE pk = 'i' AND n = 2 SET c = 5", "FROM abc WHERE pk = 'none' SET c = 1"):
        with pytest.raises(ConditionFailed):
            run(call, statement)


def test_an_insert_takes_every_type(call: Caller) -> None:
    run(
        call,
        "INSERT INTO abc VALUE {'pk': 'new', 's': 'it''s', 'n': -7.5E-1, 'b': ?, 'flag': TRUE, 'nul': NULL, "
        "'l': [1, 'a', [], {}, ?], 'm': {'x': {'y': [true]}}, 'ss': <<'a', 'b'>>, 'ns': <<1, 2.50>>, 'bs': ?}",
        {"B": "AQI="},
        {"M": {"p": {"S": "q"}}},
        {"BS": ["AQ=="]},
    )
    assert stored(call, "new") == {
        "pk": {"S": "new"},
        "s": {"S": "it's"},
        "n": {"N": "-0.75"},
        "b": {"B": "AQI="},
        "flag": {"BOOL": True},
        "nul": {"NULL": True},
        "l": {"L": [{"N": "1"}, {"S": "a"}, {"L": []}, {"M": {}}, {"M": {"p": {"S": "q"}}}]},
        "m": {"M": {"x": {"M": {"y": {"L": [{"BOOL": True}]}}}}},
        "ss": {"SS": ["a", "b"]},
        "ns": {"NS": ["1", "2.5"]},
        "bs": {"BS": ["AQ=="]},
    }


def test_a_change_reaches_into_documents(call: Caller) -> None:
    run(call, "UPDATE abc SET m.deep[0].y = m.deep[0].y + 1, l = list_append(l, ['z']) REMOVE m['sub'] WHERE pk = 'i'")
    assert stored(call)["m"] == {"M": {"deep": {"L": [{"M": {"y": {"N": "2"}}}]}}}
    assert stored(call)["l"] == {"L": [{"S": "x"}, {"N": "1"}, {"S": "z"}]}
