"""Parsing key conditions: equalities and at most one range; anything else is refused."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from partita.errors import ValidationFailed
from partita.expressions._ast import KeyCondition, KeyRange
from partita.expressions._parse import Substitutions, parse_key_condition
from partita.values._attribute_values import AttributeValue

VALUES: Mapping[str, AttributeValue] = {":one": 1, ":two": 2, ":s": "x"}
PK = (("pk", 1),)


def parsed(text: str) -> KeyCondition:
    return parse_key_condition(text, Substitutions({"#pk": "pk"}, VALUES))


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("pk = :one", KeyCondition(PK)),
        ("#pk = :one AND sk = :two", KeyCondition((*PK, ("sk", 2)))),
        ("sk > :two AND pk = :one", KeyCondition(PK, KeyRange("sk", ">", (2,)))),
        (":two > sk AND :one = pk", KeyCondition(PK, KeyRange("sk", "<", (2,)))),
        (":two <= sk AND pk = :one", KeyCondition(PK, KeyRange("sk", ">=", (2,)))),
        ("pk = :one AND sk BETWEEN :one AND :two", KeyCondition(PK, KeyRange("sk", "BETWEEN", (1, 2)))),
        ("begins_with(sk, :s) AND pk = :one", KeyCondition(PK, KeyRange("sk", "BEGINS_WITH", ("x",)))),
        (
            "(pk = :one AND a = :two) AND (b = :s AND c <= :one)",
            KeyCondition((("pk", 1), ("a", 2), ("b", "x")), KeyRange("c", "<=", (1,))),
        ),
    ],
)
def test_equalities_come_first_in_the_order_of_the_text(text: str, condition: KeyCondition) -> None:
    assert parsed(text) == condition


@pytest.mark.rule(13)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Invalid KeyConditionExpression: The expression can not be empty;"),
        ("pk 4", 'Invalid KeyConditionExpression: Syntax error; token: "4", near: "pk 4"'),
        ("pk = :one OR sk = :one", "Invalid operator used in KeyConditionExpression: OR"),
        ("NOT pk = :one", "Invalid operator used in KeyConditionExpression: NOT"),
        ("pk IN (:one)", "Invalid operator used in KeyConditionExpression: IN"),
        ("pk <> :one", "Invalid operator used in KeyConditionExpression: <>"),
        ("attribute_exists(pk)", "Invalid operator used in KeyConditionExpression: attribute_exists"),
        ("pk = :one AND contains(sk, :s)", "Invalid operator used in KeyConditionExpression: contains"),
        ("size(pk) > :one", "KeyConditionExpressions cannot contain nested operations"),
        ("a BETWEEN size(b) AND :one", "KeyConditionExpressions cannot contain nested operations"),
        ("pk.x = :one", "KeyConditionExpressions cannot have conditions on nested attributes"),
        (
            "pk = sk",
            "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition",
        ),
        (":one = :two", "Invalid condition in KeyConditionExpression: No key attribute specified"),
        (
            "begins_with(:s, sk)",
            (
                "Invalid condition in KeyConditionExpression: begins_with operator must have "
                "the key attribute as its first operand"
            ),
        ),
        (
            ":one BETWEEN sk AND :two",
            (
                "Invalid condition in KeyConditionExpression: BETWEEN operator must have "
                "the key attribute as its first operand"
            ),
        ),
        (
            "pk = :one AND pk = :two",
            "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key",
        ),
        (
            "pk = :one AND sk > :one AND sk < :two",
            "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key",
        ),
        ("a > :one AND b > :one", "Query key condition not supported"),
        ("pk = :one AND a > :one AND b > :one", "Query key condition not supported"),
        (
            "pk = :one AND sk BETWEEN :two AND :one",
            (
                "Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater than or "
                "equal to lower bound; lower bound operand: AttributeValue: {N:2}, "
                "upper bound operand: AttributeValue: {N:1}"
            ),
        ),
        (
            "begins_with(sk, :one)",
            (
                "Invalid KeyConditionExpression: Incorrect operand type for operator or function; "
                "operator or function: begins_with, operand type: N"
            ),
        ),
    ],
)
def test_anything_else_is_refused_in_dynamodbs_words(text: str, message: str) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        parsed(text)
    assert refusal.value.message == message
