"""Cursors: where a page ended, as an opaque text that is signed, versioned and bound to its query.

A cursor is the last key in msgpack and a truncated HMAC-SHA256 over it and over all that identifies
the query, so it can neither be altered nor be used with another pattern, argument, filter or order.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from typing import Final

from msgspec import Struct

from partita.errors import InvalidCursor, PartitaError
from partita.values import Item, decode_item, encode_item

_VERSION: Final = b"\x01"
_TAG_BYTES: Final = 16
_MAX_LENGTH: Final = 16_384


class CursorSigner(Struct, frozen=True):
    """Signs and checks cursors with one secret."""

    secret: bytes

    def sign(self, last_key: Item, query: str) -> str:
        """The cursor that continues after `last_key`."""
        body = _VERSION + encode_item(last_key)
        return _text(self._tag(body, query) + body)

    def check(self, cursor: str, query: str) -> Item:
        """The key to continue after.

        Raises:
            InvalidCursor: the cursor was altered, is of another query, or of another version.
        """
        try:
            raw = base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, UnicodeEncodeError):
            raise InvalidCursor("This is not a cursor.") from None
        if _text(raw) != cursor:  # the last character has bits to spare: only one spelling is ours
            raise InvalidCursor("This is not a cursor.")
        tag, body = raw[:_TAG_BYTES], raw[_TAG_BYTES:]
        if len(cursor) > _MAX_LENGTH or body[:1] != _VERSION or not hmac.compare_digest(tag, self._tag(body, query)):
            raise InvalidCursor("The cursor does not belong to this query, or is outdated.")
        try:
            key: Item = decode_item(body[1:])
        except (PartitaError, ValueError):
            raise InvalidCursor("The cursor cannot be read.") from None
        return key

    def _tag(self, body: bytes, query: str) -> bytes:
        return hmac.digest(self.secret, query.encode() + b"\0" + body, hashlib.sha256)[:_TAG_BYTES]


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
