"""Error messages in AWS's wording of October 2026."""

from __future__ import annotations

from typing import Any

import pytest
from tests.wire.support import Caller, Json, task

from partita.errors import TransactionCancelled, ValidationFailed

pytestmark = pytest.mark.rule(45)

INVALID = "One or more parameter values were invalid: "
OVERFLOW = "Number overflow. Attempting to store a number with magnitude larger than supported range"
UNDERFLOW = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
NOT_NUMERIC = "The parameter cannot be converted to a numeric value"
TOO_DEEP = (
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"
)
CAPACITY = (
    "Value 'BOGUS' at 'returnConsumedCapacity' failed to satisfy constraint: "
    "Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"
)
METRICS = (
    "Value 'BOGUS' at 'returnItemCollectionMetrics' failed to satisfy constraint: "
    "Member must satisfy enum value set: [SIZE, NONE]"
)
RETURNS = (
    "Failed to satisfy constraint: Member must satisfy enum value set: "
    "[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"
)
KEY = task("u", "1")
ONE_OF_EACH = ["abc", "", "1e126", "1e2147483647"]
CURRENT = [f"{NOT_NUMERIC}: abc", f"{NOT_NUMERIC}: ", OVERFLOW, OVERFLOW]
OLDER = [f"{NOT_NUMERIC}: abc", NOT_NUMERIC, OVERFLOW, UNDERFLOW]
SETS: list[Json] = [{"SS": ["b", "a", "b"]}, {"BS": ["/w==", "AA==", "AA=="]}, {"NS": ["2", "1", "2"]}]
CURRENT_SETS = [
    f'{INVALID}Input collection ["a", "b", "b"] contains duplicates.',
    f'{INVALID}Input collection ["AA==","/w==","AA=="]of type BS contains duplicates.',
    f"{INVALID}Input collection contains duplicates.",
]
OLDER_SETS = [
    f"{INVALID}Input collection [b, a, b] contains duplicates.",
    f"{INVALID}Input collection [/w==, AA==, AA==]of type BS contains duplicates.",
    "Input collection contains duplicates",
]


def one(message: str) -> str:
    return f"1 validation error detected: {message}"


def refusal(call: Caller, operation: str, **parameters: Any) -> str:
    with pytest.raises(ValidationFailed) as refused:
        call(operation, **parameters)
    return refused.value.message


def put(value: Json) -> tuple[str, Json]:
    return "PutItem", {"TableName": "tasks", "Item": {**KEY, "v": value}}


def put_nested(value: Json) -> tuple[str, Json]:
    return put({"M": {"x": {"L": [value]}}})


def put_condition(value: Json) -> tuple[str, Json]:
    condition = {"ConditionExpression": "n = :v", "ExpressionAttributeValues": {":v": value}}
    return "PutItem", {"TableName": "tasks", "Item": KEY, **condition}


def put_expected(value: Json) -> tuple[str, Json]:
    return "PutItem", {"TableName": "tasks", "Item": KEY, "Expected": {"v": {"Value": value}}}


def update(value: Json) -> tuple[str, Json]:
    changes = {"UpdateExpression": "SET v = :v", "ExpressionAttributeValues": {":v": value}}
    return "UpdateItem", {"TableName": "tasks", "Key": KEY, **changes}


def update_older(value: Json) -> tuple[str, Json]:
    changes = {"AttributeUpdates": {"v": {"Action": "PUT", "Value": value}}}
    return "UpdateItem", {"TableName": "tasks", "Key": KEY, **changes}


def update_key(value: Json) -> tuple[str, Json]:
    return "UpdateItem", {"TableName": "tasks", "Key": {**KEY, "task": value}}


def delete_key(value: Json) -> tuple[str, Json]:
    return "DeleteItem", {"TableName": "tasks", "Key": {**KEY, "task": value}}


def delete_condition(value: Json) -> tuple[str, Json]:
    return "DeleteItem", {**put_condition(value)[1], "Key": KEY}


