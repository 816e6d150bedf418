"""Key templates: how an entity's fields become partition and sort keys, and which queries these support.

A template is literal text with `{field}` placeholders, such as `STATUS#{status}#{task_id}`. Values are escaped
so that they can never contain the separator `#`, and are never empty. A placeholder is therefore always
closed by the separator that follows it, `MILESTONE#1` never matches `MILESTONE#10`, and keys sort like
their parts. A table can use another separator, and unescaped values (`KeyFormat`); a value that contains
the separator is then rejected.

A class can define how its values are written into keys with a method `__key__(self) -> str`, for
example to sort by rank.

A template that is one bare placeholder, `{alpha2_code}`, stores the value itself, unescaped and with the
type of the key attribute: string, number or binary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Final, Generic, TypeAlias, TypeVar

from msgspec import Struct
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from partita.errors import InvalidKey, ModelError
from partita.model._attributes import instant_text
from partita.model.keys._annotations import kinds_of
from partita.model.keys._format import DEFAULT_FORMAT, KeyFormat
from partita.model.keys._parts import Style, bare_value, parse_style, part_text, plain_text
from partita.values import text_size

MAX_HASH_BYTES: Final = 2_048
MAX_RANGE_BYTES: Final = 1_024

MAX_CHARACTER_BYTES: Final = 4
_INSTANT: Final = instant_text(datetime(2000, 1, 1, tzinfo=UTC))
"""An example of an instant's text: all instants use the same set of characters."""
_PLACEHOLDER: Final = re.compile(r"\{([^{}:]*)(?::([^{}]*))?\}")

T = TypeVar("T")
V = TypeVar("V")


class Span(Struct, Generic[T], frozen=True):
    """A range of a key field. Both ends are included by default; an open end is None."""

    low: T | None = None
    high: T | None = None
    include_low: bool = True
    include_high: bool = True

    # Static methods, so that type checkers infer the type from the arguments.

    @staticmethod
    def between(low: V, high: V) -> Span[V]:
        """From `low` to `high`, both included."""
        return Span(low, high)

    @staticmethod
    def since(low: V) -> Span[V]:
        """`low` and later."""
        return Span(low)

    @staticmethod
    def until(high: V) -> Span[V]:
        """`high` and earlier."""
        return Span(None, high)

    @staticmethod
    def after(low: V) -> Span[V]:
        """Later than `low`."""
        return Span(low, include_low=False)

    @staticmethod
    def before(high: V) -> Span[V]:
        """Earlier than `high`."""
        return Span(None, high, include_high=False)


class Prefix(Struct, Generic[T], frozen=True):
    """The beginning of a text field in a key."""

    text: T


class Placeholder(Struct, frozen=True):
    """A field in a template, the format of its value, and the literal text that follows it."""

    field: str
    style: Style | None
    tail: str


KeyPart: TypeAlias = tuple[str, Style | None]
"""A field and its format in a key: two keys with the same part contain the same text for it."""


