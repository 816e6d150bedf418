"""Attribute values as plain Python: DynamoDB's rules for them, their sizes, and their form in bytes."""

from partita.values._attribute_values import (
    MAX_DEPTH,
    MAX_DIGITS,
    TOO_DEEP,
    AttributeValue,
    Item,
    Kind,
    equal,
    kind_of,
    number,
    number_text,
    plus,
)
from partita.values._codec import decode_item, encode_item, encode_measured
from partita.values._plaintext import SEAL, Plaintext, Unopened, is_sealed
from partita.values._sizes import (
    MAX_ITEM_BYTES,
    READ_UNIT_BYTES,
    item_size,
    read_units,
    text_size,
    value_size,
    write_units,
)

__all__ = [
    "MAX_DEPTH",
    "MAX_DIGITS",
    "MAX_ITEM_BYTES",
    "READ_UNIT_BYTES",
    "SEAL",
    "TOO_DEEP",
    "AttributeValue",
    "Item",
    "Kind",
    "Plaintext",
    "Unopened",
    "decode_item",
    "encode_item",
    "encode_measured",
    "equal",
    "is_sealed",
    "item_size",
    "kind_of",
    "number",
    "number_text",
    "plus",
    "read_units",
    "text_size",
    "value_size",
    "write_units",
]