def get(value: Json) -> tuple[str, Json]:
    return "GetItem", {"TableName": "tasks", "Key": {**KEY, "task": value}}


def batch_get(value: Json) -> tuple[str, Json]:
    return "BatchGetItem", {"RequestItems": {"tasks": {"Keys": [{**KEY, "task": value}]}}}


def query(value: Json) -> tuple[str, Json]:
    expressions = {"KeyConditionExpression": "#u = :u", "FilterExpression": "v = :v"}
    names = {"ExpressionAttributeNames": {"#u": "user"}, "ExpressionAttributeValues": {":u": KEY["user"], ":v": value}}
    return "Query", {"TableName": "tasks", **expressions, **names}


def query_older(value: Json) -> tuple[str, Json]:
    key = {"KeyConditions": {"user": {"ComparisonOperator": "EQ", "AttributeValueList": [KEY["user"]]}}}
    filtering = {"QueryFilter": {"v": {"ComparisonOperator": "EQ", "AttributeValueList": [value]}}}
    return "Query", {"TableName": "tasks", **key, **filtering}


def scan(value: Json) -> tuple[str, Json]:
    values = {"ExpressionAttributeValues": {":v": value}}
    return "Scan", {"TableName": "tasks", "FilterExpression": "v = :v", **values}


def batch_put(value: Json) -> tuple[str, Json]:
    return "BatchWriteItem", {"RequestItems": {"tasks": [{"PutRequest": {"Item": {**KEY, "v": value}}}]}}


def batch_delete(value: Json) -> tuple[str, Json]:
    return "BatchWriteItem", {"RequestItems": {"tasks": [{"DeleteRequest": {"Key": {**KEY, "task": value}}}]}}


def transact_put(value: Json) -> tuple[str, Json]:
    return "TransactWriteItems", {"TransactItems": [{"Put": put(value)[1]}]}


def transact_update(value: Json) -> tuple[str, Json]:
    return "TransactWriteItems", {"TransactItems": [{"Update": update(value)[1]}]}


def transact_check(value: Json) -> tuple[str, Json]:
    check = {"TableName": "tasks", "Key": KEY, "ConditionExpression": "v = :v"}
    return "TransactWriteItems", {
        "TransactItems": [{"ConditionCheck": {**check, "ExpressionAttributeValues": {":v": value}}}]
    }


def transact_get(value: Json) -> tuple[str, Json]:
    return "TransactGetItems", {"TransactItems": [{"Get": get(value)[1]}]}


ENVELOPED = [
    put,
    put_nested,
    put_condition,
    put_expected,
    update,
    update_older,
    update_key,
    delete_key,
    delete_condition,
]
BARE = [get, batch_get, query, query_older]
IN_OLDER_WORDS = [batch_put, batch_delete, transact_put, transact_get]
NAMING_THE_PLACEHOLDER = [scan, transact_update, transact_check]


def wrapped(message: str) -> str:
    return f"ExpressionAttributeValues contains invalid value: {message} for key :v"


def answers(call: Caller, request: Any, values: list[Json]) -> list[str]:
    return [refusal(call, operation, **given) for operation, given in map(request, values)]


@pytest.mark.parametrize("request_of", ENVELOPED)
def test_writes_of_one_item_refuse_in_the_envelope(call: Caller, request_of: Any) -> None:
    numbers = [{"N": text} for text in ONE_OF_EACH]
    assert answers(call, request_of, numbers) == list(map(one, CURRENT))
    assert answers(call, request_of, SETS) == list(map(one, CURRENT_SETS))
    assert call("Scan", TableName="tasks")["Count"] == 0


@pytest.mark.parametrize("request_of", BARE)
def test_reads_refuse_bare(call: Caller, request_of: Any) -> None:
    assert answers(call, request_of, [{"N": text} for text in ONE_OF_EACH]) == CURRENT
    assert answers(call, request_of, SETS) == CURRENT_SETS


