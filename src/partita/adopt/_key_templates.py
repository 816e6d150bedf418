"""Infer key templates from keys: which parts are literal text, which are field values, and in which form."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache, partial
from typing import Any, Final

from msgspec import Struct

from partita.adopt._names import are_related, field_name, unique
from partita.adopt._separators import is_constant, is_word
from partita.errors import OperationError
from partita.model import KeyFormat, Template

TIME_FORMS: Final = (
    "%Y-%m-%dT%H:%M:%S.%f+0000",  # PynamoDB
    "%Y-%m-%dT%H:%M:%S.%fZ",
    "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%dT%H:%M:%S+00:00",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%dT%H",
    "%Y%m%dT%H%M%SZ",
    "%Y%m%d",
    "%Y/%m/%d",
    "%Y-%m-%d",
    "%Y-%m",
    "%Y",
    "%d.%m.%Y",
)
"""Known date formats in keys, the longer ones first."""
_PREFIX: Final = re.compile(r".*[^A-Za-z0-9]", re.DOTALL)
_NEARLY_ALL: Final = 0.95
_MANY: Final = 3
_WIDE: Final = 9


class Source(Struct, frozen=True):
    """A field whose value may be part of a key: its name, and its value in each item."""

    field: str
    attribute: str
    values: Sequence[Any]


class KeyOnlyField(Struct, frozen=True):
    """A field that is stored only in a key."""

    name: str
    annotation: str
    values: Sequence[Any]


class Found(Struct, frozen=True):
    """A template, its fields, and which of these are new."""

    text: str
    fields: tuple[str, ...]
    new: tuple[KeyOnlyField, ...] = ()


class Part(Struct, frozen=True):
    """A part of a template: literal text, optionally followed by a field in some form."""

    prefix: str
    field: str = ""
    style: str = ""
    likelihood: tuple[int, ...] = ()
    new: KeyOnlyField | None = None

    @property
    def text(self) -> str:
        """The part in template syntax."""
        if not self.field:
            return self.prefix
        return f"{self.prefix}{{{self.field}{':' if self.style else ''}{self.style}}}"


class Column(Struct, frozen=True):
    """One part of a key, for all items of an entity, and the literal text of the preceding part."""

    texts: Sequence[str]
    before: str
    is_first: bool
    is_alone: bool

    @property
    def is_same(self) -> bool:
        """Whether all items have the same text in this part."""
        return len(set(self.texts)) == 1

    @property
    def is_literal(self) -> bool:
        """Whether the text is literal text of the template, judged without looking at the fields.

        A value that was mistaken for literal text would hide items, so in doubt the text counts as a value.
        """
        text = self.texts[0]
        if not self.is_same:
            return False
        if not text or (is_constant(text) and len(text) > 1):
            return True
        if self.is_first and not self.is_alone:
            return is_word(text)
        return is_word(text) and len(self.texts) >= _MANY and self.is_alone


class Finder(Struct, frozen=True):
    """Finds templates of one entity's keys."""

    format: KeyFormat
    sources: Sequence[Source]
    lower: bool = False
    """Whether text is lower case by default, as ElectroDB writes it."""

    def template(self, keys: Sequence[str], taken: Sequence[str], *, may_add: bool, exact: bool) -> Found | None:
        """Return the template that produces these keys; None if there is none.

        Args:
            keys: the keys, one for each value of the sources.
            taken: names that a new field cannot have.
            may_add: whether a part that equals no field may become a field that is stored only in the key.
            exact: whether the fields must produce every key; else nearly all are enough.
        """
        rows = [key.split(self.format.separator) for key in keys]
        if len({len(row) for row in rows}) != 1 or any("{" in key or "}" in key for key in keys):
            return None
        parts: list[Part] = []
        for texts in zip(*rows, strict=True):
            before = parts[-1].prefix if parts and not parts[-1].field else ""
            column = Column(texts, before, is_first=not parts, is_alone=len(rows[0]) == 1)
            part = self._part(column, parts, taken, may_add=may_add, exact=exact)
            if part is None:
                return None
            parts.append(part)
        fields = dict.fromkeys(part.field for part in parts if part.field)
        new = tuple(part.new for part in parts if part.new is not None)
        return Found(self.format.separator.join(part.text for part in parts), tuple(fields), new)

    def _part(
        self, column: Column, before: Sequence[Part], taken: Sequence[str], *, may_add: bool, exact: bool
    ) -> Part | None:
        """Return what a column is: literal text, a field or a new field; None if a template cannot express it."""
        if column.is_literal:
            return Part(column.texts[0])
        new = [part.new for part in before if part.new is not None]
        sources = (*self.sources, *(Source(each.name, each.name, each.values) for each in new))
        matches = [found for source in sources for found in self._matches(column, source, exact=exact)]
        if matches or not may_add:
            return max(matches, key=lambda each: each.likelihood, default=None)
        return _key_only(column, (*taken, *(part.field for part in before)), self.format)

    def _matches(self, column: Column, source: Source, *, exact: bool) -> Iterator[Part]:
        """Yield each form in which a field's values occur in a column, after the same prefix in every key."""
        enough = len(column.texts) * (1 if exact else _NEARLY_ALL)
        for style in _styles(column.texts, source.values):
            write = _writer(style, self.format)
            found = map(partial(_prefix_of, write=write), column.texts, source.values)
            (prefix, count), *_ = (*Counter(each for each in found if each is not None).most_common(1), ("", 0))
            if count and count >= enough:
                yield Part(prefix, source.field, style, self._likelihood(column, source, prefix, style))

    def _likelihood(self, column: Column, source: Source, prefix: str, style: str) -> tuple[int, ...]:
        is_related = are_related(prefix or column.before, source.attribute)
        is_lower = self.lower and style == "lower"
        return (is_related, is_lower, style == "", style not in ("d", "upper"), source.attribute.lower().endswith("id"))


