"""Values as parts of keys, and their formats: `{n:06}`, `{email:lower}`, `{at:%Y-%m-%d}`.

| after the colon | for | in the key | sorts like the values |
| --- | --- | --- | --- |
| `06`, `+06`, `09.2` | numbers | padded with zeros; with `+`, also negative ones | yes |
| `-06`, `-+06`, `-09.2` | numbers | the same, complemented: `{score:-06}` of 17 is `999982` | in descending order |
| `d` | numbers | unpadded: `7`, `12` | no |
| `lower`, `upper` | text | in lower or upper case | like that text |
| `%Y-%m-%d` and similar | dates | with `strftime` codes, in UTC | if larger units come first |
| `epoch`, `epoch_ms` | instants | seconds or milliseconds since 1970, with 10 or 13 digits | yes |
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal
from enum import Enum
from typing import Any, Final, TypeAlias
from uuid import UUID

from msgspec import Struct

from partita.errors import InvalidKey, ModelError
from partita.model._attributes import instant_text, to_attribute
from partita.model.keys._format import DEFAULT_FORMAT, KeyFormat
from partita.values import number, number_text

_EXACT: Final = Context(prec=400)
_WIDTH: Final = re.compile(r"(-?)(\+?)0([1-9][0-9]?)(?:\.([1-9][0-9]?))?")
_CODES: Final = re.compile("%(.)")
_LARGE_TO_SMALL: Final = "YmdHMSf"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS: Final = {"epoch": (timedelta(seconds=1), 10), "epoch_ms": (timedelta(milliseconds=1), 13)}


class Width(Struct, frozen=True):
    """How a number is padded so that text order is number order: `{n:06}`, `{n:+06}`, `{price:09.2}`.

    With a minus sign, `{score:-06}`, the greatest number comes first.
    """

    digits: int
    fraction: int = 0
    signed: bool = False
    descends: bool = False

    sorts = True
    is_fixed = True

    def fits(self, kind: type) -> bool:
        """Whether values of a type can be written so."""
        return is_number(kind)

    def text(self, value: int | Decimal) -> str:
        """Return the padded number; negative numbers are complemented, so that they sort first and in order."""
        if isinstance(value, str):
            raise InvalidKey(f"{value!r:.60} is text, and the key contains a number.", hint="Pass the number.")
        exact = Decimal(value)
        # Checked before the number is written out in full, which is slow for a large exponent.
        if not exact.is_finite() or (exact and exact.adjusted() >= self.digits):
            raise self._too_wide(exact)
        scaled = int(exact.scaleb(self.fraction, _EXACT))
        if Decimal(scaled).scaleb(-self.fraction, _EXACT) != value:
            raise InvalidKey(f"{value} has more than {self.fraction} fraction digits.")
        digits = f"{abs(scaled):0{self.digits}d}"
        if len(digits) > self.digits:
            raise self._too_wide(exact)
        if not self.signed:
            if value < 0:
                raise InvalidKey(f"{value} is negative.", hint="Write {n:+06} in the key template for a signed number.")
            return _complement(digits) if self.descends else digits
        # In descending order, a number takes the place of its negation; zero has none.
        is_low = value > 0 if self.descends else value < 0
        return "n" + _complement(digits) if is_low else "p" + digits

    def value(self, text: str) -> int | Decimal:
        """Return the number that was written as this text.

        Raises:
            ValueError: the text is not such a number.
        """
        try:
            if self.descends and not self.signed:
                digits = _complement(text)
            else:
                digits = "-" + _complement(text[1:]) if self.signed and text.startswith("n") else text.removeprefix("p")
            value = int(digits) if not self.fraction else Decimal(digits).scaleb(-self.fraction, _EXACT)
        except ArithmeticError:
            raise _unreadable(text, "a number") from None
        return -value if self.descends and self.signed else value

    def _too_wide(self, value: Decimal) -> InvalidKey:
        hint = "Widen the placeholder in the key template."
        return InvalidKey(f"{value!s:.60} does not fit into {self.digits} digits.", hint=hint)


def _unreadable(text: str, what: str) -> ValueError:
    return ValueError(f"{text!r:.60} is not {what}.")


def _complement(digits: str) -> str:
    return "".join(str(9 - int(digit)) for digit in digits)


class Plain(Struct, frozen=True):
    """An unpadded number, which does not sort in numeric order: `{n:d}`."""

    sorts = False
    is_fixed = False
    descends = False

    def fits(self, kind: type) -> bool:
        """Whether values of a type can be written so."""
        return is_number(kind)

    def text(self, value: int | Decimal) -> str:
        """Return the number in DynamoDB's notation."""
        return number_text(number(value))

    def value(self, text: str) -> Decimal:
        """Return the number that was written as this text.

        Raises:
            ValueError: the text is not a number.
        """
        try:
            return Decimal(text)
        except ArithmeticError:
            raise _unreadable(text, "a number") from None


class Case(Struct, frozen=True):
    """Text in one case: `{email:lower}`."""

    upper: bool

    sorts = True
    is_fixed = False
    descends = False

    def fits(self, kind: type) -> bool:
        """Whether values of a type can be written so."""
        return issubclass(kind, str | UUID) or (issubclass(kind, Enum) and not is_number(kind))

    def text(self, value: Any) -> str:
        """Return the text in that case."""
        return str(value).upper() if self.upper else str(value).lower()

    def value(self, text: str) -> str:
        """Return the text itself: its original case is not known."""
        return text


