"""Parsing of statements: AWS's grammar, and AWS's wording of errors."""

# ruff: noqa: S608 - the statements are the tests' own

from __future__ import annotations

from typing import Any

import pytest
from tests.wire.support import Caller, Json

from partita.errors import RequestError, TableNotFound, ValidationFailed

NOT_WELL_FORMED = "Statement wasn't well formed, can't be processed: "
LEFTOVER = f"{NOT_WELL_FORMED}Unexpected token after expression"
TERM = f"{NOT_WELL_FORMED}Unexpected term"
NO_KEY = "Where clause does not contain a mandatory equality on all key attributes"
OVERFLOW = "Number overflow. Attempting to store a number with magnitude larger than supported range"
UNDERFLOW = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
UNCONVERTIBLE = "The parameter cannot be converted to a numeric value"
TOO_DEEP = (
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"
)

pytestmark = pytest.mark.rule(50)


@pytest.fixture
def call(call: Caller) -> Caller:
    """A caller with a table of numbers, and a table with a sort key."""
    numbers = [{"AttributeName": "pk", "AttributeType": "N"}]
    key = [{"AttributeName": "pk", "KeyType": "HASH"}]
    call("CreateTable", TableName="nums", BillingMode="PAY_PER_REQUEST", AttributeDefinitions=numbers, KeySchema=key)
    for number in ("7310000", "7.3", "-7.3"):
        call("PutItem", TableName="nums", Item={"pk": {"N": number}, "tag": {"S": "t"}})
    parts = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")]
    both = [*key, {"AttributeName": "sk", "KeyType": "RANGE"}]
    call("CreateTable", TableName="parts", BillingMode="PAY_PER_REQUEST", AttributeDefinitions=parts, KeySchema=both)
    for sort in "123":
        call("PutItem", TableName="parts", Item={"pk": {"S": "p"}, "sk": {"S": sort}, "n": {"N": sort}})
    return call


def run(call: Caller, statement: str, *parameters: Json) -> Json:
    given: dict[str, Any] = {"Parameters": list(parameters)} if parameters else {}
    return call("ExecuteStatement", Statement=statement, **given)


def refusal(call: Caller, statement: str, *parameters: Json) -> str:
    with pytest.raises(ValidationFailed) as refused:
        run(call, statement, *parameters)
    return refused.value.message


@pytest.mark.parametrize(
    ("literal", "number"),
    [
        ("7.31e6", "7310000"),
        ("7.31E6", "7310000"),
        ("7.31e+6", "7310000"),
        ("731e4", "7310000"),
        ("73100000e-1", "7310000"),
        (".73e1", "7.3"),
        ("-.73e1", "-7.3"),
        ("7.30", "7.3"),
        ("+7.3", "7.3"),
        ("- 7.3", "-7.3"),
        ("73.e-1", "7.3"),
    ],
)
def test_a_number_is_written_in_many_ways(call: Caller, literal: str, number: str) -> None:
    items = run(call, f"SELECT * FROM nums WHERE pk = {literal}")["Items"]
    assert [item["pk"]["N"] for item in items] == [number]
    run(call, f"DELETE FROM nums WHERE pk = {literal}")
    run(call, f"INSERT INTO nums VALUE {{'pk': {literal}}}")
    assert call("GetItem", TableName="nums", Key={"pk": {"N": number}})["Item"] == {"pk": {"N": number}}


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM parts WHERE pk = 'p' AND sk = '2' -- a note",
        "SELECT * FROM parts -- a note\nWHERE pk = 'p' AND sk = '2'",
        "-- a note\r\nSELECT * FROM parts WHERE pk = 'p' AND sk = '2'",
        "SELECT * /* a * note **/ FROM parts WHERE pk = 'p' /**/ AND sk = '2' /* -- */",
        "select * from parts where pk = 'p' and sk = '2';",
        'SELECT * FROM "parts" WHERE "pk"=\'p\'AND"sk"=\'2\'',
    ],
)
def test_comments_and_spaces_say_nothing(call: Caller, statement: str) -> None:
    assert [item["sk"]["S"] for item in run(call, statement)["Items"]] == ["2"]


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("pk = 'p' AND n = 1 OR pk = 'p' AND n = 3", "13"),
        ("pk = 'p' AND (n = 1 OR n = 3)", "13"),
        ("pk = 'p' AND NOT n = 1 AND n < 3", "2"),
        ("pk = 'p' AND NOT (n = 1 OR n = 2)", "3"),
        ("pk = 'p' AND NOT NOT n = 1", "1"),
        ("pk = 'p' AND n BETWEEN 1 AND 2 AND n <> 1", "2"),
        ("pk = 'p' AND n NOT BETWEEN 1 AND 2 OR pk = 'p' AND n = 1", "13"),
        ("pk = 'p' AND n IN (1, 3) AND NOT n IN [1]", "3"),
        ("pk = 'p' AND n NOT IN <<1, 2>>", "3"),
        ("pk = 'p' AND (((n = 2)))", "2"),
        ("pk = 'p' AND n = 2 = true", "2"),
        ("'p' = pk AND 2 <= n AND 2 >= n", "2"),
        ("pk = 'p' AND n != 2 AND n != 3", "1"),
    ],
)
def test_operators_bind_by_their_precedence(call: Caller, where: str, found: str) -> None:
    statement = f"SELECT * FROM parts WHERE {where}"
    assert sorted(item["sk"]["S"] for item in run(call, statement)["Items"]) == list(found)


