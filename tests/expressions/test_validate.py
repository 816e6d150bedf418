"""The rules of expressions that can be checked without an item."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from tests.strategies import conditions, projections, updates

from partita.errors import ValidationFailed
from partita.expressions import _validate
from partita.expressions._ast import (
    AddAction,
    And,
    Arithmetic,
    BeginsWith,
    Between,
    Comparator,
    Compare,
    Condition,
    Contains,
    DeleteAction,
    Exists,
    HasType,
    IfNotExists,
    In,
    ListAppend,
    Not,
    Operand,
    Or,
    Path,
    Projection,
    SetAction,
    Size,
    Update,
    Value,
)
from partita.expressions._validate import validate_condition, validate_projection, validate_update
from partita.values._attribute_values import AttributeValue

A, B = Path(("a",)), Path(("b",))
EQUAL = Compare("=", A, Value(1))
NEITHER_ORDERED: list[AttributeValue] = [True, None, [], {}, frozenset({1}), frozenset({"x"}), frozenset({b"x"})]


def refused_condition(condition: Condition) -> str:
    with pytest.raises(ValidationFailed) as refusal:
        validate_condition(condition)
    return refusal.value.message.removeprefix("Invalid ConditionExpression: ")


def refused_update(update: Update) -> str:
    with pytest.raises(ValidationFailed) as refusal:
        validate_update(update)
    return refusal.value.message.removeprefix("Invalid UpdateExpression: ")


def refused_operand(operand: Operand) -> str:
    return refused_update(Update(sets=(SetAction(A, operand),)))


def removing(*paths: tuple[str | int, ...]) -> Update:
    return Update(removes=tuple(map(Path, paths)))


@given(conditions)
def test_valid_conditions_pass(condition: Condition) -> None:
    validate_condition(condition)


@given(updates())
def test_valid_updates_pass(update: Update) -> None:
    validate_update(update)


@given(projections)
def test_valid_projections_pass(projection: Projection) -> None:
    validate_projection(projection)


def test_a_condition_that_was_valid_is_not_looked_through_again(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[Condition] = []
    monkeypatch.setattr(_validate, "_VALID", {})  # other tests may have left it nearly full
    monkeypatch.setattr(_validate, "check_condition", looked_at.append)
    first, equal = (Compare("=", Path(("a",)), Value(7)) for _ in range(2))
    for condition in (first, first, equal, first):
        validate_condition(condition)
    assert [id(condition) for condition in looked_at] == [id(first), id(equal)]


def test_what_is_wrong_is_wrong_every_time() -> None:
    wrong = And((Exists(Path(("a",))),))
    for _ in range(2):
        with pytest.raises(ValidationFailed):
            validate_condition(wrong)


def test_an_empty_update_passes() -> None:
    validate_update(Update())


def test_the_message_names_the_expression() -> None:
    with pytest.raises(ValidationFailed, match=r"^Invalid FilterExpression: "):
        validate_condition(Contains(A, A), what="FilterExpression")
    with pytest.raises(ValidationFailed, match=r"^Invalid ProjectionExpression: "):
        validate_projection((A, A))


# --- conditions ---


@pytest.mark.rule(13)
@pytest.mark.parametrize("op", ["<", "<=", ">", ">="])
@pytest.mark.parametrize("value", NEITHER_ORDERED)
def test_only_strings_numbers_and_binaries_are_ordered(op: Comparator, value: AttributeValue) -> None:
    start = f"Incorrect operand type for operator or function; operator or function: {op}, operand type: "
    assert refused_condition(Compare(op, A, Value(value))).startswith(start)
    assert refused_condition(Compare(op, Value(value), A)).startswith(start)


@pytest.mark.rule(13)
@pytest.mark.parametrize("value", NEITHER_ORDERED)
def test_between_takes_only_strings_numbers_and_binaries(value: AttributeValue) -> None:
    start = "Incorrect operand type for operator or function; operator or function: BETWEEN, operand type: "
    assert refused_condition(Between(A, Value(value), B)).startswith(start)
    assert refused_condition(Between(A, B, Value(value))).startswith(start)


@pytest.mark.rule(13)
def test_between_needs_bounds_in_order() -> None:
    assert refused_condition(Between(A, Value(2), Value(Decimal("1.5")))) == (
        "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
        "lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1.5}"
    )


def test_between_needs_bounds_of_one_type() -> None:
    assert refused_condition(Between(A, Value(1), Value("a"))) == (
        "The BETWEEN operator requires same data type for lower and upper bounds; "
        "lower bound operand: AttributeValue: {N:1}, upper bound operand: AttributeValue: {S:a}"
    )


@pytest.mark.rule(14)
def test_an_unknown_type_name_is_refused() -> None:
    assert refused_condition(HasType(A, Value("STRING"))) == (
        "Invalid attribute type name found; type: STRING, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"
    )


@pytest.mark.parametrize("operand", [Value(1), Size(A), B])
def test_a_type_name_is_a_literal_string(operand: Operand) -> None:
    start = "Incorrect operand type for operator or function; operator or function: attribute_type"
    assert refused_condition(HasType(A, operand)).startswith(start)


@pytest.mark.parametrize("operand", [Value(1), Value(None), Value([]), Size(B)])
def test_begins_with_takes_only_strings_and_binaries(operand: Operand) -> None:
    start = "Incorrect operand type for operator or function; operator or function: begins_with"
    assert refused_condition(BeginsWith(A, operand)).startswith(start)


@pytest.mark.rule(17)
@pytest.mark.parametrize(
    ("condition", "operator"),
    [
        (Contains(A, A), "contains"),
        (BeginsWith(A, A), "begins_with"),
        (HasType(A, A), "attribute_type"),
        (Compare("=", A, A), "="),
        (Compare("<>", A, A), "<>"),
    ],
)
def test_a_path_is_not_compared_with_itself(condition: Condition, operator: str) -> None:
    assert refused_condition(condition) == (
        "The first operand must be distinct from the remaining operands for this operator or function; "
        f"operator: {operator}, first operand: [a]"
    )


def test_two_equal_literals_may_be_compared() -> None:
    validate_condition(Compare("=", Value(1), Value(1)))


def test_in_takes_a_hundred_options() -> None:
    validate_condition(In(A, (Value(1),) * 100))
    assert refused_condition(In(A, (Value(1),) * 101)) == (
        "The IN operator is provided with too many operands; number of operands: 101"
    )


def test_in_without_options_is_refused() -> None:
    assert "number of operands" in refused_condition(In(A, ()))


@pytest.mark.parametrize("connective", [And, Or])
def test_a_connective_joins_at_least_two(connective: Any) -> None:
    assert "number of operands: 1" in refused_condition(connective((EQUAL,)))


@pytest.mark.parametrize(
    ("operand", "function"), [(IfNotExists(A, B), "if_not_exists"), (ListAppend(A, B), "list_append")]
)
def test_functions_of_updates_are_not_for_conditions(operand: Operand, function: str) -> None:
    expected = f"The function is not allowed in a condition expression; function: {function}"
    assert refused_condition(Compare("=", A, operand)) == expected


@pytest.mark.rule(7)
def test_three_hundred_operators_are_the_limit() -> None:
    def joined(count: int) -> Condition:
        return And((*[EQUAL] * count, Not(Compare("=", Size(A), Value(1)))))

    validate_condition(joined(148))  # 299 operators: 148 comparisons, 148 times AND, NOT, = and size
    assert refused_condition(And((joined(148), EQUAL))) == (
        "The expression contains too many operators; operator count: 301"
    )


@pytest.mark.rule(7)
def test_no_nesting_is_too_deep_to_be_refused() -> None:
    condition: Condition = EQUAL
    for _ in range(100_000):
        condition = Not(condition)
    assert refused_condition(condition) == "The expression contains too many operators; operator count: 301"


@pytest.mark.parametrize("value", [1.5, frozenset(), {"a": frozenset()}, 10**38 + 1, [object()]])
def test_a_literal_must_be_a_value_of_dynamodb(value: Any) -> None:
    with pytest.raises(ValidationFailed):
        validate_condition(Compare("=", A, Value(value)))


# --- paths ---


@pytest.mark.rule(7)
def test_a_path_has_at_most_32_parts() -> None:
    validate_condition(Exists(Path(("a",) * 32)))
    assert refused_condition(Exists(Path(("a",) * 33))) == (
        "The document path has too many nesting levels; nesting levels: 33"
    )


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((), "The document path has no element(s);"),
        ((0,), "The document path does not start with a map element;"),
        (("a", ""), "The document path has an empty attribute name;"),
        (("a", -1), "List index is not within the allowable range; index: [-1]"),
        (("a", 2**31), "List index is not within the allowable range; index: [2147483648]"),
    ],
)
def test_a_path_that_leads_nowhere_is_refused(parts: tuple[str | int, ...], message: str) -> None:
    assert refused_condition(Exists(Path(parts))) == message


@pytest.mark.rule(19, 23)
@pytest.mark.parametrize(
    ("paths", "how", "one", "two"),
    [
        ([("a",), ("a",)], "overlap", "[a]", "[a]"),
        ([("a", "b"), ("x",), ("a",)], "overlap", "[a, b]", "[a]"),
        ([("a", 1, "b"), ("a", 0), ("a", 1)], "overlap", "[a, [1], b]", "[a, [1]]"),
        ([("a", "b"), ("a", 0)], "conflict", "[a, b]", "[a, [0]]"),
        ([("a", "z", "b"), ("a", "z", 3), ("a", "y")], "conflict", "[a, z, b]", "[a, z, [3]]"),
    ],
)
def test_paths_that_meet_are_refused(paths: list[tuple[str | int, ...]], how: str, one: str, two: str) -> None:
    message = (
        f"Two document paths {how} with each other; must remove or rewrite one of these paths; "
        f"path one: {one}, path two: {two}"
    )
    assert refused_update(removing(*paths)) == message
    with pytest.raises(ValidationFailed, match=re.escape(message)):
        validate_projection(tuple(map(Path, paths)))


@pytest.mark.rule(19)
def test_paths_that_meet_in_different_clauses_are_refused() -> None:
    update = Update(sets=(SetAction(Path(("a", "b")), Value(1)),), deletes=(DeleteAction(A, Value(frozenset({1}))),))
    assert refused_update(update).startswith("Two document paths overlap")


def test_neighbouring_paths_pass() -> None:
    validate_update(removing(("a", "b"), ("a", "c"), ("ab",), ("l", 0), ("l", 10), ("l", 1)))


# --- updates ---


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("x", "STRING"),
        (b"x", "BINARY"),
        (True, "BOOLEAN"),
        (None, "NULL"),
        ([1], "LIST"),
        ({"a": 1}, "MAP"),
    ],
)
def test_add_and_delete_refuse_what_is_not_a_number_or_set(value: AttributeValue, name: str) -> None:
    start = "Incorrect operand type for operator or function; operator: "
    assert refused_update(Update(adds=(AddAction(A, Value(value)),))) == (
        f"{start}ADD, operand type: {name}, typeSet: ALLOWED_FOR_ADD_OPERAND"
    )
    assert refused_update(Update(deletes=(DeleteAction(A, Value(value)),))) == (
        f"{start}DELETE, operand type: {name}, typeSet: ALLOWED_FOR_DELETE_OPERAND"
    )


def test_delete_refuses_a_number() -> None:
    assert "operand type: NUMBER" in refused_update(Update(deletes=(DeleteAction(A, Value(1)),)))


@pytest.mark.rule(17)
@pytest.mark.parametrize(
    ("operand", "message"),
    [
        (
            ListAppend(ListAppend(A, B), B),
            "The function is not allowed to be used this way in an expression; function: list_append",
        ),
        (
            Arithmetic("+", ListAppend(A, B), Value(1)),
            "The function is not allowed to be used this way in an expression; function: list_append",
        ),
        (
            Arithmetic("+", Arithmetic("-", A, B), Value(1)),
            "The function is not allowed to be used this way in an expression; function: -",
        ),
        (
            IfNotExists(A, Arithmetic("+", A, B)),
            "The function is not allowed to be used this way in an expression; function: +",
        ),
        (Size(A), "The function is not allowed in an update expression; function: size"),
        (
            Arithmetic("-", A, Value("x")),
            "Incorrect operand type for operator or function; operator or function: -, operand type: S",
        ),
        (
            ListAppend(A, Value(1)),
            "Incorrect operand type for operator or function; operator or function: list_append, operand type: N",
        ),
    ],
)
def test_functions_stand_only_where_their_result_fits(operand: Operand, message: str) -> None:
    assert refused_operand(operand) == message


def nested_defaults(depth: int) -> Operand:
    operand: Operand = Value(1)
    for _ in range(depth):
        operand = IfNotExists(A, operand)
    return operand


@pytest.mark.rule(17)
def test_if_not_exists_nests_but_not_without_end() -> None:
    validate_update(Update(sets=(SetAction(A, nested_defaults(32)),)))
    assert refused_operand(nested_defaults(5_000)) == "The expression has functions nested too deeply;"


@pytest.mark.rule(7)
def test_an_update_has_at_most_three_hundred_operators() -> None:
    def counters(count: int) -> Update:
        sums = (SetAction(Path((f"n{n}",)), Arithmetic("+", Path((f"n{n}",)), Value(1))) for n in range(count))
        return Update(sets=tuple(sums))

    validate_update(counters(300))
    assert refused_update(counters(301)) == "The expression contains too many operators; operator count: 301"


def test_very_deep_trees_are_freed_without_recursion() -> None:
    condition: Condition = Exists(Path(("a",)))
    for _ in range(200_000):
        condition = Not(condition)
    operand: Operand = Value(1)
    for _ in range(200_000):
        operand = IfNotExists(Path(("a",)), operand)
    update = Update((SetAction(Path(("a",)), operand),))
    del condition, operand, update  # the interpreter would crash here if it freed a tree recursively
