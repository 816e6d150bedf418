"""Key templates: what is filled in matches, keeps its order, and meets no other template by surprise."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from fuzz.fields import texts
from partita.errors import InvalidKey, ModelError
from partita.model import Placeholder, Template

MAX_VALUES: Final = 3
"""Of one key; templates with more placeholders are only parsed."""


def key_template(data: bytes) -> None:
    """Two templates, and the values of two keys of the first one."""
    first, second, *values = texts(data, 2 + 2 * MAX_VALUES)
    template, other = _template(first), _template(second)
    if template is None or len(template.placeholders) > MAX_VALUES:
        return
    keys = [
        (given, key)
        for part in (values[:MAX_VALUES], values[MAX_VALUES:])
        if (key := _filled(template, given := _values(template, part))) is not None
    ]
    for given, key in keys:
        _check_key(template, given, key)
        if other is not None and other.matches(key):
            assert template.overlaps(other)
            assert other.overlaps(template)
    if len(keys) == 2 and not template.bare:  # noqa: PLR2004 - both can be compared
        _check_order(template, *keys)


def _template(text: str) -> Template | None:
    try:
        return Template(text)
    except ModelError:
        return None


def _values(template: Template, given: Sequence[str]) -> list[Any]:
    if template.bare:  # the value is the key, whatever width it has
        return [given[0]]
    return [_value(*each) for each in zip(template.placeholders, given, strict=False)]


def _value(placeholder: Placeholder, text: str) -> Any:
    """A text, or the number that it says where the placeholder has a width."""
    if placeholder.width is None:
        return text
    try:
        return Decimal(text)
    except InvalidOperation:
        return len(text)


def _filled(template: Template, values: list[Any]) -> Any:
    try:
        return template.render(values)
    except InvalidKey:
        return None


def _check_key(template: Template, values: list[Any], key: Any) -> None:
    assert template.matches(key)
    assert template.renderer(range(len(values)))(values) == key
    if not template.bare:
        assert len(key) >= template.min_length
        assert all(key.startswith(template.prefix(values[:count])) for count in range(len(values) + 1))


def _check_order(template: Template, one: tuple[list[Any], str], two: tuple[list[Any], str]) -> None:
    """Keys are equal, and sort, as the values do that they were made from."""
    assert (one[0] == two[0]) == (one[1] == two[1]), template
    assert (one[0] < two[0]) == (one[1] < two[1]), template
