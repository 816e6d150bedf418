"""Key templates: a rendered key matches its template, can be read back, and sorts like its values.

A key matches another template only if the templates are known to overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from fuzz.fields import sent_texts, texts
from partita.errors import InvalidKey, ModelError, ValidationFailed
from partita.model import Placeholder, Template
from partita.model.keys._parts import Epoch, Plain, TimeFormat, Width

MAX_VALUES: Final = 3
"""The maximum number of values of a key; templates with more placeholders are only parsed."""

_EXACT: Final = (type(None), Width)
"""The forms from which a value can be read back unchanged, and in which keys sort like their values."""


def key_template(data: bytes) -> None:
    """Check two templates, a key that another tool wrote, and two keys of the first template."""
    first, second, *_ = sent_texts(data, 3)  # templates are in source code, which has no lone surrogates
    _, _, stored, *values = texts(data, 3 + 2 * MAX_VALUES)
    template, other = _template(first), _template(second)
    if template is None or len(template.placeholders) > MAX_VALUES:
        return
    _check_stored(template, stored)
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
    if len(keys) == 2 and _is_exact(template):  # noqa: PLR2004 - there are two keys to compare
        _check_order(template, *keys)


def _template(text: str) -> Template | None:
    try:
        return Template(text)
    except ModelError:
        return None


def _is_exact(template: Template) -> bool:
    return not template.bare and all(isinstance(each.style, _EXACT) for each in template.placeholders)


def _values(template: Template, given: Sequence[str]) -> list[Any]:
    if template.bare:
        return [given[0]]
    return [_value(*each) for each in zip(template.placeholders, given, strict=False)]


def _value(placeholder: Placeholder, text: str) -> Any:
    """The text as a value: a number or an instant if the form of the placeholder requires one, else the text."""
    if isinstance(placeholder.style, Width | Plain):
        return _number(text)
    if isinstance(placeholder.style, TimeFormat | Epoch):
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=int.from_bytes(text.encode(errors="replace")[:4]))
    return text


def _number(text: str) -> Decimal | int:
    try:
        return Decimal(text)
    except InvalidOperation:
        return len(text)


def _filled(template: Template, values: list[Any]) -> Any:
    try:
        return template.render(values)
    except (InvalidKey, ValidationFailed):
        return None


def _check_stored(template: Template, key: str) -> None:
    """Check that the values can be read from a key, unless it is not a key of the template."""
    try:
        values = template.values(key)
    except ValueError:
        return
    assert template.matches(key)
    assert values.keys() == set(template.fields)


def _check_key(template: Template, values: list[Any], key: Any) -> None:
    assert template.matches(key)
    assert template.renderer(range(len(values)))(values) == key
    if template.bare:
        return
    assert len(key) >= template.min_length
    assert all(key.startswith(template.prefix(values[:count])) for count in range(len(values) + 1))
    if _is_exact(template) and len(set(template.fields)) == len(values):
        assert template.values(key) == dict(zip(template.fields, values, strict=True))


def _check_order(template: Template, one: tuple[list[Any], str], two: tuple[list[Any], str]) -> None:
    """Check that keys compare like the values from which they were rendered."""
    assert (one[0] == two[0]) == (one[1] == two[1]), template
    assert (one[0] < two[0]) == (one[1] < two[1]), template
