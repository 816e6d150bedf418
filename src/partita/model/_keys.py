"""Key templates: how an entity's fields become partition and sort keys, and what a query may ask of them.

A template is literal text with `{field}` placeholders, such as `STATUS#{status}#{task_id}`. Values are escaped
so that they can never contain the separator `#`, and are never empty; a placeholder is therefore always
closed by the separator that follows it, `MILESTONE#1` never reaches `MILESTONE#10`, and keys sort as
their parts do.

A value whose class has a method `__key__(self) -> str` says itself how it stands in a key, for
instance to sort by rank.

A template that is one bare placeholder, `{alpha2_code}`, stores the value itself, unescaped and with the
type of the key attribute: string, number or binary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Context, Decimal
from enum import Enum
from typing import Any, Final, Generic, TypeAlias, TypeVar
from uuid import UUID

from msgspec import Struct

from partita.errors import InvalidKey, ModelError
from partita.model._attributes import instant_text, to_attribute
from partita.values import number, number_text, text_size

SEPARATOR: Final = "#"
MAX_HASH_BYTES: Final = 2_048
MAX_RANGE_BYTES: Final = 1_024

MAX_CHARACTER_BYTES: Final = 4
_EXACT: Final = Context(prec=400)
_PLACEHOLDER: Final = re.compile(r"\{([^{}:]*)(?::([^{}]*))?\}")
_WIDTH: Final = re.compile(r"(\+?)0([1-9][0-9]?)(?:\.([1-9][0-9]?))?")

T = TypeVar("T")
V = TypeVar("V")


class Span(Struct, Generic[T], frozen=True):
    """A range of a key field: both ends included unless said otherwise; an open end is None."""

    low: T | None = None
    high: T | None = None
    include_low: bool = True
    include_high: bool = True

    # Static, so that type checkers take the type from the arguments.

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


class Width(Struct, frozen=True):
    """How a number is padded so that text order is number order: `{n:06}`, `{n:+06}`, `{price:09.2}`."""

    digits: int
    fraction: int = 0
    signed: bool = False

    @classmethod
    def parse(cls, spec: str, template: str) -> Width:
        """Read the part after the colon of a placeholder."""
        match = _WIDTH.fullmatch(spec)
        if match is None:
            raise ModelError(
                f"{template!r}: {spec!r} is not a width.",
                hint="Write {n:06}, {n:+06} if it may be negative, or {n:09.2}.",
            )
        sign, digits, fraction = match.groups()
        return cls(int(digits), int(fraction or 0), bool(sign))

    def text(self, value: int | Decimal) -> str:
        """The padded number; negative ones are complemented so that they sort before and in order."""
        scaled = int(Decimal(value).scaleb(self.fraction, _EXACT))
        if Decimal(scaled).scaleb(-self.fraction, _EXACT) != value:
            raise InvalidKey(f"{value} has more than {self.fraction} fraction digits.")
        digits = f"{abs(scaled):0{self.digits}d}"
        if len(digits) > self.digits:
            hint = "Widen the placeholder in the key template."
            raise InvalidKey(f"{value} does not fit {self.digits} digits.", hint=hint)
        if not self.signed:
            if value < 0:
                raise InvalidKey(f"{value} is negative.", hint="Write {n:+06} in the key template for a signed number.")
            return digits
        if value < 0:
            return "n" + "".join(str(9 - int(digit)) for digit in digits)
        return "p" + digits


class Placeholder(Struct, frozen=True):
    """A field in a template, and the literal text that follows it."""

    field: str
    width: Width | None
    tail: str


_TO_ESCAPE: Final = re.compile("[\\0-%]")
_ESCAPED: Final = {code: f"%{code:02X}" for code in range(ord("%") + 1)}


def escape(text: str) -> str:
    """The text without separators: every character up to `%` becomes its code, as `%23` for `#`.

    What is left sorts after the separator and the codes sort as their characters do, so that keys sort as their parts.
    """
    return text.translate(_ESCAPED) if _TO_ESCAPE.search(text) else text


def part_text(value: Any, width: Width | None = None) -> str:
    """A value as it stands between separators.

    Raises:
        InvalidKey: the value is empty or missing, or cannot stand in a key.
    """
    text = escape(value) if type(value) is str else writer_for(type(value))(value, width)
    if not text:
        raise InvalidKey("A key part is empty.", hint="Give the field a value, or None to leave an index.")
    return text


_WRITERS: Final[dict[type, Callable[[Any, Width | None], str]]] = {}


def writer_for(kind: type) -> Callable[[Any, Width | None], str]:
    """How values of that type are written into keys."""
    writer = _WRITERS.get(kind)
    if writer is None:
        writer = _WRITERS[kind] = _choose_writer(kind)
    return writer


def _choose_writer(kind: type) -> Callable[[Any, Width | None], str]:
    if hasattr(kind, "__key__"):
        return lambda value, _: escape(value.__key__())
    if issubclass(kind, Enum):
        return lambda value, width: part_text(value._value_, width)
    if issubclass(kind, int | Decimal) and kind is not bool:
        return lambda value, width: width.text(value) if width else number_text(number(value))
    if issubclass(kind, datetime):
        return lambda value, _: instant_text(value)
    if issubclass(kind, str | date | UUID):
        return lambda value, _: escape(str(value))
    return _refuse


def _refuse(value: Any, _: Width | None) -> str:
    raise InvalidKey(f"A value of type {type(value).__name__} cannot stand in a key: {value!r:.60}.")


def can_stand_in_key(kind: type) -> bool:
    """Whether values of that type can be parts of a key."""
    return writer_for(kind) is not _refuse


class Template:
    """One parsed template. Immutable after it was made."""

    __slots__ = ("_pattern", "bare", "fields", "head", "max_length", "placeholders", "text")

    def __init__(self, text: str, max_length: int | None = None) -> None:
        self.text = text
        self.max_length = max_length
        """How many characters the field of a bare template can have; None where it has no limit."""
        self.head, self.placeholders = _parse(text)
        self.fields = tuple(placeholder.field for placeholder in self.placeholders)
        self.bare = len(self.placeholders) == 1 and not self.head and not self.placeholders[0].tail
        after_head = "".join(f"([^#]+){re.escape(placeholder.tail)}" for placeholder in self.placeholders)
        self._pattern = re.compile(re.escape(self.head) + after_head, re.DOTALL)

    def __repr__(self) -> str:
        return f"Template({self.text!r})"

    def render(self, values: Sequence[Any]) -> Any:
        """The key for one value per placeholder; a bare template gives the value's own attribute form."""
        if self.bare:
            return bare_value(values[0])
        text = self.head
        for placeholder, value in zip(self.placeholders, values, strict=True):
            text += part_text(value, placeholder.width) + placeholder.tail
        return text

    def renderer(self, positions: Sequence[int]) -> Callable[[Sequence[Any]], Any]:
        """A function that renders the key from arguments of which these positions are its placeholders."""
        if self.bare:
            return lambda arguments: bare_value(arguments[positions[0]])
        head, must_escape = self.head, _TO_ESCAPE.search
        parts = [(position, each.width, each.tail) for position, each in zip(positions, self.placeholders, strict=True)]

        def render(arguments: Sequence[Any]) -> str:
            text = head
            for position, width, tail in parts:
                value = arguments[position]
                # Most values are plain text that needs no escaping: not worth two calls.
                if type(value) is str and value and not must_escape(value):
                    text += value + tail
                else:
                    text += part_text(value, width) + tail
            return text

        return render

    def prefix(self, values: Sequence[Any]) -> str:
        """The text that all keys share whose first placeholders have these values, closing separator included."""
        text = self.head
        for placeholder, value in zip(self.placeholders, values, strict=False):
            text += part_text(value, placeholder.width) + placeholder.tail
        return text

    def matches(self, key: Any) -> bool:
        """Whether the key could have been made by this template."""
        if self.bare:
            return self.max_length is None or (isinstance(key, str) and len(key) <= self.max_length)
        return isinstance(key, str) and self._pattern.fullmatch(key) is not None

    def texts(self, key: Any) -> dict[str, str]:
        """What a key that this template made says of each field, as text between separators; nothing of another key."""
        if self.bare:
            return {self.fields[0]: part_text(key)} if isinstance(key, str | int | Decimal) else {}
        match = self._pattern.fullmatch(key) if isinstance(key, str) else None
        return {} if match is None else dict(zip(self.fields, match.groups(), strict=True))

    def shared_with(self, others: Iterable[Template]) -> frozenset[str]:
        """The fields that stand in one of the others too, written alike."""
        return frozenset(
            mine.field
            for mine in self.placeholders
            for other in others
            for theirs in other.placeholders
            if (mine.field, mine.width) == (theirs.field, theirs.width)
        )

    def check(self, texts: Mapping[str, str]) -> Callable[[Any], bool]:
        """A function that says whether a key could have been made by this template with these texts of fields."""
        known = {field: text for field, text in texts.items() if field in self.fields}
        if not known:
            return self.matches
        whole = self.joined(known)
        if whole is None:
            return lambda key: self.matches(key) and known.items() <= self.texts(key).items()
        return lambda key: bool(key == whole)

    def joined(self, texts: Mapping[str, str]) -> str | None:
        """The key with these texts of fields; None where it has others too, or is a field's own value."""
        if self.bare or not texts.keys() >= set(self.fields):
            return None
        return self.head + "".join(texts[each.field] + each.tail for each in self.placeholders)

    @property
    def min_length(self) -> int:
        """The fewest characters of a key: the literals, and one for each placeholder."""
        return len(self.head) + sum(1 + len(placeholder.tail) for placeholder in self.placeholders)

    def overlaps(self, other: Template) -> bool:
        """Whether some key could have been made by both templates."""
        if self.bare and other.bare:
            return True
        if self.bare or other.bare:
            bare, composed = (self, other) if self.bare else (other, self)
            return bare.max_length is None or composed.min_length <= bare.max_length
        return _overlap(tuple(_symbols(self)), tuple(_symbols(other)))


