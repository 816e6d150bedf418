"""Credentials that a function of the caller's gives, and gives again before they end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from partita._aws._credentials import Credentials
from partita.errors import AccessDenied
from partita.runtime import Clock

EARLY_SECONDS: Final = 300.0
"""How long before their end credentials are renewed; never before half of what they had left."""
RETRY_SECONDS: Final = 30.0
"""How long to wait after a renewal that failed, while the credentials still hold."""


class RenewedCredentials:
    """What a function gives, asked again before it ends. Threads that need new ones at once share one call."""

    def __init__(self, give: Callable[[], Credentials], clock: Clock) -> None:
        self._give = give
        self._clock = clock
        self._lock = threading.Lock()
        self._current: Credentials | None = None
        self._renew_at: float | None = None

    def ready(self) -> Credentials | None:
        """The credentials, unless they are to be renewed."""
        if self._renew_at is not None and self._clock() >= self._renew_at:
            return None
        return self._current

    def load(self) -> Credentials:
        """Ask the function, unless another thread has just done so.

        Raises:
            AccessDenied: it gives none that can be used.
        """
        with self._lock:
            return self.ready() or self._renewed()

    def forget(self) -> None:
        """Ask the function next time."""
        self._current = None

    def _renewed(self) -> Credentials:
        now = self._clock()
        try:
            fresh = _checked(self._give(), now)
        except Exception as error:
            if self._current is None or _is_over(self._current, now):
                raise _refused(error) from error
            fresh, pause = self._current, RETRY_SECONDS  # they still hold: use them, and ask again later
        else:
            pause = 0.0
        self._renew_at = _renewal(fresh, now, pause)
        self._current = fresh
        return fresh


def _checked(given: object, now: float) -> Credentials:
    if not isinstance(given, Credentials):
        raise AccessDenied(f"The function that gives credentials gave {type(given).__name__}.", hint=_HINT)
    if _is_over(given, now):
        raise AccessDenied("The function that gives credentials gave some that have ended.", hint=_HINT)
    return given


def _is_over(credentials: Credentials, now: float) -> bool:
    return credentials.expires_at is not None and credentials.expires_at <= now


def _renewal(credentials: Credentials, now: float, pause: float) -> float | None:
    if credentials.expires_at is None:
        return None
    left = credentials.expires_at - now
    return now + min(pause, left / 2) if pause else credentials.expires_at - min(EARLY_SECONDS, left / 2)


def _refused(error: Exception) -> AccessDenied:
    if isinstance(error, AccessDenied):
        return error
    # What the function says may hold a secret: only the kind of its error is repeated.
    message = f"The function that gives credentials failed with {type(error).__name__}."
    return AccessDenied(message, hint=_HINT)


_HINT: Final = "Give a function that returns Credentials with an end in the future, or with none."
