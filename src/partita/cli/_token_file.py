"""The file in the data folder with the keys that sign tokens, and the revoked tokens."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from partita._sqlite import ProcessLock
from partita.cli._data_folder import DataFolder
from partita.errors import StoreDamaged, StoreReadOnly
from partita.runtime import Clock, system_clock, write_private

if TYPE_CHECKING:
    from partita.http import Identity, TokenKey, TokenPolicy

FOLLOW_SECONDS: Final = 1.0
"""How long a running server may take to notice a change of the file."""
KEYS: Final = 2
"""How many keys are valid at a time: the one that signs, and the previous one."""
LONGEST_SECONDS: Final = 366 * 86_400
"""No token is valid for longer, so older revocations concern only expired tokens and can be removed."""
_SALT_BYTES: Final = 32


class StoredKey(Struct, frozen=True, forbid_unknown_fields=True):
    """The salt from which, together with the secret of the folder, a key for tokens is derived."""

    salt: Annotated[bytes, Meta(min_length=_SALT_BYTES, max_length=_SALT_BYTES)] | None = None
    """None for the first key of a folder."""
    since: int | None = None
    """When the key was created, in seconds since the epoch."""


class StoredTokens(Struct, frozen=True, forbid_unknown_fields=True):
    """The contents of the file."""

    keys: Annotated[tuple[StoredKey, ...], Meta(min_length=1, max_length=KEYS)] = (StoredKey(),)
    """The first key signs."""
    tokens: dict[str, int] = {}
    """The ids of revoked tokens, each with the second after which it can be removed."""
    users: dict[str, int] = {}
    """The users whose tokens were revoked, each with the second from which on new tokens are valid."""

    def with_new_key(self, now: float, *, end_previous: bool = False) -> StoredTokens:
        """With a new key that signs from now on. Tokens of the previous key stay valid, unless `end_previous`."""
        new = StoredKey(secrets.token_bytes(_SALT_BYTES), int(now))
        return replace(self, keys=(new,) if end_previous else (new, *self.keys)[:KEYS])

    def without_token(self, token_id: str, expires: int) -> StoredTokens:
        """With one token revoked."""
        return replace(self, tokens={**self.tokens, token_id: expires})

    def without_user(self, user_id: str, now: float) -> StoredTokens:
        """With all tokens of a user revoked that were issued until now."""
        return replace(self, users={**self.users, user_id: int(now) + 1})

    def without_expired(self, now: float) -> StoredTokens:
        """Without expired entries, so that the file does not grow forever."""
        tokens = {token_id: expires for token_id, expires in self.tokens.items() if expires > now}
        users = {user_id: since for user_id, since in self.users.items() if since + LONGEST_SECONDS > now}
        return replace(self, tokens=tokens, users=users)


class TokenFile:
    """Reads the file, and reads it again after it has changed."""

    def __init__(self, data: DataFolder, clock: Clock = system_clock) -> None:
        self._secret = data.secret("tokens")
        self._path = data.path / "tokens.json"
        self._clock = clock
        self._looked_at = float("-inf")
        self._state: tuple[int, int, int] | None = None
        self._policy = self._policy_of(StoredTokens())

    def policy(self) -> TokenPolicy:
        """The rules for valid tokens, at most one second old.

        Raises:
            StoreReadOnly: the file cannot be read. StoreDamaged: its contents are not valid.
        """
        now = self._clock()
        if not 0 <= now - self._looked_at < FOLLOW_SECONDS:
            self._follow()
            self._looked_at = now
        return self._policy

    def read(self) -> StoredTokens:
        """The contents of the file. If it does not exist: one key, and nothing revoked.

        Raises:
            StoreReadOnly: it cannot be read. StoreDamaged: its contents are not valid.
        """
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=StoredTokens)
        except FileNotFoundError:
            return StoredTokens()
        except OSError as error:
            raise StoreReadOnly(f"The file {self._path} cannot be read ({error.strerror}).") from error
        except msgspec.DecodeError as error:
            # Continuing without the file would make revoked tokens valid again.
            hint = "Restore it; or delete it and run `partita tokens rotate --end-previous`, which ends all tokens."
            raise StoreDamaged(f"The file {self._path} cannot be read ({error}).", hint=hint) from error

    def change(self, change: Callable[[StoredTokens], StoredTokens]) -> StoredTokens:
        """Change the contents of the file, under a lock between processes.

        Raises:
            StoreReadOnly: it cannot be written. StoreDamaged: its contents are not valid.
        """
        try:
            with closing(ProcessLock(self._path)) as lock, lock:
                changed = change(self.read().without_expired(self._clock()))
                write_private(self._path, msgspec.json.format(msgspec.json.encode(changed)))
        except OSError as error:
            raise StoreReadOnly(f"The file {self._path} cannot be written ({error.strerror}).") from error
        self._looked_at = float("-inf")
        return changed

    def key(self, stored: StoredKey) -> TokenKey:
        """The key, derived from its salt and the secret of the folder."""
        from partita.http import TokenKey

        secret = self._secret if stored.salt is None else hmac.digest(self._secret, stored.salt, hashlib.sha256)
        return TokenKey.of(secret)

    def _follow(self) -> None:
        state = _state_of(self._path)
        if state != self._state:
            self._policy = self._policy_of(self.read())
            self._state = state

    def _policy_of(self, stored: StoredTokens) -> TokenPolicy:
        from partita.http import TokenPolicy

        return TokenPolicy(tuple(map(self.key, stored.keys)), frozenset(stored.tokens), stored.users)


def identity_of(data: DataFolder, clock: Clock = system_clock) -> Identity:
    """Issues and checks the tokens of a data folder, with its current keys and revocations.

    Raises:
        StoreReadOnly: its key can be neither read nor created. StoreDamaged: a part of it is missing.
    """
    from partita.http import Identity

    return Identity(TokenFile(data, clock).policy, clock)


def _state_of(path: Path) -> tuple[int, int, int] | None:
    """A value that differs after a file was replaced, or None if there is no file."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
