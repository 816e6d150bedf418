"""From a query pattern's parameters to its key condition.

| parameters given | sort key condition |
| --- | --- |
| none of the sort key | begins with the template's literal beginning |
| the first placeholders, by value | begins with them, closing separator included |
| all placeholders, by value | equals |
| then a `Span` of the next placeholder | between, or one-sided within the beginning |
| then a `Prefix` of the next placeholder | begins with, not closed |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from partita.errors import InvalidKey, ModelError
from partita.expressions import KeyCondition, KeyRange
from partita.model import BoundKey, Placeholder, Prefix, Span, Template, bare_value, part_text

RangeKind: TypeAlias = Literal["equal", "span", "prefix"]

_LAST = "\U0010ffff"  # sorts after every other character
_HOW_TO_SORT = "Give it a form that sorts, such as {n:06} or {at:%Y-%m-%d}; free text sorts where it is the last part."
_SURROGATES = range(0xD800, 0xE000)  # no characters by themselves


def key_condition(
    label: str, key: BoundKey, parameters: Mapping[str, RangeKind]
) -> Callable[[Mapping[str, Any]], KeyCondition]:
    """Prove that the parameters fit the key, and give the function that makes the condition from arguments.

    Raises:
        ModelError: the partition key is not covered, a sort key field is skipped, or a range is not last.
    """
    for field in key.hash.fields:
        if parameters.get(field) != "equal":
            message = f"{label} does not cover the partition key {key.hash.text!r}: {field!r} is missing."
            raise ModelError(message, hint="A query names all fields of the partition key, each by one value.")
    hash_name = key.hash_attribute.name
    if key.range is None or key.range_attribute is None:
        return lambda values: KeyCondition(((hash_name, _render(key.hash, values)),))
    template, range_name = key.range, key.range_attribute.name
    given = _leading(label, template, parameters, already=key.hash.fields)
    last = parameters.get(template.fields[given - 1], "equal") if given else "equal"
    if last == "span" and not key.sorts(template, given - 1):
        message = f"{label}: {template.fields[given - 1]!r} does not sort in {template.text!r}, so it has no ranges."
        raise ModelError(message, hint=_HOW_TO_SORT)

    def build(values: Mapping[str, Any]) -> KeyCondition:
        equal = ((hash_name, _render(key.hash, values)),)
        arguments = [values[field] for field in template.fields[:given]]
        if last == "span":
            return KeyCondition(equal, span_range(range_name, template, arguments))
        if last == "prefix":
            return KeyCondition(equal, _prefix_range(range_name, template, arguments))
        if given == len(template.fields):
            return KeyCondition((*equal, (range_name, template.render(arguments))))
        prefix = template.prefix(arguments)
        return KeyCondition(equal, KeyRange(range_name, "BEGINS_WITH", (prefix,)) if prefix else None)

    return build


def span_range(name: str, template: Template, arguments: list[Any]) -> KeyRange:
    """The range of sort keys whose last given placeholder lies in a span.

    Raises:
        InvalidKey: the span has no end at all, or ends before it begins.
    """
    *fixed, span = arguments
    assert isinstance(span, Span)  # noqa: S101 - proved when the pattern was declared
    if template.bare:
        return _bare_span(name, span)
    placeholder = template.placeholders[len(fixed)]
    beginning = template.prefix(fixed)
    low, high = (
        None if end is None else beginning + part_text(end, placeholder.style, template.format)
        for end in (span.low, span.high)
    )
    # A key goes on after the placeholder with its tail, or ends there.
    first = beginning if low is None else low if span.include_low else _past(low, placeholder)
    if high is None:
        last = _above(beginning)
    elif span.include_high:
        last = _past(high, placeholder) if placeholder.tail else high
    else:
        last = high if placeholder.tail else _just_below(high)
    if first > last:
        raise InvalidKey("The span ends before it begins.")
    return KeyRange(name, "BETWEEN", (first, last))


def _past(text: str, placeholder: Placeholder) -> str:
    # Greater than every key whose placeholder has this text, less than every key whose placeholder has a greater one.
    return text + (_above(placeholder.tail) if placeholder.tail else "\0")


def _above(text: str) -> str:
    # The least text that is greater than all that begin with `text`, which ends in a literal character.
    return text[:-1] + chr(ord(text[-1]) + 1) if text else _LAST


def _just_below(text: str) -> str:
    # BETWEEN includes its upper end; this is the greatest text that is less than `text`, near enough.
    code = ord(text[-1]) - 1
    if code < 0:
        return text[:-1]
    below = chr(code) if code not in _SURROGATES else chr(_SURROGATES.start - 1)
    return text[:-1] + below + _LAST


def _bare_span(name: str, span: Span[Any]) -> KeyRange:
    low = None if span.low is None else bare_value(span.low)
    high = None if span.high is None else bare_value(span.high)
    if low is not None and high is not None:
        if not (span.include_low and span.include_high):
            raise InvalidKey("A span with two ends includes both.", hint="Use Span.between(low, high).")
        if low > high:
            raise InvalidKey("The span ends before it begins.")
        return KeyRange(name, "BETWEEN", (low, high))
    if low is not None:
        return KeyRange(name, ">=" if span.include_low else ">", (low,))
    if high is not None:
        return KeyRange(name, "<=" if span.include_high else "<", (high,))
    raise InvalidKey("The span has no end.", hint="Use Span.since(low), Span.until(high) or Span.between(low, high).")


def _prefix_range(name: str, template: Template, arguments: list[Any]) -> KeyRange:
    *fixed, prefix = arguments
    assert isinstance(prefix, Prefix)  # noqa: S101 - proved when the pattern was declared
    if template.bare:
        return KeyRange(name, "BEGINS_WITH", (prefix.text,))
    style = template.placeholders[len(fixed)].style
    text = template.prefix(fixed) + template.format.written(prefix.text if style is None else style.text(prefix.text))
    return KeyRange(name, "BEGINS_WITH", (text,))


def _leading(label: str, template: Template, parameters: Mapping[str, RangeKind], already: tuple[str, ...]) -> int:
    given = 0
    for field in template.fields:
        if field not in parameters:
            break
        given += 1
        if parameters[field] != "equal":
            break
    skipped = [field for field in template.fields[given:] if field in parameters and field not in already]
    if skipped:
        message = f"{label}: {', '.join(skipped)} cannot restrict the sort key {template.text!r}."
        raise ModelError(message, hint="Name its fields from the left, without a gap; only the last may be a range.")
    return given


def _render(template: Template, values: Mapping[str, Any]) -> Any:
    return template.render([values[field] for field in template.fields])
