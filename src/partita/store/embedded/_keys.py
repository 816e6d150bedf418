"""Key attributes: their rules, and their values as stored in columns.

A string is stored as text (ordered by its UTF-8 bytes), a binary unchanged, a number in a sortable form.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final, TypeAlias
from zlib import crc32

from partita.errors import ValidationFailed
from partita.store._schema import KeyAttribute, KeyType
from partita.store.embedded._numbers import encode_number
from partita.values import kind_of, text_size

Column: TypeAlias = str | bytes

HASH_BYTES: Final = 2_048
RANGE_BYTES: Final = 1_024
_INVALID: Final = "One or more parameter values were invalid: "
_NOT_VALID: Final = "One or more parameter values are not valid. "
_TYPES: Final[dict[KeyType, tuple[type, ...]]] = {"S": (str,), "N": (int, Decimal), "B": (bytes,)}
_EMPTY: Final = {str: "string", bytes: "binary"}


class KeyPart:
    """One attribute of a key, with its maximum size."""

    __slots__ = ("limit", "name", "type")

    def __init__(self, attribute: KeyAttribute, limit: int) -> None:
        self.name = attribute.name
        self.type: KeyType = attribute.type
        self.limit = limit

    def has_type(self, value: Any) -> bool:
        """Whether the value is of the key's type."""
        return type(value) in _TYPES[self.type]

    def column(self, value: Any) -> Column:
        """The column value of a key attribute whose type was checked.

        Raises:
            ValidationFailed: the value is empty or too long.
        """
        if self.type == "N":
            return encode_number(value)
        if not value:
            raise ValidationFailed(f"{_NOT_VALID}{_empty(value)} Key: {self.name}")
        self._check_size(value)
        return value  # type: ignore[no-any-return]  # a str or bytes, by has_type

    def _check_size(self, value: str | bytes) -> None:
        size = text_size(value) if isinstance(value, str) else len(value)
        if size > self.limit:
            message = f"Aggregated size of all range keys has exceeded the size limit of {self.limit} bytes"
            if self.limit == HASH_BYTES:
                message = f"Size of hashkey has exceeded the maximum size limit of{self.limit} bytes"  # AWS's spelling
            raise ValidationFailed(_INVALID + message)

    def in_key(self, value: Any) -> Column:
        """The column value of an attribute in the `key` of a request."""
        if not self.has_type(value):
            raise KeyMismatch("The provided key element does not match the schema")
        return self.column(value)

    def in_item(self, item: dict[str, Any]) -> Column:
        """The column value of this table key attribute in an item to be put."""
        if self.name not in item:
            raise KeyMismatch(f"{_INVALID}Missing the key {self.name} in the item")
        value = item[self.name]
        if not self.has_type(value):
            actual = kind_of(value)
            message = f"{_INVALID}Type mismatch for key {self.name} expected: {self.type} actual: {actual}"
            raise KeyMismatch(message)
        return self.column(value)

    def in_index(self, value: Any, index: str) -> Column:
        """The column value of this index key attribute in an item to be written."""
        if not self.has_type(value):
            types = f"Expected: {self.type} Actual: {kind_of(value)}"
            message = f"Type mismatch for Index Key {self.name} {types} IndexName: {index}"
            raise IndexKeyMismatch(_INVALID + message, self.name)
        if self.type != "N" and not value:
            raise EmptyIndexKey(value, f" IndexName: {index}, IndexKey: {self.name}")
        return self.column(value)


class KeyMismatch(ValidationFailed):
    """A key that does not match the table's schema; in a transaction, the reason of one action (rule 37)."""


class IndexKeyMismatch(ValidationFailed):
    """An index key attribute, whose name it has, with a value of the wrong type."""

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name


class EmptyIndexKey(ValidationFailed):
    """An empty value for an index key; in a transaction, it refuses the whole request (rule 37)."""

    def __init__(self, value: str | bytes, where: str | None = None) -> None:
        """`where` names the key of an item that is put; AWS's error for an update does not name it."""
        what = "A value specified for a secondary index key"
        if where is None:
            what = "The update expression attempted to update a secondary index key to a value that"
        super().__init__(f"{_NOT_VALID}{what} is not supported. {_empty(value)}{where or ''}")
        self.value = value


def _empty(value: str | bytes) -> str:
    return f"The AttributeValue for a key attribute cannot contain an empty {_EMPTY[type(value)]} value."


def partition_hash(column: Column, *others: Column) -> int:
    """The position of a partition in the order of a scan: a 32-bit hash of the columns of its key."""
    hashed = crc32(column.encode() if type(column) is str else column)  # type: ignore[arg-type]  # else it is bytes
    for other in others:
        hashed = crc32(other.encode() if type(other) is str else other, hashed)  # type: ignore[arg-type]
    return hashed