@pytest.mark.parametrize("request_of", IN_OLDER_WORDS)
def test_batches_of_writes_and_transactions_refuse_in_older_words(call: Caller, request_of: Any) -> None:
    assert answers(call, request_of, [{"N": text} for text in ONE_OF_EACH]) == OLDER
    assert answers(call, request_of, SETS) == OLDER_SETS


@pytest.mark.parametrize("request_of", NAMING_THE_PLACEHOLDER)
def test_older_words_name_the_placeholder(call: Caller, request_of: Any) -> None:
    assert answers(call, request_of, [{"N": text} for text in ONE_OF_EACH]) == list(map(wrapped, OLDER))
    assert answers(call, request_of, SETS) == list(map(wrapped, OLDER_SETS))


@pytest.mark.rule(1, 3)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1e99999999999", OVERFLOW),
        ("1e-99999999999", UNDERFLOW),
        ("1e2147483648", OVERFLOW),
        ("1e-2147483648", UNDERFLOW),
        ("1e-131", UNDERFLOW),
        ("0e126", OVERFLOW),
        ("0e-131", UNDERFLOW),
        ("1e9223372036854775808", f"{NOT_NUMERIC}: 1e9223372036854775808"),
        ("1.2.3", f"{NOT_NUMERIC}: 1.2.3"),
        (" 1", f"{NOT_NUMERIC}:  1"),
        ("NaN", f"{NOT_NUMERIC}: NaN"),
        ("1" * 39, "Attempting to store more than 38 significant digits in a Number"),
    ],
)
def test_a_text_that_is_no_number_is_refused(call: Caller, text: str, message: str) -> None:
    operation, given = put({"N": text})
    assert refusal(call, operation, **given) == one(message)


def deep(levels: int) -> Json:
    return {"S": "leaf"} if levels == 0 else {"M": {"n": deep(levels - 1)}}


@pytest.mark.rule(7)
def test_nesting_is_refused_in_the_same_words_everywhere(call: Caller) -> None:
    for request_of in (put, update, put_condition):
        assert answers(call, request_of, [deep(32)]) == [one(TOO_DEEP)]
    assert answers(call, batch_put, [deep(32)]) == [TOO_DEEP]
    assert answers(call, transact_put, [deep(32)]) == [TOO_DEEP]
    assert answers(call, transact_update, [deep(32)]) == [wrapped(TOO_DEEP)]
    call("PutItem", **put(deep(31))[1])


@pytest.mark.parametrize(
    "given",
    [
        {"Key": KEY, "ConditionExpression": "d = :v", "ExpressionAttributeValues": {":v": deep(63)}},
        {"Key": KEY, "Expected": {"d": {"Value": deep(63)}}},
        {"Key": {**KEY, "task": deep(100)}},
    ],
    ids=["condition", "expected", "key"],
)
def test_a_request_that_is_nested_very_deep_is_refused_in_older_words(call: Caller, given: Json) -> None:
    older = "Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
    message = f"Value 'BOGUS' at 'returnValues' failed to satisfy constraint: {older}"
    given = {"TableName": "tasks", **given}
    assert refusal(call, "DeleteItem", **given, ReturnValues="BOGUS") == one(message)
    if given["Key"] == KEY:  # otherwise the key is refused first
        message = "ReturnValues can only be ALL_OLD or NONE"
        assert refusal(call, "DeleteItem", **given, ReturnValues="UPDATED_NEW") == message
    shallow = {"ConditionExpression": "d = :v", "ExpressionAttributeValues": {":v": deep(40)}}
    asked = {"TableName": "tasks", "Key": KEY, "ReturnValues": "BOGUS"}
    assert refusal(call, "DeleteItem", **asked, **shallow) == one(RETURNS)


