"""Cursors: where a page ended, as an encrypted, versioned string that is bound to its query.

A cursor is one byte for the version, then the last key in msgpack, encrypted with AES-SIV. The identity of the query
is authenticated with it, so a cursor cannot be read or altered, nor used with another pattern, argument, filter or
order. The encryption needs no nonce: a page has one cursor. Only the length of the cursor reveals the key's length.
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
    """Encrypts and decrypts cursors with one secret."""

    secret: bytes

    def seal(self, last_key: Item, query: str) -> str:
        """The cursor that continues after `last_key`."""
        return _text(_VERSION + self._cipher.encrypt(encode_item(last_key), [_VERSION, query.encode()]))

    def open(self, cursor: str, query: str) -> Item:
        """The key to continue after.

        Raises:
            InvalidCursor: the cursor was altered, belongs to another query, or has another version.
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
        # Imported here because it is slow and only programs that use pages need it.
        from cryptography.hazmat.primitives.ciphers.aead import AESSIV  # noqa: PLC0415

        # A separate derived key: other uses of the same secret reveal nothing about it.
        return AESSIV(hmac.digest(self.secret, _PURPOSE, hashlib.sha512))


def _parts(cursor: str) -> tuple[bytes, bytes]:
    if not isinstance(cursor, str):
        raise InvalidCursor("This is not a cursor.")
    if len(cursor) > _MAX_LENGTH:
        raise _foreign()
    try:
        raw = base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise InvalidCursor("This is not a cursor.") from None
    if _text(raw) != cursor:  # the last character has unused bits: only the canonical encoding is accepted
        raise InvalidCursor("This is not a cursor.")
    return raw[:1], raw[1:]


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _foreign() -> InvalidCursor:
    return InvalidCursor("The cursor does not belong to this query, or is outdated.")