MALFORMED: dict[str, str] = {
    "SELECT * FROM nums WHERE pk = 1 foo": LEFTOVER,
    "SELECT * FROM nums WHERE pk = 1 e5": LEFTOVER,
    "INSERT INTO nums VALUE {'pk': 9} foo": LEFTOVER,
    "INSERT INTO nums n VALUE {'pk': 9}": LEFTOVER,
    "UPDATE nums SET a = 9 WHERE pk = 9 foo": LEFTOVER,
    "UPDATE nums REMOVE a, b WHERE pk = 9": LEFTOVER,
    "DELETE FROM nums WHERE pk = 9 foo": LEFTOVER,
    "DELETE FROM nums WHERE pk = 9 ORDER BY pk": LEFTOVER,
    "SELECT * FROM nums ORDER BY pk WHERE pk = 1": LEFTOVER,
    "SELECT * FROM nums WHERE pk = 1)": LEFTOVER,
    "FROM nums SET c = 1 WHERE pk = 1": LEFTOVER,
    "FROM nums SET c = 1 WHERE pk = 1 SET d = 2": LEFTOVER,
    "SELECT * FROM nums; SELECT * FROM nums": (
        f"{NOT_WELL_FORMED}Unexpected token after semicolon. (Only one query is allowed.)"
    ),
    "SELECT * FROM nums WHERE pk = 1e2147483648": NOT_WELL_FORMED,
    "SELECT * FROM nums WHERE pk = 1e99999999999": NOT_WELL_FORMED,
    "SELECT * FROM nums WHERE pk = 1.5e-2147483647": NOT_WELL_FORMED,
    "SELECT * FROM nums WHERE pk = 1e": NOT_WELL_FORMED,
    "SELECT * FROM nums WHERE pk = 1 # note": NOT_WELL_FORMED,
    "SELECT * FROM nums WHERE pk = 1 /* note": NOT_WELL_FORMED,
    "SELECT * FROM nums WHERE tag = 'open": NOT_WELL_FORMED,
    'SELECT * FROM "nums': NOT_WELL_FORMED,
    "SELECT * FROM nums WHERE pk ! 1": NOT_WELL_FORMED,
    "SELECT * FROM nums WHERE": TERM,
    "SELECT * FROM nums WHERE;": TERM,
    "SELECT pk FROM nums WHERE   ": TERM,
    "UPDATE nums SET a = 1 WHERE": TERM,
    "DELETE FROM nums WHERE": TERM,
    "SELECT * FROM nums WHERE NOT": TERM,
    "SELECT * FROM nums WHERE (": TERM,
    "SELECT * FROM nothere WHERE": TERM,
    "SELECT * FROM": TERM,
    "SELECT * FROM nums WHERE pk = 1 AND": (f"{NOT_WELL_FORMED}Missing right-hand side expression of infix operator"),
    "SELECT * FROM nums WHERE pk = 1 OR": (f"{NOT_WELL_FORMED}Missing right-hand side expression of infix operator"),
    "SELECT * FROM nums WHERE ORDER BY pk": f"{NOT_WELL_FORMED}Unexpected keyword",
    "SELECT * FROM nums WHERE user = 'a'": f"{NOT_WELL_FORMED}Unexpected keyword",
    "SELECT * FROM nums WHERE IS NULL": f"{NOT_WELL_FORMED}Unexpected operator",
    "SELECT * FROM nums WHERE pk = LIKE": f"{NOT_WELL_FORMED}Unexpected operator",
    "SELECT * FROM nums WHERE pk = 1 AND x IS FOO": f"{NOT_WELL_FORMED}Expected type name",
    "SELECT * FROM nums WHERE pk = 1 AND m.inner = 1": f"{NOT_WELL_FORMED}Invalid path dot component",
    "DELETE FROM": f"{NOT_WELL_FORMED}Expected identifier for simple path",
    "DELETE FROM;": f"{NOT_WELL_FORMED}Expected identifier for simple path",
    "DELETE FROM WHERE pk = 1": f"{NOT_WELL_FORMED}Expected identifier for simple path",
    "UPDATE nums WHERE pk = 1": f"{NOT_WELL_FORMED}Expected data manipulation",
    "UPDATE nums SET a 1 WHERE pk = 1": f"{NOT_WELL_FORMED}Expected '='",
    "SELECT *, pk FROM nums": (
        f"{NOT_WELL_FORMED}Other expressions may not be present in the select list "
        "when '*' is used without dot notation."
    ),
    "SELECT * nums": f"{NOT_WELL_FORMED}Expected FROM after SELECT list",
    "SELECT * FROM nums WHERE pk IN (1": f"{NOT_WELL_FORMED}Expected RIGHT_PAREN",
    "SELECT * FROM nums WHERE pk IN [1": f"{NOT_WELL_FORMED}Expected RIGHT_BRACKET",
    "INSERT INTO nums VALUE {'pk' 1}": f"{NOT_WELL_FORMED}Expected COLON",
    "SELECT * FROM nums WHERE pk BETWEEN 1 OR 2": f"{NOT_WELL_FORMED}Expected AND keyword",
    "SELECTT * FROM nums": f"{NOT_WELL_FORMED}Expected data manipulation",
}


