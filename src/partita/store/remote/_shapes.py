"""The common shape of the items of a page, and a decoder that is generated for it.

The general decoder decodes an attribute value into one slot per type tag, and then checks which slot is set. If it is
known that `title` is a string and `priority` a number, each is decoded into one slot of that type, and one expression
builds the item from them. A page that does not have exactly this shape is rejected; nothing is dropped or guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from msgspec import UNSET, Struct, UnsetType, defstruct
from msgspec.json import Decoder

from partita.store._received import NonEmptyTexts, TaggedItem, TaggedValue, plain_value, received_number
from partita.store.remote._responses import PageOutput
from partita.values import MAX_DIGITS, Item

MAX_ATTRIBUTES: Final = 64
"""The maximum number of attributes of an item and its maps; a decoder for more would have to look for too many."""
MAX_DEPTH: Final = 4
"""Maps that are nested deeper use the general decoder."""


class Text(Struct, gc=False, forbid_unknown_fields=True):
    """A string with its tag, and nothing else."""

    S: str


class Number(Struct, gc=False, forbid_unknown_fields=True):
    """A number with its tag."""

    N: str


class Truth(Struct, gc=False, forbid_unknown_fields=True):
    """A boolean with its tag."""

    BOOL: bool


class Texts(Struct, gc=False, forbid_unknown_fields=True):
    """A set of strings with its tag."""

    SS: NonEmptyTexts


class Shape(Struct, frozen=True):
    """The attributes of items, or of a map in each of them."""

    attributes: tuple[Attribute, ...]


class Attribute(Struct, frozen=True):
    """An attribute and the form of its values."""

    name: str
    form: Form
    always: bool = True
    """Whether all items have it."""


Page: TypeAlias = tuple[PageOutput[Any], list[Item]]
"""A decoded response, and its items without tags."""

Form: TypeAlias = Shape | str
"""The shape of maps that all have the same names, or the type tag of all values; empty if they differ."""

_TYPES: Final[dict[str, type[Struct]]] = {"S": Text, "N": Number, "BOOL": Truth, "SS": Texts}
"""The types of values with special slots; others use the general decoder."""


def shape_of(items: Sequence[TaggedItem], depth: int = 0) -> Shape:
    """The common shape of items, or of maps at a depth."""
    values: dict[str, list[TaggedValue]] = {}
    for item in items:
        for name, value in item.items():
            values.setdefault(name, []).append(value)
    return Shape(tuple(Attribute(name, _form(of, depth), len(of) == len(items)) for name, of in values.items()))


def _form(values: list[TaggedValue], depth: int) -> Form:
    tags = {tag for value in values for tag in TaggedValue.__struct_fields__ if getattr(value, tag) is not UNSET}
    if tags == {"M"} and depth < MAX_DEPTH:
        inner = shape_of([value.M for value in values if value.M is not UNSET], depth + 1)
        return inner if inner.attributes and all(each.always for each in inner.attributes) else ""
    return tags.pop() if len(tags) == 1 else ""


def widened(one: Shape, other: Shape) -> Shape:
    """The common shape of items of both shapes."""
    ours, theirs = ({each.name: each for each in shape.attributes} for shape in (one, other))
    return Shape(tuple(_both(name, ours.get(name), theirs.get(name)) for name in ours | theirs))


def _both(name: str, one: Attribute | None, other: Attribute | None) -> Attribute:
    if one is None or other is None:
        known = one or other
        assert known is not None  # noqa: S101 - one of them has the name
        return Attribute(name, known.form, always=False)
    return Attribute(name, one.form if one.form == other.form else "", one.always and other.always)


def decoder_for(shape: Shape) -> Callable[[Any], Page]:
    """A function that decodes pages of this shape; it raises `msgspec.ValidationError` for any other page.

    Raises:
        ValueError: no decoder can be generated for so many attributes, or for their names.
    """
    if _size(shape) > MAX_ATTRIBUTES:
        raise ValueError("The items have too many attributes.")
    decode: Callable[[Any], PageOutput[Any]] = Decoder(PageOutput[_row_type(shape)]).decode  # type: ignore[misc]
    items_of = _compiled(shape)

    def decode_page(body: Any) -> Page:
        output = decode(body)
        return output, items_of(output.items)

    return decode_page


def _size(shape: Shape) -> int:
    return sum(1 + (_size(each.form) if isinstance(each.form, Shape) else 0) for each in shape.attributes)


def _row_type(shape: Shape) -> type[Struct]:
    """A type with a slot for each attribute; slots are numbered, because attribute names can be any string."""
    fields: list[Any] = []
    for slot, attribute in _slots(shape):
        kind = _value_type(attribute.form)
        fields.append((slot, kind) if attribute.always else (slot, kind | UnsetType, UNSET))
    names = {slot: attribute.name for slot, attribute in _slots(shape)}
    return defstruct("Row", fields, rename=names, kw_only=True, gc=False, forbid_unknown_fields=True)


def _value_type(form: Form) -> Any:
    if isinstance(form, Shape):
        return defstruct("Map", [("M", _row_type(form))], gc=False, forbid_unknown_fields=True)
    return _TYPES.get(form, TaggedValue)


def _slots(shape: Shape) -> list[tuple[str, Attribute]]:
    return [(f"a{number}", attribute) for number, attribute in enumerate(shape.attributes)]


def _compiled(shape: Shape) -> Callable[[list[Any]], list[Item]]:
    """A function that converts rows to items.

    It is compiled from source text, because one expression per item takes half the time of a loop over its attributes.
    The only external input in that text is the attribute names, which are inserted as Python literals.
    """
    slots = _slots(shape)
    always = [f"{each.name!r}: {_read(f'row.{slot}', each.form)}" for slot, each in slots if each.always]
    lines = ["def items_of(rows):", "    items = []", "    for row in rows:", f"        item = {{{', '.join(always)}}}"]
    for slot, each in slots:
        if not each.always:
            lines.append(f"        if (value := row.{slot}) is not UNSET:")
            lines.append(f"            item[{each.name!r}] = {_read('value', each.form)}")
    lines += ["        items.append(item)", "    return items"]
    names: dict[str, Any] = {"UNSET": UNSET, "received_number": received_number, "plain_value": plain_value}
    exec("\n".join(lines), names)  # noqa: S102 - see the docstring
    items_of: Callable[[list[Any]], list[Item]] = names["items_of"]
    return items_of


def _read(value: str, form: Form) -> str:
    """The expression that converts a decoded value to a plain one."""
    if isinstance(form, Shape):
        parts = [f"{each.name!r}: {_read(f'{value}.M.{slot}', each.form)}" for slot, each in _slots(form)]
        return f"{{{', '.join(parts)}}}"
    if form == "N":
        is_whole = f"(digits := {value}.N).isdigit() and digits.isascii() and len(digits) <= {MAX_DIGITS}"
        return f"int(digits) if {is_whole} else received_number(digits)"
    return f"{value}.{form}" if form in _TYPES else f"plain_value({value})"
