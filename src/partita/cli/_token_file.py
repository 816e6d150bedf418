"""The file of the data folder that says which keys sign tokens, and which tokens were revoked."""

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
"""How long a running server may take to notice that the file was changed."""
KEYS: Final = 2
"""So many keys are valid at a time: the one that signs, and the one before."""
LONGEST_SECONDS: Final = 366 * 86_400
"""No token is valid for longer. What was revoked before that has expired, and need not be remembered."""
_SALT_BYTES: Final = 32


class StoredKey(Struct, frozen=True, forbid_unknown_fields=True):
    """A key for tokens: with the secret of the folder, this makes it. Neither is enough."""

    salt: Annotated[bytes, Meta(min_length=_SALT_BYTES, max_length=_SALT_BYTES)] | None = None
    """None for the first key of a folder."""
    since: int | None = None
    """When it was made."""


class StoredTokens(Struct, frozen=True, forbid_unknown_fields=True):
    """What the file says."""

    keys: Annotated[tuple[StoredKey, ...], Meta(min_length=1, max_length=KEYS)] = (StoredKey(),)
    """The first signs."""
    tokens: dict[str, int] = {}
    """Revoked tokens by their ids, each with the second after which it may be forgotten."""
    users: dict[str, int] = {}
    """Users whose tokens were revoked, each with the second from which on tokens are valid again."""

    def with_new_key(self, now: float, *, end_previous: bool = False) -> StoredTokens:
        """A new key signs from now on; tokens of the one so far stay valid, unless that ends too."""
        new = StoredKey(secrets.token_bytes(_SALT_BYTES), int(now))
        return replace(self, keys=(new,) if end_previous else (new, *self.keys)[:KEYS])

    def without_token(self, token_id: str, expires: int) -> StoredTokens:
        """One token is revoked."""
        return replace(self, tokens={**self.tokens, token_id: expires})

    def without_user(self, user_id: str, now: float) -> StoredTokens:
        """All tokens of a user are revoked that were made until now."""
        return replace(self, users={**self.users, user_id: int(now) + 1})

    def without_expired(self, now: float) -> StoredTokens:
        """Without what no longer matters, so that the file does not grow for ever."""
        tokens = {token_id: expires for token_id, expires in self.tokens.items() if expires > now}
        users = {user_id: since for user_id, since in self.users.items() if since + LONGEST_SECONDS > now}
        return replace(self, tokens=tokens, users=users)


class TokenFile:
    """Reads the file, and reads it again when it has changed."""

    def __init__(self, data: DataFolder, clock: Clock = system_clock) -> None:
        self._secret = data.secret("tokens")
        self._path = data.path / "tokens.json"
        self._clock = clock
        self._looked_at = float("-inf")
        self._state: tuple[int, int, int] | None = None
        self._policy = self._policy_of(StoredTokens())

    def policy(self) -> TokenPolicy:
        """What makes a token valid now, or did so at most a second ago.

        Raises:
            StoreReadOnly: the file cannot be read. StoreDamaged: it is not as it was written.
        """
        now = self._clock()
        if not 0 <= now - self._looked_at < FOLLOW_SECONDS:
            self._follow()
            self._looked_at = now
        return self._policy

    def read(self) -> StoredTokens:
        """What the file says; where there is none, that there is one key and nothing was revoked.

        Raises:
            StoreReadOnly: it cannot be read. StoreDamaged: it is not as it was written.
        """
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=StoredTokens)
        except FileNotFoundError:
            return StoredTokens()
        except OSError as error:
            raise StoreReadOnly(f"The file {self._path} cannot be read ({error.strerror}).") from error
        except msgspec.DecodeError as error:
            # To go on without it would make tokens valid that were revoked.
            hint = "Restore it, or delete it and then run `partita tokens rotate --end-previous`: all tokens then end."
            raise StoreDamaged(f"The file {self._path} cannot be read ({error}).", hint=hint) from error

    def change(self, change: Callable[[StoredTokens], StoredTokens]) -> StoredTokens:
        """Change what the file says, one process at a time.

        Raises:
            StoreReadOnly: it cannot be written. StoreDamaged: it is not as it was written.
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
        """The key itself."""
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
    """Issues and checks the tokens of a data folder, by the keys and revocations that it has at the time.

    Raises:
        StoreReadOnly: its key can be neither read nor made. StoreDamaged: a part of it is missing.
    """
    from partita.http import Identity

    return Identity(TokenFile(data, clock).policy, clock)


def _state_of(path: Path) -> tuple[int, int, int] | None:
    """Differs when a file was replaced; None where there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