@pytest.mark.parametrize(("statement", "message"), MALFORMED.items(), ids=MALFORMED.keys())
def test_broken_grammar_is_refused(call: Caller, statement: str, message: str) -> None:
    assert refusal(call, statement) == message


REFUSED: dict[str, str] = {
    "SELECT * FROM nums n WHERE pk = 1": "Aliasing is not supported",
    "SELECT * FROM nums AS n WHERE pk = 1": "Aliasing is not supported",
    "SELECT tag AS t FROM nums WHERE pk = 1": "Aliasing is not supported",
    "UPDATE nums n SET a = 3 WHERE pk = 1": "Aliasing is not supported",
    "DELETE FROM nums n WHERE pk = 1": "Aliasing is not supported",
    "SELECT * FROM nums WHERE pk = 1e126": f"{OVERFLOW} under root",
    "SELECT * FROM nums WHERE pk = 1e-131": f"{UNDERFLOW} under root",
    "SELECT * FROM nums WHERE pk = 123456789012345678901234567890123456789": (
        "Attempting to store more than 38 significant digits in a Number under root"
    ),
    "INSERT INTO nums VALUE {'pk': 1e126}": f"{OVERFLOW} under root",
    "UPDATE nums SET a = 1e-131 WHERE pk = 1": f"{UNDERFLOW} under root",
    "INSERT INTO nums VALUE {'pk': 1, 'm': {'x': 1e126}}": f"{OVERFLOW} under root.x",
    "INSERT INTO nums VALUE {'pk': 1, 'l': [1, 1e126]}": f"{OVERFLOW} under root[1]",
    "x IS INT4": "Unsupported operation: IsType",
    "x IS INT8": "Unsupported operation: IsType",
    "x IS DOUBLE PRECISION": "Unsupported operation: IsType",
    "x IS CHARACTER VARYING": "Unsupported operation: IsType",
    "FROM nums SET c = 1": NO_KEY,
    "FROM nums REMOVE a": NO_KEY,
    "FROM nums WHERE a = 1 SET c = 1": NO_KEY,
    "UPDATE nums SET a = 1": NO_KEY,
    "DELETE FROM nums": NO_KEY,
    "DELETE FROM nums WHERE tag = 't'": NO_KEY,
    'SELECT * FROM "" WHERE pk = 1': "Path component cannot be an empty string",
    "SELECT * FROM nums.a.b WHERE pk = 1": "A path may contain at most 2 components in the FROM clause",
    "SELECT COUNT(*) FROM nums": "Unexpected path component at 1:8:5",
    "SELECT\n count(pk) FROM nothere": "Unexpected path component at 2:2:5",
    "INSERT INTO nums.i VALUE {'pk': 1}": (
        "FROM clause may only contain a single table name in data manipulation statements at 1:13:4"
    ),
    "UPDATE nums.i SET a = 1 WHERE pk = 1": "This operation is not supported on an index",
    "DELETE FROM nums.i WHERE pk = 1": "This operation is not supported on an index",
    "DELETE FROM nums WHERE pk = 1 RETURNING MODIFIED OLD *": (
        "Invalid returning clause: RETURNING MODIFIED OLD *. Only RETURNING ALL OLD * is allowed in DELETE statements."
    ),
    "DELETE FROM nums WHERE pk = 1 RETURNING ALL NEW *": (
        "Invalid returning clause: RETURNING ALL NEW *. Only RETURNING ALL OLD * is allowed in DELETE statements."
    ),
}


