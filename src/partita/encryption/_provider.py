"""Providers of keys: who makes data keys, and unwraps those that stand beside what they sealed."""

from __future__ import annotations

from typing import Final, Protocol

from msgspec import Struct

from partita.errors import OperationError, UnknownKey

DATA_KEY_BYTES: Final = 64
"""A data key is of AES-256 in SIV mode: one half authenticates, the other encrypts."""


class DataKey(Struct, frozen=True):
    """A key that seals fields, and the same wrapped by a key that never leaves its provider."""

    key: bytes
    wrapped: bytes
    """What is stored beside what the key sealed."""

    def __repr__(self) -> str:
        return "DataKey(…)"


class KeyProvider(Protocol):
    """Makes and unwraps data keys. Its methods may block; an async session calls them in a thread."""

    def new_key(self) -> DataKey:
        """A new data key, wrapped by the provider's current key.

        Raises:
            StoreUnavailable: the provider cannot be reached; nothing was sealed.
        """
        ...

    def unwrap(self, wrapped: bytes) -> bytes:
        """The data key in what `new_key` wrapped, now or long ago.

        Raises:
            UnknownKey: this provider does not have the key that wrapped it.
            StoreUnavailable: the provider cannot be reached.
        """
        ...


class KeyChain:
    """Several providers: the first makes keys, all of them unwrap. For the way from one provider to another."""

    def __init__(self, *providers: KeyProvider) -> None:
        if not providers:
            raise OperationError("A chain of keys has at least one provider.")
        self._providers = providers

    def new_key(self) -> DataKey:
        """A new data key of the first provider."""
        return self._providers[0].new_key()

    def unwrap(self, wrapped: bytes) -> bytes:
        """The data key, from the first provider that knows it."""
        for provider in self._providers[:-1]:
            try:
                return provider.unwrap(wrapped)
            except UnknownKey:
                continue
        return self._providers[-1].unwrap(wrapped)