def bare_value(value: Any) -> Any:
    """The attribute form of a key that is a field's own value."""
    if hasattr(value, "__key__"):
        value = value.__key__()
    attribute = to_attribute(value)
    if attribute in ("", b""):
        raise InvalidKey("A key is empty.", hint="Give the field a value, or None to leave an index.")
    return attribute


def check_key_size(key: Any, limit: int, attribute: str) -> None:
    """Refuse a key that DynamoDB would refuse for its size."""
    size = text_size(key) if isinstance(key, str) else len(key) if isinstance(key, bytes) else 0
    if size > limit:
        raise InvalidKey(f"The key {attribute} has {size} bytes; at most {limit} are allowed.")


def _parse(text: str) -> tuple[str, tuple[Placeholder, ...]]:
    pieces = _PLACEHOLDER.split(text)
    head, placeholders = pieces[0], []
    for name, spec, tail in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        if not name.isidentifier():
            raise ModelError(f"{text!r}: {name!r} is not a field name.")
        placeholders.append(Placeholder(name, Width.parse(spec, text) if spec is not None else None, tail))
    if any("{" in literal or "}" in literal for literal in pieces[::3]):
        raise ModelError(f"{text!r} has an unmatched brace.")
    if not text:
        raise ModelError("A key template is empty.")
    for placeholder in placeholders[:-1]:
        if not placeholder.tail.startswith(SEPARATOR):
            message = f"{text!r}: the placeholder {{{placeholder.field}}} is not closed by {SEPARATOR!r}."
            raise ModelError(message, hint="Put the separator between two placeholders, so that keys stay unambiguous.")
    if placeholders and placeholders[-1].tail and not placeholders[-1].tail.startswith(SEPARATOR):
        raise ModelError(f"{text!r}: the last placeholder must end the template or be closed by {SEPARATOR!r}.")
    return head, tuple(placeholders)


_ANY: Final = ""  # a symbol that stands for one or more characters other than the separator


def _symbols(template: Template) -> Iterator[str]:
    yield from template.head
    for placeholder in template.placeholders:
        yield _ANY
        yield from placeholder.tail


_State: TypeAlias = tuple[int, bool, int, bool]


def _overlap(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    # Walks both templates at once as two small automata; a state is a pair of positions and
    # whether each placeholder at hand has consumed a character already.
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
            waiting += _reading(state, left[i], right[j])
    return False


def _leaving(state: _State) -> Iterator[_State]:
    i, i_used, j, j_used = state
    if i_used:
        yield (i + 1, False, j, j_used)
    if j_used:
        yield (i, i_used, j + 1, False)


def _reading(state: _State, a: str, b: str) -> Iterator[_State]:
    i, _, j, _ = state
    if a is _ANY and b is _ANY:
        yield (i, True, j, True)
    elif a is _ANY:
        if b != SEPARATOR:
            yield (i, True, j + 1, False)
    elif b is _ANY:
        if a != SEPARATOR:
            yield (i + 1, False, j, True)
    elif a == b:
        yield (i + 1, False, j + 1, False)
