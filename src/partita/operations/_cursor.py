"""Cursors: where a page ended, as a text that is sealed, versioned and bound to its query.

A cursor is one byte for the version, and the last key in msgpack, sealed with AES-SIV. All that identifies the query is
sealed with it, so a cursor can neither be read or altered, nor be used with another pattern, argument, filter or order.
The seal needs no random part: a page has one cursor. Only its length tells something, how long the key is.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from partita.errors import InvalidCursor, PartitaError
from partita.values import Item, decode_item, encode_item

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV

_VERSION: Final = b"\x02"
_SEAL_BYTES: Final = 16
_MAX_LENGTH: Final = 16_384
_PURPOSE: Final = b"partita: seal cursors"


class CursorSealer(Struct, frozen=True, dict=True):
    """Seals and opens cursors with one secret."""

    secret: bytes

    def seal(self, last_key: Item, query: str) -> str:
        """The cursor that continues after `last_key`."""
        return _text(_VERSION + self._cipher.encrypt(encode_item(last_key), [_VERSION, query.encode()]))

    def open(self, cursor: str, query: str) -> Item:
        """The key to continue after.

        Raises:
            InvalidCursor: the cursor was altered, is of another query, or of another version.
        """
        version, sealed = _parts(cursor)
        if version != _VERSION or len(sealed) <= _SEAL_BYTES:
            raise _foreign()
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - as in _cipher

        try:
            key: Item = decode_item(self._cipher.decrypt(sealed, [_VERSION, query.encode()]))
        except InvalidTag:
            raise _foreign() from None
        except (PartitaError, ValueError):
            raise InvalidCursor("The cursor cannot be read.") from None
        return key

    @cached_property
    def _cipher(self) -> AESSIV:
        # Imported here, because it takes long and only programs with pages need it.
        from cryptography.hazmat.primitives.ciphers.aead import AESSIV  # noqa: PLC0415

        # A key of its own: what else is made with the same secret tells nothing about it.
        return AESSIV(hmac.digest(self.secret, _PURPOSE, hashlib.sha512))


def _parts(cursor: str) -> tuple[bytes, bytes]:
    if len(cursor) > _MAX_LENGTH:
        raise _foreign()
    try:
        raw = base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise InvalidCursor("This is not a cursor.") from None
    if _text(raw) != cursor:  # the last character has bits to spare: only one spelling is ours
        raise InvalidCursor("This is not a cursor.")
    return raw[:1], raw[1:]


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _foreign() -> InvalidCursor:
    return InvalidCursor("The cursor does not belong to this query, or is outdated.")