def test_an_unknown_operator_is_said_before_the_depth_of_a_value(call: Caller) -> None:
    expected = {"Expected": {"a": {"Value": deep(100)}, "b": {"Exists": False}}, "ConditionalOperator": "XOR"}
    message = "Value 'XOR' at 'conditionalOperator' failed to satisfy constraint: "
    assert refusal(call, "PutItem", TableName="tasks", Item=KEY, **expected) == (
        one(f"{message}Member must satisfy enum value set: [OR, AND]")
    )
    expected["Expected"] = {"a": {"Value": deep(40)}, "b": {"Exists": False}}
    current = "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]"
    assert refusal(call, "PutItem", TableName="tasks", Item=KEY, **expected) == one(current)


def test_several_violated_constraints_are_all_named(call: Caller) -> None:
    bad = {"ReturnConsumedCapacity": "BOGUS", "ReturnItemCollectionMetrics": "BOGUS", "ReturnValues": "BOGUS"}
    in_both = f"3 validation errors detected: {CAPACITY}; {RETURNS}; {METRICS}"
    assert refusal(call, "PutItem", TableName="tasks", Item=KEY, **bad) == in_both
    assert refusal(call, "DeleteItem", TableName="tasks", Key=KEY, **bad) == in_both
    assert refusal(call, "UpdateItem", TableName="tasks", Key=KEY, **bad) == one(RETURNS)
    del bad["ReturnItemCollectionMetrics"]
    assert refusal(call, "DeleteItem", TableName="tasks", Key=KEY, **bad) == (
        f"2 validation errors detected: {CAPACITY}; {RETURNS}"
    )
    assert refusal(call, "GetItem", TableName="tasks", Key=KEY, ReturnConsumedCapacity="BOGUS") == one(CAPACITY)


def test_an_empty_table_name_is_named_alone(call: Caller) -> None:
    bad = {"TableName": "", "ReturnValues": "BOGUS", "ReturnConsumedCapacity": "BOGUS"}
    message = "Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1"
    assert refusal(call, "PutItem", Item={}, **bad) == one(message)
    assert refusal(call, "DeleteItem", Key={}, **bad) == one(message)
    assert refusal(call, "UpdateItem", Key={}, **bad) == one(message)


def test_a_missing_key_brings_the_older_words_back(call: Caller) -> None:
    name = "Value '' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 1"
    key = "Value null at 'key' failed to satisfy constraint: Member must not be null"
    older = "Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
    returns = f"Value 'BOGUS' at 'returnValues' failed to satisfy constraint: {older}"
    assert refusal(call, "UpdateItem", TableName="") == f"2 validation errors detected: {name}; {key}"
    bad = {"ReturnConsumedCapacity": "BOGUS", "ReturnValues": "BOGUS"}
    assert refusal(call, "UpdateItem", TableName="", **bad) == (
        f"4 validation errors detected: {CAPACITY}; {name}; {returns}; {key}"
    )
    operator = "Value 'XOR' at 'conditionalOperator' failed to satisfy constraint: "
    expected = {"Expected": {"a": {"Exists": False}, "b": {"Exists": False}}, "ConditionalOperator": "XOR"}
    assert refusal(call, "UpdateItem", TableName="tasks", **expected) == (
        f"2 validation errors detected: {operator}Member must satisfy enum value set: [OR, AND]; {key}"
    )


def test_an_unknown_conditional_operator_is_refused_in_current_words(call: Caller) -> None:
    message = "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]"
    expected = {"Expected": {"a": {"Exists": False}, "b": {"Exists": False}}, "ConditionalOperator": "XOR"}
    assert refusal(call, "PutItem", TableName="tasks", Item=KEY, **expected) == one(message)
    asked = {**query_older({"S": "x"})[1], "ConditionalOperator": "XOR", "Select": "BOGUS"}
    assert refusal(call, "Query", **asked) == message


