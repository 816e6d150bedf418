"""The parsers of DynamoDB's expressions, and the use of the parsed expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

from fuzz.fields import texts
from partita.errors import ValidationFailed
from partita.expressions import (
    KeyCondition,
    Renderer,
    Substitutions,
    Update,
    apply_update,
    evaluate,
    parse_condition,
    parse_key_condition,
    parse_projection,
    parse_update,
    project,
)
from partita.values import AttributeValue, Item

NAMES: Final = MappingProxyType({"#n": "name", "#d": "a.b", "#s": "status"})
VALUES: Final[Mapping[str, AttributeValue]] = MappingProxyType(
    {":i": 1, ":d": Decimal("-0.5"), ":t": "x", ":b": b"x", ":l": [1, "x"], ":s": frozenset({"x"}), ":y": "S"}
)
ITEM: Final[Item] = {
    "a": 1,
    "b": {"c": [1, "x", {"d": Decimal("0.5")}]},
    "c": frozenset({"x", "y"}),
    "name": "xyz",
    "status": None,
    "l": [1, [2, 3]],
}
MAX_RENDERED: Final = 4_096
"""Longer rendered texts are not parsed again: they may exceed the length limit although the original text did not."""


def expression(data: bytes) -> None:
    """Parse the input with the parser that its first byte selects; the tree can be rendered, parsed again and used."""
    (text,) = texts(data[1:], 1)
    parse, use = _PARSERS[data[0] % len(_PARSERS) if data else 0]
    try:
        tree = parse(text, Substitutions(NAMES, VALUES))
    except ValidationFailed:
        return
    _check_rendered(parse, tree)
    use(tree)


def _check_rendered(parse: Callable[[str, Substitutions], Any], tree: Any) -> None:
    renderer = Renderer()
    text = _rendered(renderer, tree)
    if len(text) <= MAX_RENDERED:
        substitutions = Substitutions(renderer.names, renderer.values)
        assert parse(text, substitutions) == tree
        substitutions.check_all_used()


def _rendered(renderer: Renderer, tree: Any) -> str:
    if isinstance(tree, Update):
        return renderer.update(tree)
    if isinstance(tree, KeyCondition):
        return renderer.key_condition(tree)
    return renderer.projection(tree) if isinstance(tree, tuple) else renderer.condition(tree)


def _use_condition(tree: Any) -> None:
    assert evaluate(tree, ITEM) in (True, False)
    assert evaluate(tree, {}) in (True, False)


def _use_update(tree: Any) -> None:
    before = repr(ITEM)
    try:
        apply_update(tree, ITEM)
    except ValidationFailed:
        return
    finally:
        assert repr(ITEM) == before


def _use_projection(tree: Any) -> None:
    assert project(tree, ITEM).keys() <= ITEM.keys()


_PARSERS: Final[tuple[tuple[Callable[[str, Substitutions], Any], Callable[[Any], None]], ...]] = (
    (parse_condition, _use_condition),
    (parse_key_condition, lambda _: None),
    (parse_update, _use_update),
    (parse_projection, _use_projection),
)