@pytest.mark.parametrize(("statement", "message"), REFUSED.items(), ids=REFUSED.keys())
def test_what_dynamodb_does_not_have_is_refused(call: Caller, statement: str, message: str) -> None:
    assert refusal(call, statement) == message
    assert call("Scan", TableName="nums", Select="COUNT")["Count"] == 3


def test_a_table_that_is_not_there_is_said_after_what_is_wrong_with_the_statement(call: Caller) -> None:
    assert "Incorrect operand type" in refusal(call, "SELECT pk FROM nothere WHERE pk = 'x' AND v < true")
    for statement in ("SELECT pk FROM nothere WHERE pk = 'x'", "FROM nothere WHERE pk = 'x' SET c = 1"):
        with pytest.raises(TableNotFound):
            run(call, statement)


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("pk = 'p' AND NOT sk = '1' OR pk = 'p' AND sk = '2'", "23"),
        ("pk = 'p' AND sk <> '1' OR pk = 'p' AND sk = '2'", "23"),
        ("pk = 'p' AND NOT begins_with(sk, 'x') OR pk = 'p' AND sk = '2'", "123"),
        ("pk = 'p' AND NOT sk IN ['1', '3'] OR pk = 'p' AND sk = '2'", "2"),
        ("pk = 'p' AND NOT sk > '5' OR pk = 'p' AND sk = '2'", "123"),
        ("pk = 'p' OR pk = 'p' AND NOT sk = '1'", "123"),
        ("pk = 'p' AND sk = '1' OR pk = 'p' AND sk = '3'", "13"),
        ("pk = 'p' AND sk < '2' OR pk = 'p' AND sk >= '3'", "13"),
        ("pk = 'p' AND sk = '1' OR pk = 'q' AND sk = '1'", "1"),
    ],
)
def test_branches_that_do_not_meet_are_read_together(call: Caller, where: str, found: str) -> None:
    statement = f"SELECT * FROM parts WHERE {where}"
    assert sorted(item["sk"]["S"] for item in run(call, statement)["Items"]) == list(found)


