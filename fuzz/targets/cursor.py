"""Cursors, which clients keep between two pages and send back."""

from __future__ import annotations

from typing import Final

import msgspec

from fuzz.fields import BORDER, sent_texts, texts
from partita.errors import InvalidCursor, PartitaError
from partita.operations import CursorSealer
from partita.values import Item, decode_item, encode_item, encode_measured

SEALER: Final = CursorSealer(b"the secret of this fuzzer")


def cursor(data: bytes) -> None:
    """A cursor, its query and a key: only what was sealed can be opened, and only for its query."""
    text, query, _ = sent_texts(data, 3)
    unsealed = texts(data, 1)[0]
    for each in {text, unsealed}:
        opened = _opened(each, query)
        assert opened is None or SEALER.seal(opened, query) == each
    key = _key(data.split(BORDER, 2)[-1])
    if key is not None:
        _check_sealed(key, query)


def _check_sealed(key: Item, query: str) -> None:
    sealed = SEALER.seal(key, query)
    assert _opened(sealed, query) == key
    assert _opened(sealed, query + "x") is None
    at = len(query) % len(sealed)
    altered = "A" if sealed[at] != "A" else "B"
    assert _opened(sealed[:at] + altered + sealed[at + 1 :], query) is None
    assert _opened(sealed[:at], query) is None


def _opened(text: str, query: str) -> Item | None:
    try:
        return SEALER.open(text, query)
    except InvalidCursor:
        return None


def _key(packed: bytes) -> Item | None:
    """Decode the bytes as an item in its stored form; None if they are not an item."""
    try:
        item: Item = decode_item(packed)
        encoded, _ = encode_measured(item)  # it refuses values that no item can have, such as a float
    except (PartitaError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    assert encode_item(decode_item(encoded)) == encoded
    return decode_item(encoded)
