"""Parsing of DynamoDB's text into trees, for requests that arrive over the network.

condition  = or-term {OR or-term}        or-term = and-term {AND and-term}
and-term   = [NOT] ("(" condition ")" | comparison | predicate)
comparison = operand (comparator operand | BETWEEN operand AND operand | IN "(" operand {"," operand} ")")
update     = {SET path "=" assigned {","…} | REMOVE path {","…} | (ADD | DELETE) path value {","…}}
assigned   = operand [("+" | "-") operand]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, TypeVar, cast

from partita.errors import ValidationFailed
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
    In,
    KeyCondition,
    Missing,
    Not,
    Operand,
    Or,
    Path,
    Projection,
    SetAction,
    Size,
    Update,
    Value,
    values_in,
)
from partita.expressions._condition_rules import check_condition
from partita.expressions._invalid import InvalidExpression, Within, misused, path_required, redundant_parentheses
from partita.expressions._key_condition import key_condition
from partita.expressions._operands import PREDICATES, OperandReader, Substitutions
from partita.expressions._path_rules import check_projection
from partita.expressions._tokens import Tokens
from partita.expressions._update_rules import check_update

__all__ = ["Substitutions", "parse_condition", "parse_key_condition", "parse_projection", "parse_update"]

T = TypeVar("T")

_COMPARATORS: Final = ("=", "<>", "<", "<=", ">", ">=")
_AFTER_OPERAND: Final = frozenset({*_COMPARATORS, "BETWEEN", "IN", ".", "["})
_AFTER_TERM: Final = frozenset({"AND", "OR", ")", "end"})
_CONDITION_WORDS: Final = frozenset({"AND", "OR", "NOT", "BETWEEN", "IN"})
_SECTIONS: Final = frozenset({"SET", "REMOVE", "ADD", "DELETE"})
_PATH_PREDICATES: Final[dict[str, Callable[..., Condition]]] = {
    "attribute_exists": Exists,
    "attribute_not_exists": Missing,
}
_VALUE_PREDICATES: Final[dict[str, Callable[..., Condition]]] = {
    "attribute_type": HasType,
    "begins_with": BeginsWith,
    "contains": Contains,
}


def parse_condition(text: str, subs: Substitutions, what: str = "ConditionExpression") -> Condition:
    """Parse a condition or filter, and validate it like `validate_condition`; `what` names it in messages.

    Raises:
        ValidationFailed: the text is not a condition, or the condition breaks a rule.
    """
    with Within(what):
        condition = _read_condition(OperandReader(Tokens(text, _CONDITION_WORDS), subs, update=False))
        check_condition(condition)
        return condition


def parse_key_condition(text: str, subs: Substitutions) -> KeyCondition:
    """Parse a key condition: equalities in the order of the text, then the range, wherever it was in the text.

    Raises:
        ValidationFailed: the text is not a key condition. Of two errors, the first one in the text is reported.
    """
    try:
        condition = parse_condition(text, subs, "KeyConditionExpression")
    except ValidationFailed as error:
        _refuse_first_term(text, subs)
        raise error from None
    return key_condition(condition)


class _Lenient(Substitutions):
    """Also accepts undefined values, so that the terms before them can be checked."""

    def value(self, placeholder: str) -> Value:
        """Return the value, or a marker if it is undefined."""
        return Value(self.values.get(placeholder, _UNDEFINED))


_UNDEFINED: Final = frozenset({""})


def _refuse_first_term(text: str, subs: Substitutions) -> None:
    """Raise for the first invalid term of a key condition, unless a value before it is undefined."""
    lenient = _Lenient(subs.names, subs.values)
    with Within("KeyConditionExpression"):
        condition = _read_condition(OperandReader(Tokens(text, _CONDITION_WORDS), lenient, update=False))
        for term in condition.terms if isinstance(condition, And) else (condition,):
            if any(each.value is _UNDEFINED for each in values_in(term)):
                return
            check_condition(term)


def parse_update(text: str, subs: Substitutions) -> Update:
    """Parse an update, and validate it like `validate_update`.

    Raises:
        ValidationFailed: the text is not an update, or the update breaks a rule.
    """
    with Within("UpdateExpression"):
        update = _read_update(OperandReader(Tokens(text, _SECTIONS, update=True), subs, update=True))
        check_update(update)
        return update


def parse_projection(text: str, subs: Substitutions) -> Projection:
    """Parse a projection, and validate it like `validate_projection`.

    Raises:
        ValidationFailed: the text is not a projection, or the projection breaks a rule.
    """
    with Within("ProjectionExpression"):
        reader = OperandReader(Tokens(text, frozenset()), subs, update=False)
        projection = tuple(_listed(reader, reader.path))
        reader.tokens.finish()
        check_projection(projection)
        return projection


def _listed(reader: OperandReader, read: Callable[[], T]) -> list[T]:
    found = [read()]
    while reader.tokens.skip(","):
        found.append(read())
    return found


# --- conditions ---


class _Group:
    """The terms between two parentheses that have been read so far."""

    def __init__(self) -> None:
        self._ors: list[Condition] = []
        self._ands: list[Condition] = []
        self._negations = 0
        self._only_group = False

    def negate(self) -> None:
        self._negations += 1

    def add(self, term: Condition, *, grouped: bool = False) -> None:
        self._only_group = grouped and not (self._negations or self._ands or self._ors)
        for _ in range(self._negations):
            term = Not(term)
        self._negations = 0
        self._ands.append(term)

    def next_or(self) -> None:
        self._ors.append(self._ands[0] if len(self._ands) == 1 else And(tuple(self._ands)))
        self._ands = []

    def closed(self) -> Condition:
        if self._only_group:
            raise redundant_parentheses()
        return self.whole()

    def whole(self) -> Condition:
        self.next_or()
        return self._ors[0] if len(self._ors) == 1 else Or(tuple(self._ors))


def _read_condition(reader: OperandReader) -> Condition:
    """Parse a condition. Groups are kept in a list, not on Python's stack, so nesting depth is not limited by it."""
    tokens = reader.tokens
    groups = [_Group()]
    while True:
        if tokens.skip("NOT"):
            groups[-1].negate()
            continue
        if tokens.kind() == "(" and tokens.kind_after_group() not in _AFTER_OPERAND:
            tokens.advance()
            groups.append(_Group())
            continue
        groups[-1].add(_read_term(reader))
        while len(groups) > 1 and tokens.skip(")"):
            term = groups.pop().closed()
            groups[-1].add(term, grouped=True)
        if tokens.skip("OR"):
            groups[-1].next_or()
        elif not tokens.skip("AND"):
            break
    if len(groups) > 1:
        raise tokens.unexpected()
    tokens.finish()
    return groups[0].whole()


