"""Fields that are stored in a form different from their value: compressed, encrypted, or both.

Such a field is opaque to the store: it cannot be part of a key or condition, and is always written as a whole.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Annotated, Any, Final, TypeVar, get_args

from msgspec import Struct
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from partita.errors import FieldSealed, InvalidItem
from partita.values import Item, Plaintext, UnopenedValue, decode_item, encode_item, is_sealed, value_size

T = TypeVar("T")

_DEFLATED: Final = b"\x00PZ1"
_MAX_PLAIN_BYTES: Final = 64 * 1024 * 1024
"""The maximum size of a decompressed value: otherwise a small item could fill the memory of its reader."""


class CompressedMark(Struct, frozen=True):
    """Marks a field that is stored compressed."""

    level: int = 6


class EncryptedMark(Struct, frozen=True):
    """Marks a field that is stored encrypted."""

    reads_plain: bool = False
    """Whether unencrypted values are accepted on reads, while existing items are being encrypted one by one."""


Compressed = Annotated[T, CompressedMark()]
"""The type of a field that is stored compressed: `body: Compressed[str]`."""

Encrypted = Annotated[T, EncryptedMark()]
"""The type of a field that is stored encrypted: `iban: Encrypted[str]`."""


def encrypted(*, reads_plain: bool = False) -> EncryptedMark:
    """Return the mark of an encrypted field, with options that `Encrypted` does not have.

    iban: Annotated[str, encrypted(reads_plain=True)]
    """
    return EncryptedMark(reads_plain)


class StoredForm(Struct, frozen=True):
    """How one field is stored."""

    label: str
    compressed: CompressedMark | None
    encrypted: EncryptedMark | None
    key_names: tuple[str, ...]

    def write(self, value: Any) -> Any:
        """Return the stored form of an attribute value; an encrypted one is sealed by the session."""
        if self.compressed is not None:
            value = _compress(value, self.compressed.level)
        return value if self.encrypted is None else Plaintext(value, self.key_names)

    def read(self, value: Any, item: Item) -> Any:
        """Return the attribute value from its stored form.

        Raises:
            FieldSealed: the value is encrypted, and was not opened.
        """
        if self.encrypted is not None:
            value = self._opened(value, item)
        return value if self.compressed is None else self._inflated(value, item)

    def _opened(self, value: Any, item: Item) -> Any:
        if isinstance(value, Plaintext):
            return value.value
        if isinstance(value, UnopenedValue):
            raise FieldSealed(f"{self.label} cannot be opened: {value.reason}.", item=item)
        if is_sealed(value):
            raise FieldSealed(f"{self.label} is encrypted, and there are no keys to open it.", item=item)
        if self.encrypted is not None and self.encrypted.reads_plain:
            return value
        hint = "Declare it with encrypted(reads_plain=True) until all items are encrypted."
        raise FieldSealed(f"{self.label} should be encrypted, but is stored as plain text.", item=item, hint=hint)

    def _inflated(self, value: Any, item: Item) -> Any:
        if type(value) is not bytes or not value.startswith(_DEFLATED):
            return value
        try:
            return decode_item(_inflate(value[len(_DEFLATED) :]))["v"]
        except (zlib.error, ValueError, KeyError) as error:
            reason = f"{self.label} cannot be decompressed: {error}"
            raise InvalidItem(f"{reason}.", item=item, reason=reason) from error


def _inflate(small: bytes) -> bytes:
    inflate = zlib.decompressobj()
    plain = inflate.decompress(small, _MAX_PLAIN_BYTES)
    if inflate.unconsumed_tail or not inflate.eof:
        raise ValueError("the data is truncated, or too large")
    return plain


def _compress(value: Any, level: int) -> Any:
    small = _DEFLATED + zlib.compress(encode_item({"v": value}), level)
    # Values that would not shrink are stored uncompressed, except bytes, which could be mistaken for compressed ones.
    return value if type(value) is not bytes and len(small) >= value_size(value) else small


def is_opaque(field: FieldInfo) -> bool:
    """Whether a field is stored in a form that the store cannot interpret."""
    return any(isinstance(mark, CompressedMark | EncryptedMark) for mark in field.metadata)


def marks_inside(annotation: Any) -> bool:
    """Whether an inner part of a type is marked, where the mark has no effect."""
    marks = getattr(annotation, "__metadata__", ())
    inside = any(isinstance(mark, CompressedMark | EncryptedMark) for mark in marks)
    return inside or any(map(marks_inside, get_args(annotation)))


def stored_forms(
    model: type[BaseModel], attributes: Mapping[str, str], key_names: tuple[str, ...]
) -> dict[str, StoredForm]:
    """Return the attributes of a model that are compressed or encrypted, with their stored forms."""
    forms: dict[str, StoredForm] = {}
    for name, field in model.model_fields.items():
        squeezed = next((mark for mark in field.metadata if isinstance(mark, CompressedMark)), None)
        secret = next((mark for mark in field.metadata if isinstance(mark, EncryptedMark)), None)
        if squeezed is not None or secret is not None:
            forms[attributes[name]] = StoredForm(f"{model.__name__}.{name}", squeezed, secret, key_names)
    return forms


def to_forms(item: Item, forms: Mapping[str, StoredForm]) -> Item:
    """Return the item with the values of these attributes in their stored form."""
    return {**item, **{name: form.write(item[name]) for name, form in forms.items() if name in item}}


def from_forms(item: Item, forms: Mapping[str, StoredForm]) -> Item:
    """Return the item with the values of these attributes read from their stored form."""
    return {**item, **{name: form.read(item[name], item) for name, form in forms.items() if name in item}}
