"""Credentials from a function of the caller, which is called again before they expire."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from partita._aws._credentials import Credentials
from partita.errors import AccessDenied
from partita.runtime import Clock

EARLY_SECONDS: Final = 300.0
"""How long before they expire credentials are renewed, but never before half of their remaining time has passed."""
RETRY_SECONDS: Final = 30.0
"""How long to wait after a failed renewal while the credentials are still valid."""


class RenewedCredentials:
    """Credentials from a function, renewed before they expire. Threads that need new ones at once share one call."""

    def __init__(self, give: Callable[[], Credentials], clock: Clock) -> None:
        self._give = give
        self._clock = clock
        self._lock = threading.Lock()
        self._current: Credentials | None = None
        self._renew_at: float | None = None

    def ready(self) -> Credentials | None:
        """Return the credentials, unless their renewal is due."""
        if self._renew_at is not None and self._clock() >= self._renew_at:
            return None
        return self._current

    def load(self) -> Credentials:
        """Call the function, unless another thread has just done so.

        Raises:
            AccessDenied: the function returned no usable credentials.
        """
        with self._lock:
            return self.ready() or self._renewed()

    def forget(self) -> None:
        """Call the function next time."""
        self._current = None

    def _renewed(self) -> Credentials:
        now = self._clock()
        try:
            fresh = _checked(self._give(), now)
        except Exception as error:
            if self._current is None or _is_over(self._current, now):
                raise _refused(error) from error
            fresh, pause = self._current, RETRY_SECONDS  # still valid: use them, and try again later
        else:
            pause = 0.0
        self._renew_at = _renewal(fresh, now, pause)
        self._current = fresh
        return fresh


def _checked(given: object, now: float) -> Credentials:
    if not isinstance(given, Credentials):
        raise AccessDenied(f"The credentials function returned {type(given).__name__}.", hint=_HINT)
    if _is_over(given, now):
        raise AccessDenied("The credentials function returned expired credentials.", hint=_HINT)
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
    # The text of the error may contain a secret, so only its type is repeated.
    message = f"The credentials function failed with {type(error).__name__}."
    return AccessDenied(message, hint=_HINT)


_HINT: Final = "Pass a function that returns Credentials whose `expires_at` is in the future or None."
