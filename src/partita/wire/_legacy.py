"""Translates the legacy parameters that expressions replaced into expression trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from partita.errors import ValidationFailed
from partita.expressions import (
    WRONG_OPERAND,
    AddAction,
    And,
    BeginsWith,
    Between,
    Compare,
    Condition,
    Contains,
    DeleteAction,
    Exists,
    IfNotExists,
    In,
    KeyCondition,
    KeyRange,
    ListAppend,
    Missing,
    Not,
    Or,
    Path,
    Projection,
    SetAction,
    Update,
    Value,
)
from partita.store import Json
from partita.values import AttributeValue, kind_of
from partita.wire._parameters import (
    CONDITIONAL_OPERATORS,
    Parameters,
    check_attribute_name,
    member,
    refuse,
    violated,
)
from partita.wire._values import read_value
from partita.wire._wording import INVALID, Refused

_ATTRIBUTES: Final = frozenset(("AttributesToGet",))
_FILTERS: Final = frozenset(("QueryFilter", "ScanFilter", "ConditionalOperator"))
_EXPECTED: Final = frozenset(("Expected", "ConditionalOperator"))
_ONE: Final = (1, 1)
_COUNTS: Final[dict[str, tuple[int, int]]] = {
    "IN": (1, 100),
    "BETWEEN": (2, 2),
    "NULL": (0, 0),
    "NOT_NULL": (0, 0),
}
_TREES: Final[dict[str, Callable[[Path, list[AttributeValue]], Condition]]] = {
    "EQ": lambda path, values: Compare("=", path, Value(values[0])),
    "NE": lambda path, values: Compare("<>", path, Value(values[0])),
    "IN": lambda path, values: In(path, tuple(map(Value, values))),
    "LE": lambda path, values: Compare("<=", path, Value(values[0])),
    "LT": lambda path, values: Compare("<", path, Value(values[0])),
    "GE": lambda path, values: Compare(">=", path, Value(values[0])),
    "GT": lambda path, values: Compare(">", path, Value(values[0])),
    "BETWEEN": lambda path, values: Between(path, Value(values[0]), Value(values[1])),
    "NOT_NULL": lambda path, _: Exists(path),
    "NULL": lambda path, _: Missing(path),
    "CONTAINS": lambda path, values: Contains(path, Value(values[0])),
    "NOT_CONTAINS": lambda path, values: And((Exists(path), Not(Contains(path, Value(values[0]))))),
    "BEGINS_WITH": lambda path, values: BeginsWith(path, Value(values[0])),
}
_ORDERED: Final = ("S", "N", "B")
_OPERANDS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("IN", "LE", "LT", "GE", "GT", "BETWEEN", "CONTAINS", "NOT_CONTAINS"), _ORDERED),
    "BEGINS_WITH": ("S", "B"),
}
_FILTERED_KEY: Final = "Filter Expression can only contain non-primary key attributes"
_RANGES: Final = {"LE": "<=", "LT": "<", "GE": ">=", "GT": ">", "BETWEEN": "BETWEEN", "BEGINS_WITH": "BEGINS_WITH"}


def read_projection(call: Parameters) -> Projection | None:
    """The projection from AttributesToGet."""
    names = None if call.lacks(_ATTRIBUTES) else call.texts("AttributesToGet")
    if names is None:
        return None
    if not names:
        refuse(violated("[]", "attributesToGet", "Member must have length greater than or equal to 1"))
    counts = Counter(names)
    for name in names:
        check_attribute_name(name)
        if counts[name] > 1:
            raise Refused(f"{INVALID}Duplicate value in attribute name: {name}")
    return tuple(Path((name,)) for name in names)


def read_filter(call: Parameters, name: str) -> Condition | None:
    """The condition from QueryFilter or ScanFilter, joined by ConditionalOperator."""
    if call.lacks(_FILTERS):
        return None
    given = call.structures_by_name(name)
    if not given:
        _check_nothing_to_join(call)
        return None
    return _joined(call, [_comparison(attribute, rule, name) for attribute, rule in given.items()])


def refused_query(call: Parameters, error: ValidationFailed) -> ValidationFailed:
    """The error for a refused query; QueryFilter has its own wording for a filter by a key attribute."""
    if call.given.get("QueryFilter") is not None and error.message.startswith(_FILTERED_KEY):
        return ValidationFailed(error.message.replace("Filter Expression", "QueryFilter", 1))
    return error


def read_expected(call: Parameters) -> Condition | None:
    """The condition from Expected: comparisons, or the older form with Exists and Value."""
    if call.lacks(_EXPECTED):
        return None
    given = call.structures_by_name("Expected")
    if not given:
        _check_nothing_to_join(call)
        return None
    call.choice("ConditionalOperator", CONDITIONAL_OPERATORS)  # checked before any value
    return _joined(call, [_expectation(attribute, rule) for attribute, rule in given.items()])


def _check_nothing_to_join(call: Parameters) -> None:
    if call.choice("ConditionalOperator", CONDITIONAL_OPERATORS) is not None:
        message = "ConditionalOperator cannot be used without Filter or Expected"
        raise Refused(f"{INVALID}{message}")


def _joined(call: Parameters, terms: list[Condition]) -> Condition:
    operator = call.choice("ConditionalOperator", CONDITIONAL_OPERATORS)
    if len(terms) == 1:
        if operator is not None:
            raise Refused("ConditionalOperator can only be used when Filter or Expected has two or more elements")
        return terms[0]
    return Or(tuple(terms)) if operator == "OR" else And(tuple(terms))


def _expectation(attribute: str, rule: Json) -> Condition:
    _check_not_together(attribute, rule, "Value", "AttributeValueList")
    if rule.get("ComparisonOperator") is not None:
        _check_not_together(attribute, rule, "Exists", "ComparisonOperator")
        if "Value" in rule and "AttributeValueList" not in rule:
            rule = {**rule, "AttributeValueList": [rule["Value"]]}
        _check_operand_given(attribute, rule)
        return _comparison(attribute, rule, "Expected")
    if rule.get("AttributeValueList") is not None:
        message = "AttributeValueList can only be used with a ComparisonOperator for Attribute: "
        raise Refused(f"{INVALID}{message}{attribute}")
    path, exists, value = Path((attribute,)), rule.get("Exists"), rule.get("Value")
    if exists is False:
        if value is not None:
            message = "Value cannot be used when Exists is false for Attribute: "
            raise Refused(f"{INVALID}{message}{attribute}")
        return Missing(path)
    if value is None:
        shown = "null" if exists is None else "true"
        message = f"Value must be provided when Exists is {shown} for Attribute: "
        raise Refused(f"{INVALID}{message}{attribute}")
    return Compare("=", path, Value(read_value(value)))


def _check_operand_given(attribute: str, rule: Json) -> None:
    operator = rule["ComparisonOperator"]
    if rule.get("AttributeValueList") is None and operator in _TREES and _COUNTS.get(operator, _ONE)[0]:
        message = f"Value or AttributeValueList must be used with ComparisonOperator: {operator} for Attribute: "
        raise Refused(f"{INVALID}{message}{attribute}")


def _check_not_together(attribute: str, rule: Json, first: str, second: str) -> None:
    if rule.get(first) is not None and rule.get(second) is not None:
        message = f"{first} and {second} cannot be used together for Attribute: {attribute}"
        raise Refused(f"{INVALID}{message}")


def _operator(attribute: str, rule: Json, of: str) -> tuple[str, list[AttributeValue]]:
    """The operator and operands of a rule; `of` is the parameter that contains it."""
    part, at = Parameters(rule), f"{member(of)}.{attribute}.member.comparisonOperator"
    operator = part.required("ComparisonOperator", at)
    if operator not in _TREES:
        options = ", ".join(_TREES)
        refuse(violated(operator, at, f"Member must satisfy enum value set: [{options}]"))
    values = [read_value(value) for value in part.members("AttributeValueList") or ()]
    low, high = _COUNTS.get(operator, _ONE)
    if not low <= len(values) <= high:
        message = f"Invalid number of argument(s) for the {operator} ComparisonOperator"
        raise Refused(f"{INVALID}{message}")
    _check_types(operator, values)
    return operator, values


def _check_types(operator: str, values: list[AttributeValue]) -> None:
    kinds = _OPERANDS.get(operator)
    for value in values:
        if kinds is not None and kind_of(value) not in kinds:
            message = f"ComparisonOperator {operator} is not valid for {kind_of(value)} AttributeValue type"
            raise Refused(f"{INVALID}{message}")
    if operator == "BETWEEN" and kind_of(values[0]) == kind_of(values[1]) and _above(values[0], values[1]):
        message = "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound"
        raise Refused(message)
    if len({kind_of(value) for value in values}) > 1:
        raise Refused(f"{INVALID}AttributeValues inside AttributeValueList must be of same type")


def _above(low: Any, high: Any) -> bool:
    return kind_of(low) in _ORDERED and bool(low > high)


def _comparison(attribute: str, rule: Json, of: str) -> Condition:
    operator, values = _operator(attribute, rule, of)
    return _TREES[operator](Path((attribute,)), values)


def read_key_conditions(call: Parameters) -> KeyCondition | None:
    """The key condition from KeyConditions: equalities, and at most one range."""
    if call.given.get("KeyConditions") is None:
        return None
    given = call.structures_by_name("KeyConditions")
    equal: list[tuple[str, AttributeValue]] = []
    ranges: list[KeyRange] = []
    for attribute, rule in given.items():
        operator, values = _operator(attribute, rule, "KeyConditions")
        if operator == "EQ":
            equal.append((attribute, values[0]))
        elif operator in _RANGES:
            ranges.append(KeyRange(attribute, _RANGES[operator], tuple(values)))  # type: ignore[arg-type]
        else:
            raise Refused("Attempted conditional constraint is not an indexable operation")
    if not given or len(ranges) > 1:
        raise Refused("Query key condition not supported")
    return KeyCondition(tuple(equal), ranges[0] if ranges else None)


def read_updates(call: Parameters) -> Update | None:
    """The update from AttributeUpdates."""
    if call.given.get("AttributeUpdates") is None:
        return None
    given = call.structures_by_name("AttributeUpdates")
    actions = [_action(attribute, rule) for attribute, rule in given.items()]
    return Update(
        tuple(each for each in actions if isinstance(each, SetAction)),
        tuple(each for each in actions if isinstance(each, Path)),
        tuple(each for each in actions if isinstance(each, AddAction)),
        tuple(each for each in actions if isinstance(each, DeleteAction)),
    )


def refused_update(call: Parameters, error: ValidationFailed) -> ValidationFailed:
    """The error for a refused update; AttributeUpdates has its own wording for a wrong operand."""
    if call.given.get("AttributeUpdates") is not None and error.message == WRONG_OPERAND:
        return ValidationFailed("Type mismatch for attribute to update")
    return error


def _action(attribute: str, rule: Json) -> SetAction | Path | AddAction | DeleteAction:
    """The action for an attribute; the path alone if it is to be removed."""
    check_attribute_name(attribute)
    path, action = Path((attribute,)), Parameters(rule).text("Action") or "PUT"
    if action not in ("PUT", "ADD", "DELETE"):
        at = f"attributeUpdates.{attribute}.member.action"
        refuse(violated(action, at, "Member must satisfy enum value set: [ADD, DELETE, PUT]"))
    if rule.get("Value") is None:
        if action != "DELETE":
            raise Refused(f"{INVALID}Only DELETE action is allowed when no attribute value is specified")
        return path
    value = read_value(rule["Value"])
    if action == "PUT":
        return SetAction(path, Value(value))
    if action == "DELETE":
        _check_action(action, value, ("SS", "NS", "BS"))
        return DeleteAction(path, Value(value))
    _check_action(action, value, ("N", "SS", "NS", "BS", "L"))
    if isinstance(value, list):
        return SetAction(path, ListAppend(IfNotExists(path, Value([])), Value(value)))
    return AddAction(path, Value(value))


def _check_action(action: str, value: AttributeValue, allowed: tuple[str, ...]) -> None:
    if kind_of(value) not in allowed:
        what = "DELETE action with value" if action == "DELETE" else f"{action} action"
        message = f"{what} is not supported for the type {kind_of(value)}"
        raise Refused(f"{INVALID}{message}")