@pytest.mark.parametrize(
    "where",
    [
        "pk = 'p' AND x = '1' OR pk = 'p' AND sk = '2'",
        "pk = 'p' AND x <> '1' OR pk = 'p' AND sk = '2'",
        "pk = 'p' AND sk > '1' OR pk = 'p' AND sk = '2'",
        "pk = 'p' AND sk BETWEEN '1' AND '2' OR pk = 'p' AND sk >= '2'",
        "pk = 'p' AND (begins_with(sk, '1') OR sk = '12')",
    ],
)
def test_branches_that_meet_in_the_sort_key_are_refused(call: Caller, where: str) -> None:
    statement = f"SELECT * FROM parts WHERE {where}"
    assert refusal(call, statement) == "Overlapping conditions with range keys are not supported in where clause"


POSITIONS = [
    "SELECT * FROM parts WHERE pk = 'p' AND n = ?",
    "INSERT INTO parts VALUE {'pk': 'new', 'sk': '1', 'n': ?}",
    "UPDATE parts SET n = ? WHERE pk = 'p' AND sk = '1'",
    "SELECT * FROM parts WHERE pk = ?",
]


@pytest.mark.parametrize("statement", POSITIONS)
def test_a_parameter_that_is_no_number_is_refused_wherever_it_stands(call: Caller, statement: str) -> None:
    for text in ("1e99999999999", "-1e99999999999", "1e-99999999999", "1e2147483648", "1e-2147483648", "abc"):
        assert refusal(call, statement, {"N": text}) == f"{UNCONVERTIBLE}: {text}"
    assert refusal(call, statement, {"N": "1e2147483647"}) == UNDERFLOW
    assert refusal(call, statement, {"N": ""}) == UNCONVERTIBLE
    assert refusal(call, statement, {"NS": ["1", "1e99999999999"]}) == f"{UNCONVERTIBLE}: 1e99999999999"


def deep(levels: int, leaf: Json) -> Json:
    return leaf if levels == 0 else {"M": {"n": deep(levels - 1, leaf)}}


def test_the_first_fault_of_a_parameter_is_named(call: Caller) -> None:
    number, nested = {"N": "abc"}, deep(40, {"S": "leaf"})
    statement = "SELECT * FROM parts WHERE pk = 'p' AND x = ? AND y = ?"
    assert refusal(call, statement, nested, number) == TOO_DEEP
    assert refusal(call, statement, number, nested) == f"{UNCONVERTIBLE}: abc"
    one = "SELECT * FROM parts WHERE pk = 'p' AND x = ?"
    assert refusal(call, one, {"M": {"d": nested, "bad": number}}) == TOO_DEEP
    assert refusal(call, one, {"M": {"bad": number, "d": nested}}) == f"{UNCONVERTIBLE}: abc"
    assert refusal(call, one, deep(40, number)) == TOO_DEEP


def test_parameters_are_as_many_as_question_marks(call: Caller) -> None:
    message = "Number of parameters in request and statement don't match."
    assert refusal(call, "SELECT * FROM parts WHERE pk = ?") == message
    assert refusal(call, "SELECT * FROM parts WHERE pk = 'p'", {"S": "p"}) == message


def test_a_statement_has_a_length(call: Caller) -> None:
    at_least = (
        "Value '' at 'statement' failed to satisfy constraint: Member must have length greater than or equal to 1"
    )
    assert refusal(call, "") == f"1 validation error detected: {at_least}"
    with pytest.raises(ValidationFailed, match="less than or equal to 8192"):
        run(call, "SELECT * FROM parts" + " " * 8_192)


@pytest.mark.parametrize("opening", ["(", "[", "{'a': ", "<<", "NOT ", "-", "f(", "x["])
def test_a_statement_that_is_nested_too_deeply_is_refused(call: Caller, opening: str) -> None:
    with pytest.raises(RequestError):
        run(call, f"SELECT * FROM parts WHERE {opening * 1_000}")