def test_a_conditional_operator_joins_at_least_two(call: Caller) -> None:
    message = "ConditionalOperator can only be used when Filter or Expected has two or more elements"
    expected = {"Expected": {"a": {"Exists": False}}, "ConditionalOperator": "AND"}
    assert refusal(call, "PutItem", TableName="tasks", Item=KEY, **expected) == one(message)
    asked = {"ScanFilter": {"a": {"ComparisonOperator": "NULL"}}, "ConditionalOperator": "AND"}
    assert refusal(call, "Scan", TableName="tasks", **asked) == message


@pytest.mark.parametrize("operation", ["PutItem", "DeleteItem"])
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"ExpressionAttributeValues": {":v": {"S": "x"}}},
            "ExpressionAttributeValues can only be specified when using expressions",
        ),
        (
            {"ExpressionAttributeNames": {"#a": "a"}},
            "ExpressionAttributeNames can only be specified when using expressions",
        ),
        (
            {"Expected": {"a": {"Exists": False}}, "ExpressionAttributeNames": {"#a": "a"}},
            "ExpressionAttributeNames can only be specified when using expressions",
        ),
        (
            {"ConditionExpression": "attribute_exists(a)", "ExpressionAttributeValues": {}},
            "ExpressionAttributeValues must not be empty",
        ),
        (
            {"ConditionExpression": "attribute_exists(a)", "ExpressionAttributeNames": {}},
            "ExpressionAttributeNames must not be empty",
        ),
        ({"ConditionExpression": ""}, "Invalid ConditionExpression: The expression can not be empty;"),
        (
            {"ConditionExpression": "((a = b))"},
            "Invalid ConditionExpression: The expression has redundant parentheses;",
        ),
        (
            {"ConditionExpression": "a = :v"},
            (
                "Invalid ConditionExpression: An expression attribute value used in expression is not defined; "
                "attribute value: :v"
            ),
        ),
        (
            {"ConditionExpression": "a = b", "ExpressionAttributeNames": {"#u": "u"}},
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#u}",
        ),
        ({"ReturnValues": "ALL_NEW"}, "ReturnValues can only be ALL_OLD or NONE"),
        (
            {"Expected": {"a": {"Exists": False}}, "ConditionExpression": "attribute_exists(a)"},
            (
                "Can not use both expression and non-expression parameters in the same request: Non-expression "
                "parameters: {Expected} Expression parameters: {ConditionExpression}"
            ),
        ),
        (
            {"Expected": {"a": {"Exists": True}}},
            f"{INVALID}Value must be provided when Exists is true for Attribute: a",
        ),
        (
            {"Expected": {"a": {"Exists": False, "Value": {"S": "x"}}}},
            f"{INVALID}Value cannot be used when Exists is false for Attribute: a",
        ),
        (
            {"Expected": {"a": {"Value": {"S": "x"}, "ComparisonOperator": "EQ", "AttributeValueList": [{"S": "x"}]}}},
            f"{INVALID}Value and AttributeValueList cannot be used together for Attribute: a",
        ),
        (
            {"Expected": {"a": {"ComparisonOperator": "EQ"}}},
            f"{INVALID}Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: a",
        ),
        (
            {"Expected": {"a": {"ComparisonOperator": "BETWEEN", "AttributeValueList": [{"S": "x"}]}}},
            f"{INVALID}Invalid number of argument(s) for the BETWEEN ComparisonOperator",
        ),
    ],
)
def test_what_a_request_says_is_refused_in_the_envelope(
    call: Caller, operation: str, given: Json, message: str
) -> None:
    subject = {"Item": KEY} if operation == "PutItem" else {"Key": KEY}
    assert refusal(call, operation, TableName="tasks", **subject, **given) == one(message)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"UpdateExpression": "INVALID SYNTAX HERE"},
            'Invalid UpdateExpression: Syntax error; token: "INVALID", near: "INVALID SYNTAX"',
        ),
        ({"UpdateExpression": ""}, "Invalid UpdateExpression: The expression can not be empty;"),
        (
            {"UpdateExpression": "SET b = :w", "ConditionExpression": "a = :v"},
            (
                "Invalid ConditionExpression: An expression attribute value used in expression is not defined; "
                "attribute value: :v"
            ),
        ),
        (
            {"UpdateExpression": "SET b = :w", "AttributeUpdates": {}},
            (
                "Can not use both expression and non-expression parameters in the same request: Non-expression "
                "parameters: {AttributeUpdates} Expression parameters: {UpdateExpression}"
            ),
        ),
    ],
)
def test_an_update_refuses_in_the_envelope(call: Caller, given: Json, message: str) -> None:
    values = {"ExpressionAttributeValues": {":w": {"S": "x"}}} if ":w" in str(given) else {}
    assert refusal(call, "UpdateItem", TableName="tasks", Key=KEY, **given, **values) == one(message)


