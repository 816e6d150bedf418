"""Ranges of sort keys: the key range for a `Span` or a `Prefix` of one of the key's fields."""

from __future__ import annotations

from typing import Any

from partita.errors import InvalidKey
from partita.expressions import KeyRange
from partita.model import Placeholder, Prefix, Span, Template, bare_value, part_text

_LAST = "\U0010ffff"  # sorts after every other character
_SURROGATES = range(0xD800, 0xE000)  # not characters on their own


def span_range(name: str, template: Template, arguments: list[Any]) -> KeyRange:
    """Return the range of sort keys whose last passed placeholder lies in a span.

    Raises:
        InvalidKey: the span has neither a low nor a high end, or ends before it begins.
    """
    *fixed, span = arguments
    assert isinstance(span, Span)  # noqa: S101 - checked when the pattern was declared
    if template.bare:
        return _bare_span(name, span)
    placeholder = template.placeholders[len(fixed)]
    if placeholder.style is not None and placeholder.style.descends:
        span = Span(span.high, span.low, span.include_high, span.include_low)
    beginning = template.prefix(fixed)
    low, high = (
        None if end is None else beginning + part_text(end, placeholder.style, template.format)
        for end in (span.low, span.high)
    )
    # After the placeholder, a key continues with the placeholder's tail, or ends.
    first = beginning if low is None else low if span.include_low else _past(low, placeholder)
    if high is None:
        last = _above(beginning)
    elif span.include_high:
        last = _past(high, placeholder) if placeholder.tail else high
    else:
        last = high if placeholder.tail else _just_below(high)
    if first > last:
        raise InvalidKey("The span ends before it begins.")
    if not first:  # the template begins with the placeholder: an open end has no text to begin with
        return KeyRange(name, "<=", (last,))
    return KeyRange(name, "BETWEEN", (first, last))


def _past(text: str, placeholder: Placeholder) -> str:
    # Greater than every key whose placeholder has this text, less than every key whose placeholder has a greater text.
    return text + (_above(placeholder.tail) if placeholder.tail else "\0")


def _above(text: str) -> str:
    # The least text that is greater than all texts that begin with `text`, which ends in a literal character.
    return text[:-1] + chr(ord(text[-1]) + 1) if text else _LAST


def _just_below(text: str) -> str:
    # BETWEEN includes its upper end; this is approximately the greatest text that is less than `text`.
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
            raise InvalidKey("A span with two ends must include both.", hint="Use Span.between(low, high).")
        if low > high:
            raise InvalidKey("The span ends before it begins.")
        return KeyRange(name, "BETWEEN", (low, high))
    if low is not None:
        return KeyRange(name, ">=" if span.include_low else ">", (low,))
    if high is not None:
        return KeyRange(name, "<=" if span.include_high else "<", (high,))
    raise InvalidKey("The span has no end.", hint="Use Span.since(low), Span.until(high) or Span.between(low, high).")


def prefix_range(name: str, template: Template, arguments: list[Any]) -> KeyRange:
    """Return the range of sort keys whose last passed placeholder begins with a prefix."""
    *fixed, prefix = arguments
    assert isinstance(prefix, Prefix)  # noqa: S101 - checked when the pattern was declared
    if template.bare:
        return KeyRange(name, "BEGINS_WITH", (prefix.text,))
    style = template.placeholders[len(fixed)].style
    text = template.prefix(fixed) + template.format.written(prefix.text if style is None else style.text(prefix.text))
    return KeyRange(name, "BEGINS_WITH", (text,))
