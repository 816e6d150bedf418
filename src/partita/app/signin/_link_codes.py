"""One-time codes for the sign-in link in the terminal: each signs in once, within minutes, in any process of a server.

A code is secret until it is used, so the file contains a digest, not the code itself. A code is used up by writing the
file, by one process at a time, before a token is issued. So if several processes receive a code, only one of them
accepts it, and a used code stays used after a loss of power.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from partita._sqlite import ProcessLock
from partita.errors import StoreReadOnly
from partita.http import HttpProblem, Role
from partita.runtime import Clock, system_clock, write_private

LIFETIME: Final = timedelta(minutes=10)
REMEMBERED: Final = timedelta(days=1)
"""An expired code is remembered for this long, so that people are told why it does not work."""
MAX_CODES: Final = 64
_BYTES: Final = 24
_HINT: Final = "Sign in here with one click, or restart the server for a new link."


def _new_code() -> str:
    return secrets.token_urlsafe(_BYTES)


class StoredCode(Struct, frozen=True, forbid_unknown_fields=True):
    """The stored form of a code."""

    digest: bytes
    role: Role
    expires: int
    is_used: bool = False


class LinkCodes:
    """The codes of one data folder."""

    def __init__(self, path: Path, *, clock: Clock = system_clock, new_code: Callable[[], str] = _new_code) -> None:
        """Keep codes in a file.

        Args:
            path: the file, which all processes of a server share.
            clock: returns the time, for expiry.
            new_code: returns a new code that nobody can guess.
        """
        self._path = path
        self._clock = clock
        self._new_code = new_code
        self._one_thread = threading.Lock()

    def issue(self, role: Role) -> str:
        """Issue a new code.

        Raises:
            StoreReadOnly: the file cannot be written.
        """
        code = self._new_code()
        expires = int(self._clock() + LIFETIME.total_seconds())
        new = StoredCode(_digest(code), role, expires)
        self._change(lambda known: (*known, new)[-MAX_CODES:])
        return code

    def take(self, code: str) -> Role:
        """Use up a code, and return the role that it signs in as.

        Raises:
            HttpProblem: 403, the code is unknown, has expired, or was already used.
            StoreReadOnly: the file cannot be written, so the code cannot be used.
        """
        digest = _digest(code)
        role = self._usable(_find(self._read(), digest))  # guessing neither takes the lock nor writes

        def spend(known: tuple[StoredCode, ...]) -> tuple[StoredCode, ...]:
            self._usable(_find(known, digest))
            return tuple(replace(each, is_used=True) if each.digest == digest else each for each in known)

        self._change(spend)
        return role

    def _usable(self, found: StoredCode | None) -> Role:
        if found is None:
            raise _refused("sign_in_link_unknown", "This sign-in link does not belong to this server.")
        if found.is_used:
            raise _refused("sign_in_link_used", "This sign-in link was already used; it works only once.")
        if found.expires <= self._clock():
            raise _refused(
                "sign_in_link_expired",
                f"This sign-in link has expired: it is valid for {LIFETIME.seconds // 60} minutes.",
            )
        return found.role

    def _read(self) -> tuple[StoredCode, ...]:
        """Return the codes in the file; none if it cannot be read, so that no code is valid."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=tuple[StoredCode, ...])
        except (OSError, msgspec.DecodeError):
            return ()

    def _change(self, change: Callable[[tuple[StoredCode, ...]], tuple[StoredCode, ...]]) -> None:
        try:
            with self._one_thread, closing(ProcessLock(self._path)) as lock, lock:
                oldest = self._clock() - REMEMBERED.total_seconds()
                known = tuple(each for each in self._read() if each.expires > oldest)
                write_private(self._path, msgspec.json.encode(change(known)))
        except OSError as error:
            raise StoreReadOnly(f"The file {self._path} cannot be written ({error.strerror}).") from error


def _digest(code: str) -> bytes:
    return hashlib.sha256(b"partita: sign-in link\0" + code.encode()).digest()


def _find(known: tuple[StoredCode, ...], digest: bytes) -> StoredCode | None:
    """Return the code with a digest. All codes are compared, in constant time."""
    found = [each for each in known if hmac.compare_digest(each.digest, digest)]
    return found[0] if found else None


def _refused(code: str, detail: str) -> HttpProblem:
    return HttpProblem(403, code, detail, hint=_HINT)
