"""Attribute values as plain Python: DynamoDB's rules for them, their sizes, and their encoding as bytes."""

from partita._late import late_names

_NAMES = {
    "_attribute_values": (
        "MAX_DEPTH",
        "MAX_DIGITS",
        "TOO_DEEP",
        "AttributeValue",
        "Item",
        "Kind",
        "check_hashes",
        "equal",
        "kind_of",
        "number",
        "number_text",
        "plus",
    ),
    "_codec": ("decode_item", "encode_item", "encode_measured"),
    "_plaintext": ("SEAL", "Plaintext", "UnopenedValue", "is_sealed"),
    "_sizes": (
        "MAX_ITEM_BYTES",
        "READ_UNIT_BYTES",
        "item_size",
        "read_units",
        "text_size",
        "value_size",
        "write_units",
    ),
}
__getattr__, __dir__, __all__ = late_names(__name__, _NAMES)
