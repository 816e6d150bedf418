"""Extracts keys from a condition: the whole key of one item, or the partitions and the range to read."""

from __future__ import annotations

from itertools import product

from msgspec import Struct

from partita.errors import ValidationFailed
from partita.expressions import (
    And,
    BeginsWith,
    Between,
    Compare,
    Condition,
    In,
    KeyCondition,
    KeyRange,
    Or,
    Path,
    Value,
)
from partita.store import TableSchema
from partita.values import AttributeValue, Item, kind_of


class KeyPlan(Struct, frozen=True):
    """The partitions to read, each with the same range, and the rest of the condition."""

    partitions: tuple[KeyCondition, ...]
    rest: tuple[Condition, ...]


def whole_key(where: Condition | None, schema: TableSchema) -> tuple[Item, Condition | None]:
    """The key of the single item that the condition selects, and the rest of the condition.

    Raises:
        ValidationFailed: the condition has no equality for a key attribute.
    """
    key: Item = {}
    rest = []
    names = [part.name for part in schema.key]
    for term in terms_of(where):
        name, value = _equality(term)
        if name in names and name not in key:
            key[str(name)] = value
        else:
            rest.append(term)
    if len(key) < len(names):
        raise ValidationFailed("Where clause does not contain a mandatory equality on all key attributes")
    return key, conjunction(rest)


def plan_keys(where: Condition | None, hashes: list[str], ranges: list[str]) -> KeyPlan | None:
    """The partitions and the range that the condition selects; None if a full scan is needed.

    A partition is fixed by equality, by IN, or by equalities that are joined by OR.
    """
    terms = terms_of(where)
    choices: dict[str, list[AttributeValue]] = {}
    for name in hashes:
        term = next((term for term in terms if _choices(term, name) is not None), None)
        if term is None:
            return None
        choices[name] = _distinct(_choices(term, name) or [])
        terms.remove(term)
    equal, limit, rest = _range_terms(terms, ranges)
    partitions = [
        KeyCondition((*zip(hashes, values, strict=True), *equal), limit) for values in product(*choices.values())
    ]
    return KeyPlan(tuple(partitions), tuple(rest))


def _distinct(values: list[AttributeValue]) -> list[AttributeValue]:
    if any(kind_of(value) not in ("S", "N", "B") for value in values):
        message = "Condition parameter type does not match schema type"
        raise ValidationFailed(f"One or more parameter values were invalid: {message}")
    return [value for place, value in enumerate(values) if value not in values[:place]]


def _range_terms(
    terms: list[Condition], ranges: list[str]
) -> tuple[list[tuple[str, AttributeValue]], KeyRange | None, list[Condition]]:
    """Equalities of the range attributes from left to right, then at most one range, and the remaining terms."""
    equal: list[tuple[str, AttributeValue]] = []
    rest = list(terms)
    for name in ranges:
        term = next((term for term in rest if _equality(term)[0] == name), None)
        if term is not None:
            equal.append(_equality(term))  # type: ignore[arg-type]  # it has a name
            rest.remove(term)
            continue
        limit = next((limit for term in rest if (limit := _range(term)) is not None and limit.name == name), None)
        rest = [term for term in rest if limit is None or _range(term) != limit]
        return equal, limit, rest
    return equal, None, rest


def terms_of(condition: Condition | None) -> list[Condition]:
    """The terms of a condition that must all be true."""
    if condition is None:
        return []
    return [part for term in condition.terms for part in terms_of(term)] if isinstance(condition, And) else [condition]


def conjunction(terms: list[Condition]) -> Condition | None:
    """One condition that is true if all terms are; None without terms."""
    return None if not terms else terms[0] if len(terms) == 1 else And(tuple(terms))


def _equality(term: Condition) -> tuple[str | None, AttributeValue]:
    if isinstance(term, Compare) and term.op == "=":
        for left, right in ((term.left, term.right), (term.right, term.left)):
            if isinstance(left, Path) and len(left.parts) == 1 and isinstance(right, Value):
                return str(left.parts[0]), right.value
    return None, None


def _choices(term: Condition, name: str) -> list[AttributeValue] | None:
    """The values that the term allows for the attribute; None if it is not such a term."""
    found, value = _equality(term)
    if found == name:
        return [value]
    if isinstance(term, In) and term.operand == Path((name,)):
        values = [option.value for option in term.options if isinstance(option, Value)]
        return values if len(values) == len(term.options) else None
    if isinstance(term, Or):
        parts = [_choices(part, name) for part in term.terms]
        return None if None in parts else [value for part in parts for value in part or ()]
    return None


def _range(term: Condition) -> KeyRange | None:
    match term:
        case Compare(("<" | "<=" | ">" | ">=") as op, Path((str(name),)), Value(value)):
            return KeyRange(name, op, (value,))
        case Between(Path((str(name),)), Value(low), Value(high)):
            return KeyRange(name, "BETWEEN", (low, high))
        case BeginsWith(Path((str(name),)), Value(prefix)):
            return KeyRange(name, "BEGINS_WITH", (prefix,))
    return None