def test_what_the_table_refuses_is_bare(call: Caller) -> None:
    changes = {"UpdateExpression": "SET task = :v", "ExpressionAttributeValues": {":v": {"S": "x"}}}
    assert refusal(call, "UpdateItem", TableName="tasks", Key=KEY, **changes) == (
        f"{INVALID}Cannot update attribute task. This attribute is part of the key"
    )
    wrong = {**KEY, "task": {"N": "5"}}
    assert refusal(call, "DeleteItem", TableName="tasks", Key=wrong) == (
        "The provided key element does not match the schema"
    )
    empty = {**KEY, "task": {"S": ""}}
    assert refusal(call, "DeleteItem", TableName="tasks", Key=empty) == (
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "
        "string value. Key: task"
    )


def test_others_say_which_expressions_are_missing(call: Caller) -> None:
    values = {"ExpressionAttributeValues": {":v": {"S": "x"}}}
    unusable = "ExpressionAttributeValues can only be specified when using expressions: FilterExpression is null"
    assert refusal(call, "Scan", TableName="tasks", **values) == unusable


def test_a_query_for_specific_attributes_names_them(call: Caller) -> None:
    message = "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"
    asked = {**query({"S": "x"})[1], "Select": "SPECIFIC_ATTRIBUTES"}
    assert refusal(call, "Query", **asked) == one(message)
    assert refusal(call, "Scan", TableName="tasks", Select="SPECIFIC_ATTRIBUTES") == message


BAD_NAME = (
    "Value 'bad!name' at 'transactItems.{}.tableName' failed to satisfy constraint: "
    "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
)


def test_the_table_of_an_action_is_named_by_its_place(call: Caller) -> None:
    bad = {"TableName": "bad!name"}
    rests: dict[str, Json] = {
        "Put": {"Item": KEY},
        "Delete": {"Key": KEY},
        "Update": {"Key": KEY, "UpdateExpression": "SET a = b"},
        "ConditionCheck": {"Key": KEY, "ConditionExpression": "attribute_exists(a)"},
    }
    for name, rest in rests.items():
        at = f"2.member.{name[:1].lower()}{name[1:]}"
        actions = [{"Put": put({"S": "x"})[1]}, {name: {**bad, **rest}}]
        assert refusal(call, "TransactWriteItems", TransactItems=actions) == one(BAD_NAME.format(at))
    gets = [{"Get": {"TableName": "tasks", "Key": KEY}}, {"Get": {**bad, "Key": KEY}}]
    assert refusal(call, "TransactGetItems", TransactItems=gets) == one(BAD_NAME.format("2.member.get"))


def test_a_missing_part_of_an_action_is_named_by_its_place(call: Caller) -> None:
    missing = one("Value null at 'transactItems.2.member.{}' failed to satisfy constraint: Member must not be null")
    first, key = {"Put": put({"S": "x"})[1]}, {"TableName": "tasks", "Key": KEY}
    for name, part in (("Update", "update.updateExpression"), ("ConditionCheck", "conditionCheck.conditionExpression")):
        assert refusal(call, "TransactWriteItems", TransactItems=[first, {name: key}]) == missing.format(part)
    assert refusal(call, "TransactGetItems", TransactItems=[{"Get": key}, {}]) == missing.format("get")


