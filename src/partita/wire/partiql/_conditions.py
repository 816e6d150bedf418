"""Translates WHERE conditions into the expression trees that stores evaluate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

from partita.errors import ValidationFailed
from partita.expressions import (
    And,
    BeginsWith,
    Between,
    Compare,
    Condition,
    Contains,
    Exists,
    HasType,
    In,
    Missing,
    Not,
    Operand,
    Or,
    Path,
    Value,
    validate_condition,
)
from partita.wire.partiql._keywords import TYPES
from partita.wire.partiql._operands import Operands, path_of, unrecognized, wrong_count
from partita.wire.partiql._tree import Call, Group, Literal, Name, Node, Operation, PathTo, TypeTest

_COMPARATORS: Final = ("=", "<>", "<", "<=", ">", ">=")
_OF_PATH: Final[dict[str, Callable[[Path], Condition]]] = {"attribute_exists": Exists, "attribute_not_exists": Missing}
_OF_TWO: Final[dict[str, Callable[[Operand, Operand], Condition]]] = {
    "attribute_type": HasType,
    "begins_with": BeginsWith,
    "contains": Contains,
}
_PREDICATES: Final = frozenset((*_OF_PATH, *_OF_TWO))
_NAMES_OF: Final[dict[str, str]] = {
    "=": "Eq",
    "<>": "Ne",
    "<": "Lt",
    "<=": "Lte",
    ">": "Gt",
    ">=": "Gte",
    "+": "Plus",
    "-": "Minus",
    "*": "Times",
    "/": "Divide",
    "%": "Modulo",
    "||": "Concat",
    "and": "And",
    "or": "Or",
    "not": "Not",
    "in": "InCollection",
    "not_in": "InCollection",
    "between": "Between",
    "not_between": "Between",
    "like": "Like",
    "not_like": "Like",
}
_NODE_NAMES: Final = {"TypeTest": "IsType", "Name": "Id", "Literal": "Lit", "PathTo": "Path", "Mapping": "Struct"}


def unsupported(node: Node) -> ValidationFailed:
    """The error for an expression that DynamoDB does not support in this place."""
    kind = type(node).__name__
    name = _NAMES_OF.get(node.operator, "Expr") if isinstance(node, Operation) else _NODE_NAMES.get(kind, kind)
    if isinstance(node, Group):
        name = "Bag" if node.is_bag else "List"
    return ValidationFailed(f"Unsupported operation: {name.removesuffix('Node')}")


class Conditions(Operands):
    """Translates conditions."""

    def condition(self, node: Node) -> Condition:
        """Translate a whole condition, and check the rules for all conditions.

        Raises:
            ValidationFailed: it breaks a rule, or is not a condition.
        """
        condition = self._condition(node)
        validate_condition(condition, what=None)
        return condition

    def _condition(self, node: Node) -> Condition:
        if isinstance(node, Operation):
            return self._operation(node)
        if isinstance(node, TypeTest):
            return self._type_test(node)
        if isinstance(node, Call):
            return self._predicate(node)
        raise unsupported(node)

    def _operation(self, node: Operation) -> Condition:
        word, operands = node.operator, node.operands
        if word in ("and", "or"):
            joined = And if word == "and" else Or
            return joined(tuple(self._condition(each) for each in _flattened(node, word)))
        if word == "not":
            return Not(self._condition(operands[0]))
        if word in _COMPARATORS and len(operands) == 2:  # noqa: PLR2004 - a sign has only one
            return self._comparison(word, operands[0], operands[1])
        if word.startswith("not_"):
            return Not(self._span(word.removeprefix("not_"), node))
        return self._span(word, node)

    def _span(self, word: str, node: Operation) -> Condition:
        operands = node.operands
        if word == "between":
            return Between(self.operand(operands[0]), self.operand(operands[1]), self.operand(operands[2]))
        if word == "in":
            return In(self.operand(operands[0]), tuple(self._options(operands[1])))
        raise unsupported(node)

    def _options(self, node: Node) -> list[Operand]:
        if isinstance(node, Group):
            return [self.operand(member) for member in node.members]
        given = None if isinstance(node, Name | PathTo | Call) else self.value(node)
        if isinstance(given, list | frozenset):
            return [Value(member) for member in given]
        raise unsupported(node)

    def _comparison(self, comparator: str, left: Node, right: Node) -> Condition:
        """Translate a comparison; a condition may be compared with TRUE or FALSE."""
        if comparator in ("=", "<>"):
            for condition, truth in ((left, right), (right, left)):
                if _is_condition(condition) and isinstance(truth, Literal) and truth.token.kind == "truth":
                    holds = (truth.token.text == "true") == (comparator == "=")
                    return self._condition(condition) if holds else Not(self._condition(condition))
        return Compare(cast("Any", comparator), self.operand(left), self.operand(right))

    def _predicate(self, call: Call) -> Condition:
        name, arguments = call.function, call.arguments
        if name == "size":
            message = "The function is not allowed to be used this way in an expression; function: size"
            raise ValidationFailed(message)
        if name not in _PREDICATES:
            raise unrecognized(call)
        if len(arguments) != (1 if name in _OF_PATH else 2):
            raise wrong_count(call)
        if name in _OF_TWO:
            return _OF_TWO[name](self.operand(arguments[0]), self.operand(arguments[1]))
        if not isinstance(arguments[0], Name | PathTo):
            message = f"Operator or function requires a document path; operator or function: {name}"
            raise ValidationFailed(message)
        return _OF_PATH[name](path_of(arguments[0]))

    def _type_test(self, node: TypeTest) -> Condition:
        negated = node.token.text == "is_not"
        if node.type == "missing":
            path = path_of(node.operand)
            return Exists(path) if negated else Missing(path)
        kinds = TYPES[node.type]
        if not kinds:  # no stored value has that type
            path = path_of(node.operand)
            never = And((Exists(path), Missing(path)))
            return Not(never) if negated else never
        operand = self.operand(node.operand)
        tests = [HasType(operand, Value(kind)) for kind in kinds]
        test = tests[0] if len(tests) == 1 else Or(tuple(tests))
        return Not(test) if negated else test


def _is_condition(node: Node) -> bool:
    if isinstance(node, Operation):
        return node.operator not in ("+", "-", "*", "/", "%", "||")
    return isinstance(node, TypeTest) or (isinstance(node, Call) and node.function in _PREDICATES)


def _flattened(node: Operation, word: str) -> list[Node]:
    """The operands of a chain of the same operator, in order; a loop, because chains may be long."""
    found: list[Node] = []
    left: Node = node
    while isinstance(left, Operation) and left.operator == word:
        found.append(left.operands[1])
        left = left.operands[0]
    return [left, *reversed(found)]