class Template:
    """One parsed template. Immutable after construction."""

    __slots__ = (
        "_parts",
        "_pattern",
        "bare",
        "fields",
        "format",
        "head",
        "max_length",
        "parts",
        "placeholders",
        "text",
    )

    def __init__(
        self,
        text: str,
        max_length: int | None = None,
        format: KeyFormat = DEFAULT_FORMAT,  # noqa: A002 - the word for it
    ) -> None:
        self.text = text
        self.max_length = max_length
        """The maximum length of a bare template's field in characters; None if it has no limit."""
        self.format = format
        self.head, self.placeholders = _parse(text, format.separator)
        self.fields = tuple(placeholder.field for placeholder in self.placeholders)
        self.parts: tuple[KeyPart, ...] = tuple((each.field, each.style) for each in self.placeholders)
        self.bare = text == f"{{{self.fields[0]}}}" if self.fields else False
        self._pattern = re.compile(self._expression(format.part), re.DOTALL)
        self._parts: re.Pattern[str] | None = None

    def _expression(self, part: str) -> str:
        return re.escape(self.head) + "".join(part + re.escape(each.tail) for each in self.placeholders)

    def __repr__(self) -> str:
        return f"Template({self.text!r})"

    @property
    def shape(self) -> tuple[Any, ...]:
        """The template without the names of its fields."""
        return self.bare, self.head, *((each.style, each.tail) for each in self.placeholders)

    def render(self, values: Sequence[Any]) -> Any:
        """Return the key for one value per placeholder; for a bare template, the attribute value of the field."""
        return bare_value(values[0]) if self.bare else self.prefix(values)

    def renderer(self, positions: Sequence[int]) -> Callable[[Sequence[Any]], Any]:
        """Return a function that renders the key from arguments, with its placeholders at these positions."""
        if self.bare:
            return lambda arguments: bare_value(arguments[positions[0]])
        head, format, is_special = self.head, self.format, self.format.special.search  # noqa: A001
        parts = [(position, each.style, each.tail) for position, each in zip(positions, self.placeholders, strict=True)]
        if len(parts) == 1 and parts[0][1:] == (None, ""):
            (first,) = positions

            def render_one(arguments: Sequence[Any]) -> str:
                value = arguments[first]
                if type(value) is str and value and not is_special(value):
                    return head + value
                return head + part_text(value, None, format)

            return render_one

        stands = not is_special(_INSTANT)

        def render(arguments: Sequence[Any]) -> str:
            text = head
            for position, style, tail in parts:
                value = arguments[position]
                # Most values are plain text that needs no escaping, so the common case avoids two calls.
                if type(value) is str and style is None and value and not is_special(value):
                    text += value + tail
                elif type(value) is datetime and style is None and stands:
                    text += instant_text(value) + tail
                else:
                    text += part_text(value, style, format) + tail
            return text

        return render

    def prefix(self, values: Sequence[Any]) -> str:
        """Return the common prefix of all keys whose first placeholders have these values, with closing separator."""
        text = self.head
        for placeholder, value in zip(self.placeholders, values, strict=False):
            text += part_text(value, placeholder.style, self.format) + placeholder.tail
        return text

    def matches(self, key: Any) -> bool:
        """Whether this template could have produced the key."""
        if self.bare:
            return self.max_length is None or (isinstance(key, str) and len(key) <= self.max_length)
        return isinstance(key, str) and self._pattern.fullmatch(key) is not None

    def values(self, key: Any) -> dict[str, Any]:
        """Return the values of the fields in a key, as far as they can be read; as text if the type is not known here.

        Raises:
            ValueError: this template did not produce the key.
        """
        if self.bare:
            return {self.fields[0]: key}
        written = self._texts_in(key)
        if written is None:
            raise ValueError(f"{key!r} is not of the form {self.text!r}.")
        texts = [self.format.read(text) for text in written]
        return {
            each.field: text if each.style is None else each.style.value(text)
            for each, text in zip(self.placeholders, texts, strict=True)
        }

    def _texts_in(self, key: str) -> Sequence[str] | None:
        """Return the texts between the literals of a key; None if this template did not produce the key."""
        if self._parts is None:
            self._parts = re.compile(self._expression(f"({self.format.part})"), re.DOTALL)
        found = self._parts.fullmatch(key)
        return None if found is None else found.groups()

    def texts(self, key: Any) -> dict[KeyPart, str]:
        """Return the text for each part of the template in a key; empty if this template did not produce the key."""
        if self.bare:
            return {self.parts[0]: _text_of(key, self.format)} if isinstance(key, str | int | Decimal) else {}
        texts = self._texts_in(key) if isinstance(key, str) else None
        return {} if texts is None else dict(zip(self.parts, texts, strict=True))

    def matcher(self, texts: Mapping[KeyPart, str]) -> Callable[[Any], bool]:
        """Return a test whether this template could have produced a key with these texts in its parts."""
        known = {part: texts[part] for part in self.parts if part in texts}
        if not known:
            return self.matches
        whole = self.joined(known)
        if whole is None:
            return lambda key: self.matches(key) and known.items() <= self.texts(key).items()
        return lambda key: bool(key == whole)

    def joined(self, texts: Mapping[KeyPart, str]) -> str | None:
        """Return the key with these texts in its parts; None if it has further parts, or is a field's own value."""
        if self.bare or not all(part in texts for part in self.parts):
            return None
        tails = (placeholder.tail for placeholder in self.placeholders)
        return self.head + "".join(texts[part] + tail for part, tail in zip(self.parts, tails, strict=True))

    @property
    def min_length(self) -> int:
        """The minimum length of a key: the literals, plus one character per placeholder."""
        return len(self.head) + sum(1 + len(placeholder.tail) for placeholder in self.placeholders)

    def overlaps(self, other: Template) -> bool:
        """Whether both templates, which belong to one table, could have produced the same key."""
        if self.bare and other.bare:
            return True
        if self.bare or other.bare:
            bare, composed = (self, other) if self.bare else (other, self)
            return bare.max_length is None or composed.min_length <= bare.max_length
        return _Automata(self.format.separator).overlap(tuple(_symbols(self)), tuple(_symbols(other)))


