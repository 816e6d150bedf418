"""The format of keys: what separates their parts, and whether values are escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal

from partita.model import escape
from partita.store import TableSchema
from partita.values import Item

SEPARATORS: Final = ("::", "#", "|", "/", ":", "~", ";", ",", "^", "->")
_LITERAL: Final = re.compile(r"[$@]?[A-Za-z][A-Za-z_$-]*[0-9]?(?:_[0-9]+)?")
_CONSTANT: Final = re.compile(r"[#@$]?[A-Z][A-Z_-]+[0-9]?")
_CODE: Final = re.compile("%([0-9A-F]{2})")


def is_word(text: str) -> bool:
    """Whether a part of a key may be literal text: letters, with few digits."""
    return _LITERAL.fullmatch(text) is not None


def is_constant(text: str) -> bool:
    """Whether a part of a key is written like a constant, in capitals."""
    return _CONSTANT.fullmatch(text) is not None


def find_separator(keys: Sequence[str]) -> str:
    """Return the separator that follows a literal beginning in most keys; `#` if there is none."""
    counts = {each: sum(each in key and is_word(key.partition(each)[0]) for key in keys) for each in SEPARATORS}
    best = max(counts, key=lambda each: counts[each])  # in a tie, the first
    return best if counts[best] else "#"


def key_texts(items: Sequence[Item], schema: TableSchema) -> list[str]:
    """Return all keys of the table and its indexes that are strings."""
    keys = [schema.key, *(index.key for index in schema.indexes)]
    names = dict.fromkeys(attribute.name for key in keys for attribute in key if attribute.type == "S")
    return [item[name] for item in items for name in names if isinstance(item.get(name), str)]


def find_value_form(items: Sequence[Item], schema: TableSchema, separator: str) -> Literal["escaped", "raw"]:
    """Return "escaped" if some key part contains a value of its item with escape codes, and none has it unescaped."""
    if separator != "#":
        return "raw"
    seen = [found for item in items for found in _escapes(item, schema)]
    return "escaped" if seen and all(seen) else "raw"


def _escapes(item: Item, schema: TableSchema) -> Iterator[bool]:
    """Yield, for each part of a key that is a value with characters to escape, whether they are escaped."""
    values = {value for name, value in item.items() if _is_plain_text(name, value, schema)}
    escaped = {escape(value): value for value in values if escape(value) != value}
    for text in key_texts([item], schema):
        for part in text.split("#"):
            if part in escaped and _CODE.search(part):
                yield True
            elif part in values and part != escape(part):
                yield False


def _is_plain_text(name: str, value: Any, schema: TableSchema) -> bool:
    is_key = any(attribute.name == name for attribute in schema.key)
    return isinstance(value, str) and not is_key