def test_a_transaction_names_all_violated_constraints(call: Caller) -> None:
    actions = [{"Put": {"TableName": "nothere", "Item": KEY}}]
    bad = {"ReturnConsumedCapacity": "BOGUS", "ReturnItemCollectionMetrics": "BOGUS"}
    assert refusal(call, "TransactWriteItems", TransactItems=actions, **bad) == (
        f"2 validation errors detected: {CAPACITY}; {METRICS}"
    )
    token = "x" * 37
    echoed = (
        f"Value '{token}' at 'clientRequestToken' failed to satisfy constraint: "
        "Member must have length less than or equal to 36"
    )
    assert refusal(call, "TransactWriteItems", TransactItems=actions, ClientRequestToken=token) == one(echoed)
    del bad["ReturnItemCollectionMetrics"]
    assert refusal(call, "TransactWriteItems", TransactItems=actions, ClientRequestToken=token, **bad) == (
        f"2 validation errors detected: {echoed}; {CAPACITY}"
    )


def test_a_transaction_has_one_to_a_hundred_actions(call: Caller) -> None:
    at_least = "Value '[]' at 'transactItems' failed to satisfy constraint: "
    message = f"{at_least}Member must have length greater than or equal to 1"
    assert refusal(call, "TransactWriteItems", TransactItems=[]) == one(message)
    assert refusal(call, "TransactGetItems", TransactItems=[]) == one(message)
    assert refusal(call, "TransactWriteItems", TransactItems=[], ReturnConsumedCapacity="BOGUS") == (
        f"2 validation errors detected: {message}; {CAPACITY}"
    )
    many = [{"Put": {"TableName": "tasks", "Item": task("u", str(number))}} for number in range(101)]
    with pytest.raises(
        ValidationFailed, match=r"^1 validation error detected: Value '\[.*\]' at 'transactItems' .* 100$"
    ):
        call("TransactWriteItems", TransactItems=many)


def test_a_transaction_refuses_the_first_action_that_is_wrong(call: Caller) -> None:
    empty, syntax = "Empty attribute name", 'Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "("'
    nested = {"Put": put(deep(40))[1]}
    nameless = {"Put": {"TableName": "tasks", "Item": {**task("u", "2"), "": {"S": "x"}}}}
    broken = {
        "ConditionCheck": {"TableName": "tasks", "Key": task("u", "3"), "ConditionExpression": "attribute_not_exists("}
    }
    missing = {"Put": {"TableName": "nothere", "Item": KEY}}
    for actions, message in (
        ([nested, nameless], TOO_DEEP),
        ([nameless, nested], empty),
        ([nested, broken], TOO_DEEP),
        ([broken, nested], syntax),
        ([missing, broken], syntax),
    ):
        assert refusal(call, "TransactWriteItems", TransactItems=actions) == message
    both = {"Put": {"TableName": "tasks", "Item": {**KEY, "d": deep(40), "": {"S": "x"}}}}
    assert refusal(call, "TransactWriteItems", TransactItems=[both]) == empty


@pytest.mark.rule(37)
def test_an_item_that_no_table_takes_refuses_the_transaction(call: Caller) -> None:
    large = {"Put": put({"S": "x" * 409_600})[1]}
    message = "Item size has exceeded the maximum allowed size"
    assert refusal(call, "TransactWriteItems", TransactItems=[large]) == message
    grown = {"Update": update({"S": "x" * 409_600})[1]}
    with pytest.raises(TransactionCancelled) as cancelled:
        call("TransactWriteItems", TransactItems=[grown])
    assert cancelled.value.reasons[0].message == "Item size to update has exceeded the maximum allowed size"


