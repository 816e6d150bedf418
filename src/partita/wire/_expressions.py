"""Reads the expressions of one call. They share names and values, each of which must be used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from partita.errors import SerializationFailed, ValidationFailed
from partita.expressions import (
    Substitutions,
    parse_condition,
    parse_key_condition,
    parse_projection,
    parse_update,
)
from partita.store import Json
from partita.values import AttributeValue
from partita.wire._parameters import Parameters, check_attribute_name
from partita.wire._values import read_value
from partita.wire._wording import InvalidValue, Refused, UnusableValues

CACHED: Final = 2_048
MAX_CACHED_NAMES: Final = 4_096
"""Expressions with longer names are not cached: they could fill the memory. Expression texts have their own limit."""

_PARSERS: Final[dict[str, Callable[[str, Substitutions], Any]]] = {
    "ProjectionExpression": parse_projection,
    "FilterExpression": lambda text, subs: parse_condition(text, subs, "FilterExpression"),
    "KeyConditionExpression": parse_key_condition,
    "ConditionExpression": parse_condition,
    "UpdateExpression": parse_update,
    "SearchConditionExpression": lambda text, subs: parse_condition(text, subs, "SearchConditionExpression"),
}


def read_expressions(call: Parameters, kinds: Sequence[str], legacy: Sequence[str] = ()) -> Mapping[str, Any]:
    """The parsed expressions of the call, by parameter name; None for each that is absent.

    Raises:
        ValidationFailed: an expression is invalid, a name or value is unused, or legacy parameters are mixed in.
    """
    if call.lacks(EXPRESSIONS):
        return _NO_TREES
    texts = tuple((kind, text) for kind in kinds if (text := call.text(kind)) is not None)
    _check_not_mixed(call, texts, legacy)
    names, values = _names(call, kinds, texts), _values(call, kinds, texts)
    if not texts:
        return _NO_TREES
    if values is None and sum(map(len, names.values())) <= MAX_CACHED_NAMES:
        return _parsed_without_values(texts, tuple(names.items()))
    return _parsed(texts, names, values or {})


def _check_not_mixed(call: Parameters, texts: tuple[tuple[str, str], ...], legacy: Sequence[str]) -> None:
    old = [name for name in legacy if call.given.get(name) is not None and not _goes_along(name, texts)]
    if old and texts:
        raise Refused(
            "Can not use both expression and non-expression parameters in the same request: Non-expression "
            f"parameters: {{{', '.join(old)}}} Expression parameters: {{{', '.join(kind for kind, _ in texts)}}}"
        )


def _goes_along(name: str, texts: tuple[tuple[str, str], ...]) -> bool:
    """Whether a legacy parameter can go with expressions: only KeyConditions can, without KeyConditionExpression."""
    return name == "KeyConditions" and all(kind != "KeyConditionExpression" for kind, _ in texts)


def _names(call: Parameters, kinds: Sequence[str], texts: tuple[tuple[str, str], ...]) -> dict[str, str]:
    names = call.fields("ExpressionAttributeNames")
    if names is None:
        return {}
    _check_placeholders("ExpressionAttributeNames", names, kinds, texts)
    for name in names.values():
        if type(name) is not str:
            raise SerializationFailed("NUMBER_VALUE cannot be converted to String")
        check_attribute_name(name)
    return names


def _values(
    call: Parameters, kinds: Sequence[str], texts: tuple[tuple[str, str], ...]
) -> dict[str, AttributeValue] | None:
    values = call.fields("ExpressionAttributeValues")
    if values is None:
        return None
    takers = [kind for kind in kinds if kind != "ProjectionExpression"]
    _check_placeholders("ExpressionAttributeValues", values, takers, texts)
    read: dict[str, AttributeValue] = {}
    for placeholder, tagged in values.items():
        try:
            read[placeholder] = read_value(tagged)
        except InvalidValue as error:
            raise InvalidValue(error.message, error.older, placeholder) from None
    return read


def _check_placeholders(what: str, given: Json, kinds: Sequence[str], texts: tuple[tuple[str, str], ...]) -> None:
    if not any(kind in kinds for kind, _ in texts):
        if what == "ExpressionAttributeNames":
            raise Refused(f"{what} can only be specified when using expressions")
        absent = sorted(kinds, key="UpdateExpression ConditionExpression".find) if len(kinds) > 1 else kinds
        raise UnusableValues(absent)
    if not given:
        raise Refused(f"{what} must not be empty")


def _parsed(
    texts: tuple[tuple[str, str], ...], names: dict[str, str], values: dict[str, AttributeValue]
) -> Mapping[str, Any]:
    try:
        substitutions = Substitutions(names, values)
        trees = {kind: _PARSERS[kind](text, substitutions) for kind, text in texts}
        substitutions.check_all_used()
    except ValidationFailed as error:
        raise Refused(error.message) from None
    return {**_NO_TREES, **trees}


@lru_cache(maxsize=CACHED)
def _parsed_without_values(texts: tuple[tuple[str, str], ...], names: tuple[tuple[str, str], ...]) -> Mapping[str, Any]:
    """Expressions without values often repeat verbatim, so they are cached; their trees are immutable."""
    return _parsed(texts, dict(names), {})


EXPRESSIONS: Final = frozenset((*_PARSERS, "ExpressionAttributeNames", "ExpressionAttributeValues"))
"""The names of the parameters that are expressions or belong to expressions."""

_NO_TREES: Final[Mapping[str, Any]] = dict.fromkeys(_PARSERS)