def _read_term(reader: OperandReader) -> Condition:
    tokens = reader.tokens
    if tokens.called() in PREDICATES:
        return _read_predicate(reader, tokens.advance().text)
    left = reader.operand()
    if tokens.kind() in _COMPARATORS:
        return Compare(cast("Comparator", tokens.advance().kind), left, reader.operand())
    if tokens.skip("BETWEEN"):
        low = reader.operand()
        tokens.expect("AND")
        return Between(left, low, reader.operand())
    if tokens.skip("IN"):
        return In(left, tuple(reader.operands()))
    if isinstance(left, Size) and tokens.kind() in _AFTER_TERM:
        raise misused("size")
    raise tokens.unexpected()


def _read_predicate(reader: OperandReader, name: str) -> Condition:
    operands: list[Any] = reader.arguments(name, PREDICATES[name])
    if reader.tokens.kind() in _AFTER_OPERAND:
        raise misused(name)
    if name in _VALUE_PREDICATES:
        return _VALUE_PREDICATES[name](*operands)
    if not isinstance(operands[0], Path):
        raise path_required(name)
    return _PATH_PREDICATES[name](*operands)


# --- updates ---


def _read_update(reader: OperandReader) -> Update:
    sections: dict[str, tuple[Any, ...]] = {}
    while reader.tokens.kind() != "end":
        section = reader.tokens.kind()
        if section not in _SECTIONS:
            raise reader.tokens.unexpected()
        reader.tokens.advance()
        if section in sections:
            raise InvalidExpression(f'The "{section}" section can only be used once in an update expression;')
        sections[section] = tuple(_listed(reader, _action_reader(reader, section)))
    if not sections:
        raise reader.tokens.unexpected()
    return Update(
        sets=sections.get("SET", ()),
        removes=sections.get("REMOVE", ()),
        adds=sections.get("ADD", ()),
        deletes=sections.get("DELETE", ()),
    )


def _action_reader(reader: OperandReader, section: str) -> Callable[[], Any]:
    readers: dict[str, Callable[[], Any]] = {
        "SET": lambda: _read_set(reader),
        "REMOVE": reader.path,
        "ADD": lambda: AddAction(reader.path(), reader.value()),
        "DELETE": lambda: DeleteAction(reader.path(), reader.value()),
    }
    return readers[section]


def _read_set(reader: OperandReader) -> SetAction:
    path = reader.path()
    reader.tokens.expect("=")
    return SetAction(path, _read_assigned(reader))


def _read_assigned(reader: OperandReader) -> Operand:
    tokens = reader.tokens
    if tokens.kind() != "(" or tokens.kind_after_group() in {"+", "-"}:
        return _read_sum(reader)
    tokens.advance()
    if tokens.kind() == "(" and tokens.kind_after_group() == ")":
        raise redundant_parentheses()
    assigned = _read_sum(reader)
    tokens.expect(")")
    return assigned


def _read_sum(reader: OperandReader) -> Operand:
    left = reader.operand()
    if reader.tokens.kind() not in {"+", "-"}:
        return left
    sign = cast("Literal['+', '-']", reader.tokens.advance().kind)
    return Arithmetic(sign, left, reader.operand())