class TimeFormat(Struct, frozen=True):
    """A date, or an instant in UTC, formatted with `strftime` codes: `{at:%Y-%m-%dT%H:%M:%SZ}`."""

    codes: str

    is_fixed = True
    descends = False

    @property
    def sorts(self) -> bool:
        """Whether text order is time order: larger units come before smaller ones, from the year on."""
        used = "".join(_CODES.findall(self.codes))
        return bool(used) and _LARGE_TO_SMALL.startswith(used)

    def fits(self, kind: type) -> bool:
        """Whether values of a type can be written so."""
        return issubclass(kind, date)

    def text(self, value: date) -> str:
        """Return the formatted date."""
        if isinstance(value, datetime):
            instant_text(value)  # raises if it has no time zone
            value = value.astimezone(UTC)
        return f"{value.year:04}".join(value.strftime(part) for part in self.codes.split("%Y"))

    def value(self, text: str) -> datetime:
        """Return the instant that was written as this text.

        Raises:
            ValueError: the text does not have this format.
        """
        try:
            return datetime.strptime(text, self.codes).replace(tzinfo=UTC)
        except re.error:  # a code occurs twice, which can be written but not read
            raise _unreadable(text, self.codes) from None


class Epoch(Struct, frozen=True):
    """An instant as a number of seconds or milliseconds since 1970: `{at:epoch}`, `{at:epoch_ms}`."""

    unit: str

    sorts = True
    is_fixed = True
    descends = False

    def fits(self, kind: type) -> bool:
        """Whether values of a type can be written so."""
        return issubclass(kind, datetime)

    def text(self, value: datetime) -> str:
        """Return the number.

        Raises:
            InvalidKey: it has more or fewer digits than current times, so it would not sort.
        """
        instant_text(value)  # raises if it has no time zone
        unit, digits = _UNITS[self.unit]
        text = str((value - _EPOCH) // unit)
        if len(text) != digits:
            raise InvalidKey(f"{value} is not an instant whose {self.unit} has {digits} digits.")
        return text

    def value(self, text: str) -> datetime:
        """Return the instant that was written as this text.

        Raises:
            ValueError: the text is not an instant.
        """
        try:
            return _EPOCH + int(text) * _UNITS[self.unit][0]
        except OverflowError:
            raise _unreadable(text, "an instant") from None


Style: TypeAlias = Width | Plain | Case | TimeFormat | Epoch


def parse_style(spec: str, template: str) -> Style:
    """Parse the part of a placeholder after the colon.

    Raises:
        ModelError: it is not a known format.
    """
    if spec in ("lower", "upper"):
        return Case(upper=spec == "upper")
    if spec in _UNITS:
        return Epoch(spec)
    if spec == "d":
        return Plain()
    if spec.startswith("%"):
        return TimeFormat(spec)
    match = _WIDTH.fullmatch(spec)
    if match is None:
        hint = "Write {n:06}, {n:+06} (signed), {n:-06} (descending), {n:09.2}, {n:d}, {name:lower}, {at:%Y-%m-%d}."
        raise ModelError(f"{template!r}: {spec!r} is not a format for a value in a key.", hint=hint)
    minus, sign, digits, fraction = match.groups()
    return Width(int(digits), int(fraction or 0), bool(sign), bool(minus))


def is_number(kind: type) -> bool:
    """Whether values of a type are written into keys as numbers."""
    if hasattr(kind, "__key__"):
        return False
    if issubclass(kind, Enum):
        return any(isinstance(member.value, int | Decimal) for member in kind)
    return issubclass(kind, int | Decimal) and kind is not bool


def part_text(value: Any, style: Style | None = None, format: KeyFormat = DEFAULT_FORMAT) -> str:  # noqa: A002
    """Return a value as it is written between separators.

    Raises:
        InvalidKey: the value is empty or missing, or cannot be part of a key.
    """
    text = format.written(value if type(value) is str and style is None else plain_text(value, style))
    if not text:
        raise InvalidKey("A key part is empty.", hint="Set a value, or None to keep the item out of the index.")
    return text


def plain_text(value: Any, style: Style | None) -> str:
    """Return a value as text, not yet escaped."""
    return writer_for(type(value))(value, style)


_WRITERS: Final[dict[type, Callable[[Any, Style | None], str]]] = {}


def writer_for(kind: type) -> Callable[[Any, Any], str]:
    """Return the function that writes values of a type into keys."""
    writer = _WRITERS.get(kind)
    if writer is None:
        writer = _WRITERS[kind] = _choose_writer(kind)
    return writer


def _choose_writer(kind: type) -> Callable[[Any, Any], str]:
    if hasattr(kind, "__key__"):
        return lambda value, style: style.text(value.__key__()) if style else value.__key__()
    if issubclass(kind, Enum):
        return lambda value, style: plain_text(value._value_, style)
    if issubclass(kind, int | Decimal) and kind is not bool:
        return lambda value, style: style.text(value) if style else number_text(number(value))
    if issubclass(kind, datetime):
        return lambda value, style: style.text(value) if style else instant_text(value)
    if issubclass(kind, str | date | UUID):
        return lambda value, style: style.text(value) if style else str(value)
    return _refuse


def _refuse(value: Any, _: Style | None) -> str:
    hint = (
        "Pass text, a whole number, a Decimal, a date, an aware datetime, a UUID or an enum, as the field declares it."
    )
    raise InvalidKey(f"A value of type {type(value).__name__} cannot be part of a key: {value!r:.60}.", hint=hint)


def can_stand_in_key(kind: type) -> bool:
    """Whether values of a type can be parts of a key."""
    return writer_for(kind) is not _refuse


def bare_value(value: Any) -> Any:
    """Return the attribute value of a key that consists of a field's own value."""
    if hasattr(value, "__key__"):
        value = value.__key__()
    attribute = to_attribute(value)
    if isinstance(attribute, str | bytes) and not attribute:
        raise InvalidKey("A key is empty.", hint="Set a value, or None to keep the item out of the index.")
    return attribute
