"""Values of encrypted fields on their way: as plain text between codec and session, sealed in the store."""

from __future__ import annotations

from typing import Any, Final, final

from msgspec import Struct

SEAL: Final = b"\x00PE1"
"""How a sealed value begins."""


@final
class Plaintext(Struct, frozen=True, repr_omit_defaults=True):
    """A value that must not be stored as it is: the session seals it, and opens it again when it is read."""

    value: Any
    key_names: tuple[str, ...] = ()
    """The attributes of the key of the item that it is a part of."""

    def __repr__(self) -> str:
        return "<the value of an encrypted field>"


@final
class UnopenedValue(Struct, frozen=True):
    """A sealed value that could not be opened, and why."""

    reason: str


def is_sealed(value: Any) -> bool:
    """Whether this is a sealed value, as it is stored."""
    return type(value) is bytes and value.startswith(SEAL)