def _styles(texts: Sequence[str], values: Sequence[Any]) -> Iterator[str]:
    """Yield the forms in which values of that type may occur in these texts."""
    value = next((each for each in values if each is not None), None)
    if isinstance(value, str):
        yield from ("", "lower", "upper")
    elif isinstance(value, datetime):
        yield from ("", *TIME_FORMS, "epoch", "epoch_ms")
    elif isinstance(value, date):
        yield from ("", *(form for form in TIME_FORMS if "%H" not in form))
    elif isinstance(value, int | Decimal) and not isinstance(value, bool):
        digits = [re.search("[0-9]*$", text) for text in texts]
        widths = {len(each[0]) for each in digits if each}
        is_padded = any(each and each[0].startswith("0") and len(each[0]) > 1 for each in digits)
        if len(widths) == 1 and isinstance(value, int) and (is_padded or widths > {_WIDE}):
            yield f"0{widths.pop()}"
        yield "d"


@cache
def _writer(style: str, key_format: KeyFormat) -> Callable[[Any], str | None]:
    """Return a function that writes a value in that form for a key, or returns None if the value is not allowed."""
    template = Template(f"{{v:{style}}}" if style else "-{v}", format=key_format)

    def write(value: Any) -> str | None:
        try:
            return None if value is None else template.prefix([value]).removeprefix("" if style else "-")
        except (OperationError, ArithmeticError, ValueError):
            return None

    return write


def _prefix_of(text: str, value: Any, write: Callable[[Any], str | None]) -> str | None:
    """Return the literal text before a value in a part of a key; None if the part does not end with the value."""
    written = write(value)
    if not written or not text.endswith(written):
        return None
    prefix = text.removesuffix(written)
    return prefix if not prefix or _PREFIX.fullmatch(prefix) else None


def time_form(texts: Sequence[str], key_format: KeyFormat) -> str | None:
    """Return the time format that all texts have, and in which they are written back; None if there is none."""
    forms = (form for form in TIME_FORMS if "%M" in form)
    return next((form for form in forms if all(_has_form(text, form, key_format) for text in texts)), None)


def read_time(text: str, form: str) -> datetime:
    """Parse the instant in a text of that form.

    Raises:
        ValueError: the text has another form.
    """
    return datetime.strptime(text, form).replace(tzinfo=UTC)


def _has_form(text: str, form: str, key_format: KeyFormat) -> bool:
    try:
        return _writer(form, key_format)(read_time(text, form)) == text
    except ValueError:
        return False


def _key_only(column: Column, taken: Sequence[str], key_format: KeyFormat) -> Part | None:
    """Return a part that equals no field as a new field; None if the part is empty in some key."""
    prefix = _common_prefix(column.texts)
    texts = [text.removeprefix(prefix) for text in column.texts]
    if not all(texts):
        return None
    form = time_form(texts, key_format)
    if form is None:
        field = KeyOnlyField(unique(_identifier(column, prefix), taken), "str", texts)
    else:
        instants = [read_time(text, form) for text in texts]
        field = KeyOnlyField(unique(_time_identifier(column, prefix), taken), "datetime", instants)
    return Part(prefix, field.name, form or "", new=field)


def _subject(column: Column, prefix: str) -> str:
    """Return the subject of a part, from the literal text before it."""
    text = prefix or column.before
    return field_name(text) if re.search("[A-Za-z]", text) else ""


def _identifier(column: Column, prefix: str) -> str:
    subject = _subject(column, prefix)
    if prefix or not subject or subject.endswith("id"):
        return subject or "part"
    return f"{subject}_id"


def _time_identifier(column: Column, prefix: str) -> str:
    subject = _subject(column, prefix)
    return subject if subject.endswith("at") else f"{subject}_at".lstrip("_")


def _common_prefix(texts: Sequence[str]) -> str:
    """Return the common prefix of all texts, up to a delimiter that can end a name before a value: `team_`."""
    if len(set(texts)) == 1:
        return ""
    first, last = min(texts), max(texts)
    length = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    found = re.match(r"[A-Za-z][A-Za-z_]*[_=:@.-]", first[:length])
    return found[0] if found else ""
