"""The messages of errors: the envelope, current and older wording, and several violated constraints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.fidelity import Api, probe, refused
from tests.fidelity._attributes import Json, n, nested, s

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
VALUES: tuple[tuple[Json, str, str], ...] = (
    (n("abc"), f"{NOT_NUMERIC}: abc", f"{NOT_NUMERIC}: abc"),
    (n(""), f"{NOT_NUMERIC}: ", NOT_NUMERIC),
    (n("1e126"), OVERFLOW, OVERFLOW),
    (n("1e2147483647"), OVERFLOW, UNDERFLOW),
    (
        {"SS": ["b", "a", "b"]},
        f'{INVALID}Input collection ["a", "b", "b"] contains duplicates.',
        f"{INVALID}Input collection [b, a, b] contains duplicates.",
    ),
    (
        {"BS": ["/w==", "AA==", "AA=="]},
        f'{INVALID}Input collection ["AA==","/w==","AA=="]of type BS contains duplicates.',
        f"{INVALID}Input collection [/w==, AA==, AA==]of type BS contains duplicates.",
    ),
    (
        {"NS": ["2", "1", "2"]},
        f"{INVALID}Input collection contains duplicates.",
        "Input collection contains duplicates",
    ),
)
Call = tuple[str, Json]


def _put(table: str, value: Json) -> Call:
    return "PutItem", {"TableName": table, "Item": {"pk": s("a"), "v": value}}


def _put_condition(table: str, value: Json) -> Call:
    condition = {"ConditionExpression": "v = :v", "ExpressionAttributeValues": {":v": value}}
    return "PutItem", {"TableName": table, "Item": {"pk": s("a")}, **condition}


def _update(table: str, value: Json) -> Call:
    update = {"UpdateExpression": "SET v = :v", "ExpressionAttributeValues": {":v": value}}
    return "UpdateItem", {"TableName": table, "Key": {"pk": s("a")}, **update}


def _delete(table: str, value: Json) -> Call:
    return "DeleteItem", {"TableName": table, "Key": {"pk": value}}


def _get(table: str, value: Json) -> Call:
    return "GetItem", {"TableName": table, "Key": {"pk": value}}


def _batch_get(table: str, value: Json) -> Call:
    return "BatchGetItem", {"RequestItems": {table: {"Keys": [{"pk": value}]}}}


def _query(table: str, value: Json) -> Call:
    expressions = {"KeyConditionExpression": "pk = :p", "FilterExpression": "v = :v"}
    return "Query", {"TableName": table, **expressions, "ExpressionAttributeValues": {":p": s("a"), ":v": value}}


def _batch_put(table: str, value: Json) -> Call:
    return "BatchWriteItem", {"RequestItems": {table: [{"PutRequest": {"Item": {"pk": s("a"), "v": value}}}]}}


def _scan(table: str, value: Json) -> Call:
    return "Scan", {"TableName": table, "FilterExpression": "v = :v", "ExpressionAttributeValues": {":v": value}}


def _put_expected(table: str, value: Json) -> Call:
    return "PutItem", {"TableName": table, "Item": {"pk": s("a")}, "Expected": {"v": {"Value": value}}}


def _update_older(table: str, value: Json) -> Call:
    changes = {"v": {"Action": "PUT", "Value": value}}
    return "UpdateItem", {"TableName": table, "Key": {"pk": s("a")}, "AttributeUpdates": changes}


def _update_key(table: str, value: Json) -> Call:
    update = {"UpdateExpression": "SET v = :v", "ExpressionAttributeValues": {":v": n(1)}}
    return "UpdateItem", {"TableName": table, "Key": {"pk": value}, **update}


def _delete_condition(table: str, value: Json) -> Call:
    condition = {"ConditionExpression": "v = :v", "ExpressionAttributeValues": {":v": value}}
    return "DeleteItem", {"TableName": table, "Key": {"pk": s("a")}, **condition}


def _query_start(table: str, value: Json) -> Call:
    condition = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": s("a")}}
    return "Query", {"TableName": table, **condition, "ExclusiveStartKey": {"pk": value}}


def _query_older(table: str, value: Json) -> Call:
    conditions = {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [s("a")]}}
    chosen = {"v": {"ComparisonOperator": "EQ", "AttributeValueList": [value]}}
    return "Query", {"TableName": table, "KeyConditions": conditions, "QueryFilter": chosen}


def _batch_delete(table: str, value: Json) -> Call:
    return "BatchWriteItem", {"RequestItems": {table: [{"DeleteRequest": {"Key": {"pk": value}}}]}}


def _transact_put(table: str, value: Json) -> Call:
    action = {"Put": {"TableName": table, "Item": {"pk": s("a"), "v": value}}}
    return "TransactWriteItems", {"TransactItems": [action]}


def _transact_update(table: str, value: Json) -> Call:
    update = {"UpdateExpression": "SET v = :v", "ExpressionAttributeValues": {":v": value}}
    action = {"Update": {"TableName": table, "Key": {"pk": s("a")}, **update}}
    return "TransactWriteItems", {"TransactItems": [action]}


def _transact_get(table: str, value: Json) -> Call:
    return "TransactGetItems", {"TransactItems": [{"Get": {"TableName": table, "Key": {"pk": value}}}]}


def _one(message: str) -> str:
    return f"1 validation error detected: {message}"


def _wrapped(message: str) -> str:
    return f"ExpressionAttributeValues contains invalid value: {message} for key :v"


def _same(message: str) -> str:
    return message


WORDS: dict[str, tuple[Callable[[str, Json], Call], int, Callable[[str], str]]] = {
    "PutItem": (_put, 1, _one),
    "a condition of PutItem": (_put_condition, 1, _one),
    "UpdateItem": (_update, 1, _one),
    "DeleteItem": (_delete, 1, _one),
    "GetItem": (_get, 1, _same),
    "BatchGetItem": (_batch_get, 1, _same),
    "Query": (_query, 1, _same),
    "BatchWriteItem": (_batch_put, 2, _same),
    "Scan": (_scan, 2, _wrapped),
    "Expected": (_put_expected, 1, _one),
    "AttributeUpdates": (_update_older, 1, _one),
    "the key of UpdateItem": (_update_key, 1, _one),
    "a condition of DeleteItem": (_delete_condition, 1, _one),
    "the start of Query": (_query_start, 1, _same),
    "QueryFilter": (_query_older, 1, _same),
    "a delete of BatchWriteItem": (_batch_delete, 2, _same),
    "a put of TransactWriteItems": (_transact_put, 2, _same),
    "an update of TransactWriteItems": (_transact_update, 2, _wrapped),
    "TransactGetItems": (_transact_get, 2, _same),
}


@probe(rule=45, tier=3, cases=WORDS)
def a_value_is_refused_in_the_words_of_its_operation(
    api: Api, call: Callable[[str, Json], Call], place: int, said: Callable[[str], str]
) -> None:
    """The values are invalid numbers, and sets with a repeated member."""
    for value in VALUES:
        operation, parameters = call(api.table("hash"), value[0])
        refused(api, operation, message=said(str(value[place])), **parameters)


@probe(45, 7, tier=3)
def a_value_that_is_nested_too_deep_is_refused(api: Api) -> None:
    """The value is part of an item, or the value of an expression."""
    for call in (_put, _put_condition, _update):
        operation, parameters = call(api.table("hash"), nested(32))
        refused(api, operation, message=_one(TOO_DEEP), **parameters)
    operation, parameters = _batch_put(api.table("hash"), nested(32))
    refused(api, operation, message=TOO_DEEP, **parameters)


DIGITS = "Attempting to store more than 38 significant digits in a Number"
TEXTS: dict[str, str] = {
    "1e99999999999": OVERFLOW,
    "-1e99999999999": OVERFLOW,
    "1e-99999999999": UNDERFLOW,
    "1e2147483648": OVERFLOW,
    "1e-2147483648": UNDERFLOW,
    "1e-131": UNDERFLOW,
    "0e126": OVERFLOW,
    "0e-131": UNDERFLOW,
    "1234567890" * 4: DIGITS,
    **{text: f"{NOT_NUMERIC}: {text}" for text in ("1.2.3", " 1", "1 ", "0x10", "1e", "NaN", "Infinity")},
}


@probe(45, 1, 3, tier=3, cases={repr(text): (text, message) for text, message in TEXTS.items()})
def a_number_is_refused_in_these_words(api: Api, text: str, message: str) -> None:
    """The number is the value of an attribute, a member of a set, or nested in a document."""
    for value in (n(text), {"NS": ["1", text]}, {"M": {"x": {"L": [n(text)]}}}):
        operation, parameters = _put(api.table("hash"), value)
        refused(api, operation, message=_one(message), **parameters)


@probe(45, 1, tier=3)
def an_exponent_beyond_64_bits_is_no_number(api: Api) -> None:
    """The number is not reported as too large."""
    operation, parameters = _put(api.table("hash"), n("1e9223372036854775808"))
    refused(api, operation, pattern=NOT_NUMERIC, **parameters)


EMPTY: dict[str, tuple[Json, str]] = {
    "strings": ({"SS": []}, "An string set  may not be empty"),
    "numbers": ({"NS": []}, "An number set  may not be empty"),
    "binaries": ({"BS": []}, "Binary sets should not be empty"),
    "null": ({"NULL": False}, "Null attribute value types must have the value of true"),
}


@probe(45, 9, tier=3, cases=EMPTY)
def a_value_that_cannot_be_is_refused_in_these_words(api: Api, value: Json, message: str) -> None:
    """The spelling is that of AWS."""
    operation, parameters = _put(api.table("hash"), value)
    refused(api, operation, pattern=INVALID + message, **parameters)


BOGUS = {"ReturnConsumedCapacity": "BOGUS", "ReturnItemCollectionMetrics": "BOGUS", "ReturnValues": "BOGUS"}
ALL = f"3 validation errors detected: {CAPACITY}; {RETURNS}; {METRICS}"
CONSTRAINTS: dict[str, tuple[str, Json, str]] = {
    "PutItem": ("PutItem", {"Item": {"pk": s("a")}, **BOGUS}, ALL),
    "DeleteItem": ("DeleteItem", {"Key": {"pk": s("a")}, **BOGUS}, ALL),
    "UpdateItem": ("UpdateItem", {"Key": {"pk": s("a")}, **BOGUS}, _one(RETURNS)),
}


@probe(rule=45, tier=3, cases=CONSTRAINTS)
def several_violated_constraints_are_named(api: Api, operation: str, parameters: Json, message: str) -> None:
    """All of them are named, except by UpdateItem."""
    refused(api, operation, TableName=api.table("hash"), message=message, **parameters)


@probe(rule=45, tier=3)
def an_empty_table_name_is_named_alone(api: Api) -> None:
    """All writes of a single item return the same message."""
    message = "Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1"
    for operation, name in (("PutItem", "Item"), ("UpdateItem", "Key"), ("DeleteItem", "Key")):
        given: Json = {name: {}, "TableName": "", "ReturnValues": "BOGUS"}
        refused(api, operation, message=_one(message), **given)


SAID: dict[str, tuple[Json, str]] = {
    "values without an expression": (
        {"ExpressionAttributeValues": {":v": s("x")}},
        "ExpressionAttributeValues can only be specified when using expressions",
    ),
    "an empty expression": (
        {"ConditionExpression": ""},
        "Invalid ConditionExpression: The expression can not be empty;",
    ),
    "returned values": ({"ReturnValues": "ALL_NEW"}, "ReturnValues can only be ALL_OLD or NONE"),
    "an undefined value": (
        {"ConditionExpression": "a = :v"},
        (
            "Invalid ConditionExpression: An expression attribute value used in expression is not defined; "
            "attribute value: :v"
        ),
    ),
    "two ways": (
        {"Expected": {"a": {"Exists": False}}, "ConditionExpression": "attribute_exists(a)"},
        (
            "Can not use both expression and non-expression parameters in the same request: Non-expression "
            "parameters: {Expected} Expression parameters: {ConditionExpression}"
        ),
    ),
    "no value that is expected": (
        {"Expected": {"a": {"Exists": True}}},
        f"{INVALID}Value must be provided when Exists is true for Attribute: a",
    ),
    "names without an expression": (
        {"ExpressionAttributeNames": {"#a": "a"}},
        "ExpressionAttributeNames can only be specified when using expressions",
    ),
    "names beside the older way": (
        {"Expected": {"a": {"Exists": False}}, "ExpressionAttributeNames": {"#a": "a"}},
        "ExpressionAttributeNames can only be specified when using expressions",
    ),
    "no values": (
        {"ConditionExpression": "attribute_exists(a)", "ExpressionAttributeValues": {}},
        "ExpressionAttributeValues must not be empty",
    ),
    "no names": (
        {"ConditionExpression": "attribute_exists(a)", "ExpressionAttributeNames": {}},
        "ExpressionAttributeNames must not be empty",
    ),
    "double parentheses": (
        {"ConditionExpression": "((attribute_exists(a)))"},
        "Invalid ConditionExpression: The expression has redundant parentheses;",
    ),
    "contains itself": (
        {"ConditionExpression": "contains(a, a)"},
        (
            "Invalid ConditionExpression: The first operand must be distinct from the remaining operands for this "
            "operator or function; operator: contains, first operand: [a]"
        ),
    ),
    "a value of what must not be": (
        {"Expected": {"a": {"Exists": False, "Value": s("x")}}},
        f"{INVALID}Value cannot be used when Exists is false for Attribute: a",
    ),
    "a value and values": (
        {"Expected": {"a": {"Value": s("x"), "ComparisonOperator": "EQ", "AttributeValueList": [s("x")]}}},
        f"{INVALID}Value and AttributeValueList cannot be used together for Attribute: a",
    ),
    "one value for two": (
        {"Expected": {"a": {"ComparisonOperator": "BETWEEN", "AttributeValueList": [s("x")]}}},
        f"{INVALID}Invalid number of argument(s) for the BETWEEN ComparisonOperator",
    ),
    "no value to compare with": (
        {"Expected": {"a": {"ComparisonOperator": "EQ"}}},
        f"{INVALID}Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: a",
    ),
}


@probe(rule=45, tier=3, cases=SAID)
def a_rule_of_requests_is_said_in_the_envelope(api: Api, parameters: Json, message: str) -> None:
    """PutItem and DeleteItem return the same message."""
    for operation, name in (("PutItem", "Item"), ("DeleteItem", "Key")):
        given: Json = {"TableName": api.table("hash"), name: {"pk": s("a")}, **parameters}
        refused(api, operation, message=_one(message), **given)


def _transact(api: Api, *actions: Json, message: str, **others: Any) -> None:
    refused(api, "TransactWriteItems", TransactItems=list(actions), message=message, **others)


@probe(rule=45, tier=3)
def a_transaction_names_all_violated_constraints(api: Api) -> None:
    """The constraints are reported before a missing table."""
    put = {"Put": {"TableName": "fidelity-nothere", "Item": {"pk": s("a")}}}
    both = {"ReturnConsumedCapacity": "BOGUS", "ReturnItemCollectionMetrics": "BOGUS"}
    _transact(api, put, message=f"2 validation errors detected: {CAPACITY}; {METRICS}", **both)
    message = (
        "Value 'bad!name' at 'transactItems.1.member.put.tableName' failed to satisfy constraint: "
        "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
    )
    _transact(api, {"Put": {"TableName": "bad!name", "Item": {"pk": s("a")}}}, message=_one(message))


@probe(45, 37, tier=3)
def a_transaction_refuses_what_no_table_takes(api: Api) -> None:
    """The first invalid action is reported, and not as a cancellation."""
    table = api.table("hash")
    deep = {"Put": {"TableName": table, "Item": {"pk": s("a"), "d": nested(40)}}}
    nameless = {"Put": {"TableName": table, "Item": {"pk": s("b"), "": s("x")}}}
    _transact(api, deep, nameless, message=TOO_DEEP)
    _transact(api, nameless, deep, message="Empty attribute name")
    large = {"Put": {"TableName": table, "Item": {"pk": s("c"), "f": s("x" * 409_600)}}}
    _transact(api, large, message="Item size has exceeded the maximum allowed size")


OPERANDS: dict[str, tuple[str, Json, str]] = {
    "begins_with": ("pk = :p AND begins_with(sk, :v)", n(1), "begins_with, operand type: N"),
    "below": ("pk = :p AND sk < :v", {"BOOL": True}, "<, operand type: BOOL"),
    "value first": ("pk = :p AND :v >= sk", {"BOOL": True}, ">=, operand type: BOOL"),
    "between": ("pk = :p AND sk BETWEEN :v AND :v", {"BOOL": True}, "BETWEEN, operand type: BOOL"),
}


@probe(45, 13, tier=3, cases=OPERANDS)
def an_operand_that_no_key_could_be_is_refused(api: Api, condition: str, value: Json, message: str) -> None:
    """The operand is reported before a missing table."""
    values: Json = {"ExpressionAttributeValues": {":p": s("a"), ":v": value}}
    full = "Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator or function: "
    for table in (api.table("pair"), "fidelity-nothere"):
        refused(api, "Query", TableName=table, KeyConditionExpression=condition, **values, message=full + message)