def bound_template(text: str, model: type[BaseModel], format: KeyFormat) -> Template:  # noqa: A002 - the word for it
    """Parse a template; a bare one gets the maximum length of its field."""
    template = Template(text, format=format)
    field = model.model_fields.get(template.fields[0]) if template.bare else None
    return template if field is None else Template(text, _max_length(field), format)


def _max_length(field: FieldInfo) -> int | None:
    (kind, *_) = kinds_of(field.annotation)
    if not isinstance(kind, type):
        return None
    if issubclass(kind, date):
        return len(instant_text(datetime.min.replace(tzinfo=UTC))) if issubclass(kind, datetime) else len("0000-00-00")
    limits = [constraint.max_length for constraint in field.metadata if hasattr(constraint, "max_length")]
    return min(limits) if limits and issubclass(kind, str) else None


def _text_of(value: str | int | Decimal, format: KeyFormat) -> str:  # noqa: A002
    """Return a field's own value as it would be written between separators."""
    return part_text(value, None, format) if format.values == "escaped" else plain_text(value, None)


def check_key_size(key: Any, limit: int, attribute: str) -> None:
    """Raise InvalidKey if a key exceeds DynamoDB's size limit."""
    size = text_size(key) if isinstance(key, str) else len(key) if isinstance(key, bytes) else 0
    if size > limit:
        raise InvalidKey(f"The key {attribute} has {size} bytes; at most {limit} are allowed.")


def _parse(text: str, separator: str) -> tuple[str, tuple[Placeholder, ...]]:
    pieces = _PLACEHOLDER.split(text)
    head, placeholders = pieces[0], []
    for name, spec, tail in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        if not name.isidentifier():
            raise ModelError(f"{text!r}: {name!r} is not a field name.")
        placeholders.append(Placeholder(name, None if spec is None else parse_style(spec, text), tail))
    if any("{" in literal or "}" in literal for literal in pieces[::3]):
        raise ModelError(f"{text!r} has an unmatched brace.")
    if not text:
        raise ModelError("A key template is empty.")
    for placeholder in placeholders[:-1]:
        if not placeholder.tail.startswith(separator):
            message = f"{text!r}: the placeholder {{{placeholder.field}}} is not followed by {separator!r}."
            hint = "Put it between placeholders, so that keys are unambiguous. KeyFormat sets another separator."
            raise ModelError(message, hint=hint)
    if placeholders and placeholders[-1].tail and not placeholders[-1].tail.startswith(separator):
        raise ModelError(f"{text!r}: the last placeholder must end the template or be followed by {separator!r}.")
    return head, tuple(placeholders)


_ANY: Final = ""  # a symbol for one or more characters other than the separator


def _symbols(template: Template) -> Iterator[str]:
    yield from _letters(template.head, template.format.separator)
    for placeholder in template.placeholders:
        yield _ANY
        yield from _letters(placeholder.tail, template.format.separator)


def _letters(literal: str, separator: str) -> Iterator[str]:
    """Yield the characters of a literal; the separator counts as one character, even if it is longer."""
    first, *others = literal.split(separator)
    yield from first
    for other in others:
        yield separator
        yield from other


_State: TypeAlias = tuple[int, bool, int, bool]


class _Automata(Struct, frozen=True):
    """Simulates two templates in parallel, as two small automata.

    A state consists of two positions and whether each current placeholder has already consumed a character.
    """

    separator: str

    def overlap(self, left: tuple[str, ...], right: tuple[str, ...]) -> bool:
        """Whether some text is accepted by both."""
        seen: set[_State] = set()
        waiting: list[_State] = [(0, False, 0, False)]
        while waiting:
            state = waiting.pop()
            if state in seen:
                continue
            seen.add(state)
            i, _, j, _ = state
            if i == len(left) and j == len(right):
                return True
            waiting += _leaving(state)
            if i < len(left) and j < len(right):
                waiting += self._reading(state, left[i], right[j])
        return False

    def _reading(self, state: _State, a: str, b: str) -> Iterator[_State]:
        i, _, j, _ = state
        if a is _ANY and b is _ANY:
            yield (i, True, j, True)
        elif a is _ANY:
            if b != self.separator:
                yield (i, True, j + 1, False)
        elif b is _ANY:
            if a != self.separator:
                yield (i + 1, False, j, True)
        elif a == b:
            yield (i + 1, False, j + 1, False)


def _leaving(state: _State) -> Iterator[_State]:
    i, i_used, j, j_used = state
    if i_used:
        yield (i + 1, False, j, j_used)
    if j_used:
        yield (i, i_used, j + 1, False)