def test_batches_name_what_is_wrong_with_their_tables(call: Caller) -> None:
    at_least = "Member must have length greater than or equal to 1"
    empty = f"Value at 'RequestItems' failed to satisfy constraint: {at_least}"
    assert refusal(call, "BatchGetItem", RequestItems={}) == one(empty)
    assert refusal(call, "BatchWriteItem", RequestItems={}) == (
        "The requestItems parameter is required for BatchWriteItem"
    )
    keys = f"Value at 'RequestItems.tasks.member.Keys' failed to satisfy constraint: {at_least}"
    assert refusal(call, "BatchGetItem", RequestItems={"tasks": {"Keys": []}}) == one(keys)
    names = (
        'Value \'{"bad!name":{"Keys":[{"pk":{"S":"a"}}]}}\' at \'requestItems\' failed to satisfy constraint: '
        "Map keys must satisfy constraint: [Member must have length less than or equal to 255, "
        "Member must have length greater than or equal to 3, "
        "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"
    )
    bad = {"RequestItems": {"bad!name": {"Keys": [{"pk": {"S": "a"}}]}}}
    assert refusal(call, "BatchGetItem", **bad) == one(names)
    assert refusal(call, "BatchGetItem", **bad, ReturnConsumedCapacity="BOGUS") == (
        f"2 validation errors detected: {names}; {CAPACITY}"
    )
    writes = {"RequestItems": {"bad!name": [{"PutRequest": {"Item": KEY}}]}, "ReturnConsumedCapacity": "BOGUS"}
    assert refusal(call, "BatchWriteItem", **writes) == one(CAPACITY)
    assert refusal(call, "BatchWriteItem", **writes, ReturnItemCollectionMetrics="BOGUS") == (
        f"2 validation errors detected: {CAPACITY}; {METRICS}"
    )


@pytest.mark.parametrize(
    ("condition", "values", "message"),
    [
        ("#u = :p AND begins_with(task, :v)", {":v": {"N": "1"}}, "begins_with, operand type: N"),
        ("#u = :p AND begins_with(task, :v)", {":v": {"BOOL": True}}, "begins_with, operand type: BOOL"),
        ("#u = :p AND task < :v", {":v": {"BOOL": True}}, "<, operand type: BOOL"),
        ("#u = :p AND :v >= task", {":v": {"BOOL": True}}, ">=, operand type: BOOL"),
        (
            "#u = :p AND task BETWEEN :v AND :w",
            {":v": {"BOOL": True}, ":w": {"BOOL": True}},
            "BETWEEN, operand type: BOOL",
        ),
        (
            "#u = :p AND begins_with(task, :v) AND task > :w",
            {":v": {"N": "1"}, ":w": {"S": "a"}},
            "begins_with, operand type: N",
        ),
    ],
)
def test_an_operand_that_no_key_could_be_is_refused_first(
    call: Caller, condition: str, values: Json, message: str
) -> None:
    given = {"ExpressionAttributeNames": {"#u": "user"}, "ExpressionAttributeValues": {":p": {"S": "u"}, **values}}
    prefix = "Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator or function: "
    for table in ("tasks", "nothere"):
        asked = {"TableName": table, "KeyConditionExpression": condition}
        assert refusal(call, "Query", **asked, **given) == prefix + message


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("#u = :missing AND begins_with(task, :n)", "attribute value: :missing"),
        ("begins_with(task, :n) AND #u = :missing", "operand type: N"),
        (
            "#u = :p AND task > :p AND task < :p",
            "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key",
        ),
        (
            "#u = :p AND task > :p AND extra = :p",
            "The number of query conditions (3) exceeds the number of key attributes defined in the schema (2)",
        ),
        ("#u = :p AND task = :n", f"{INVALID}Condition parameter type does not match schema type"),
    ],
)
def test_the_first_fault_of_a_key_condition_is_named(call: Caller, condition: str, message: str) -> None:
    values = {name: value for name, value in {":p": {"S": "u"}, ":n": {"N": "1"}}.items() if name in condition}
    given = {"ExpressionAttributeNames": {"#u": "user"}, "ExpressionAttributeValues": values}
    assert refusal(call, "Query", TableName="tasks", KeyConditionExpression=condition, **given).endswith(message)
