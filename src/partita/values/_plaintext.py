"""Values of encrypted fields in transit: plain text between codec and session, sealed in the store."""

from __future__ import annotations

from typing import Any, Final, final

from msgspec import Struct

SEAL: Final = b"\x00PE1"
"""The bytes with which a sealed value begins."""


@final
class Plaintext(Struct, frozen=True, repr_omit_defaults=True):
    """A value that must not be stored as plain text: the session seals it, and opens it when it is read."""

    value: Any
    key_names: tuple[str, ...] = ()
    """The key attributes of the item that contains the value."""

    def __repr__(self) -> str:
        return "<the value of an encrypted field>"


@final
class UnopenedValue(Struct, frozen=True):
    """A sealed value that could not be opened, and why."""

    reason: str


def is_sealed(value: Any) -> bool:
    """Whether a stored value is sealed."""
    return type(value) is bytes and value.startswith(SEAL)
