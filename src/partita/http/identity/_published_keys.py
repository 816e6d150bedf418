"""The keys that a token issuer publishes: fetched by one thread at a time, and rarely, whichever keys tokens name.

| the key that a token names | what happens |
| --- | --- |
| known and fresh | it is used |
| known but not fresh | one thread fetches the keys; the others use the known key meanwhile |
| unknown | one thread fetches the keys, a few threads wait for it, the others respond with 503 |
| unknown just after a fetch | nothing is fetched: the key does not exist, or the issuer cannot be reached |
"""

from __future__ import annotations

import http.client
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode, urlsplit

from msgspec import Struct

from partita.errors import OperationError
from partita.http._problems import RETRY_LATER, HttpProblem
from partita.http.identity._caller import TokenRefused
from partita.http.identity._pyjwt import key_set
from partita.runtime import Clock, is_loopback

if TYPE_CHECKING:
    from jwt import PyJWK

TIMEOUT_SECONDS: Final = 5.0
FRESH_SECONDS: Final = 300.0
"""Older keys are fetched again."""
USABLE_SECONDS: Final = 600.0
"""Older keys are not used, even if they cannot be fetched again."""
COOLDOWN_SECONDS: Final = 30.0
"""For this long after a fetch, an unknown key does not cause another fetch."""
RETRY_SECONDS: Final = 5.0
"""For this long after a failed fetch, there is no other fetch."""
MAX_WAITING: Final = 8
"""How many threads may wait for the fetch of another: a server has 40 threads, and needs them for its work."""
MAX_BYTES: Final = 1_048_576
DISCOVERY: Final = "/.well-known/openid-configuration"

FETCH_ERRORS: Final = (
    OSError,
    http.client.HTTPException,
    ValueError,
    KeyError,
    TypeError,
    RecursionError,
    OperationError,
)
"""The errors that fetching a document of an issuer can raise."""


class KeySet(Struct, frozen=True):
    """The keys of one fetch, by key id."""

    keys: dict[str, PyJWK]
    fetched_at: float


class PublishedKeys:
    """The keys of one issuer. Thread-safe."""

    def __init__(self, issuer: str, clock: Clock) -> None:
        self._issuer = issuer
        self._clock = clock
        self._address: str | None = None
        self._known: KeySet | None = None
        self._failed_at: float | None = None
        """When the last fetch failed; None if it succeeded."""
        self._fetching = threading.Lock()
        self._waiting = threading.Semaphore(MAX_WAITING)

    def key(self, key_id: str) -> PyJWK:
        """Return the key with this id.

        Raises:
            TokenRefused: the issuer does not publish such a key.
            HttpProblem: 503, the issuer cannot be reached.
        """
        if self._is_due(key_id):
            if self._fetching.acquire(blocking=False):
                self._fetch(key_id)
            elif self._found(key_id) is None:
                self._wait()
        key = self._found(key_id)
        if key is not None:
            return key
        if self._failed_at is not None or self._age() >= USABLE_SECONDS:
            raise _unavailable()
        raise TokenRefused

    def fresh(self) -> KeySet | None:
        """Return the keys if they are still fresh, otherwise None."""
        known = self._known
        return None if known is None or self._age() >= FRESH_SECONDS else known

    def _found(self, key_id: str) -> PyJWK | None:
        known = self._known
        return None if known is None or self._age() >= USABLE_SECONDS else known.keys.get(key_id)

    def _age(self) -> float:
        return float("inf") if self._known is None else self._clock() - self._known.fetched_at

    def _is_due(self, key_id: str) -> bool:
        """Whether the keys must be fetched for a token that names this key."""
        if self._failed_at is not None and self._clock() - self._failed_at < RETRY_SECONDS:
            return False
        return self._age() >= (COOLDOWN_SECONDS if self._found(key_id) is None else FRESH_SECONDS)

    def _fetch(self, key_id: str) -> None:
        """Fetch the keys, unless another thread has just done so, and release the lock, which the caller holds."""
        try:
            if self._is_due(key_id):
                self._known = KeySet(self._published(), self._clock())
                self._failed_at = None
        except FETCH_ERRORS:
            self._failed_at = self._clock()
            self._address = None  # the issuer may have changed the address
        finally:
            self._fetching.release()

    def _wait(self) -> None:
        """Wait until the fetch of another thread has ended."""
        if not self._waiting.acquire(blocking=False):
            raise _unavailable()
        try:
            with self._fetching:
                pass
        finally:
            self._waiting.release()

    def _published(self) -> dict[str, PyJWK]:
        if self._address is None:
            self._address = self._discovered()
        found = key_set(fetch_document(self._address))
        return {key.key_id: key for key in found if key.key_id and key.public_key_use in ("sig", None)}

    def _discovered(self) -> str:
        """Return the address at which the issuer publishes its keys."""
        found = fetch_document(self._issuer.rstrip("/") + DISCOVERY)
        if found["issuer"] != self._issuer:
            raise ValueError("The configuration belongs to another issuer.")
        return checked_address(found["jwks_uri"])


def checked_address(url: str) -> str:
    """Return the URL, if responses from it can be trusted.

    Raises:
        OperationError: the URL is neither https nor of this machine.
    """
    parts = urlsplit(url)
    if parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or "")):
        return url
    raise OperationError(f"{url!r} cannot be trusted with tokens.", hint="Give an https:// URL.")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirects: only the original address was checked."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Do not follow the redirect."""


def fetch_document(
    url: str, *, form: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the JSON object at a checked URL of an issuer; with a form, post the form and return the response.

    Raises:
        OSError: or any other of `FETCH_ERRORS`.
    """
    content = None if form is None else urlencode(form).encode()
    request = urllib.request.Request(url, content, dict(headers or {}))  # noqa: S310 - the address was checked
    try:
        with urllib.request.build_opener(_NoRedirects()).open(request, timeout=TIMEOUT_SECONDS) as response:
            content = response.read(MAX_BYTES + 1)
    except urllib.error.HTTPError as error:
        error.close()
        raise
    if len(content) > MAX_BYTES:
        raise ValueError("The document is too long.")
    document = json.loads(content)
    if not isinstance(document, dict):
        raise ValueError("The document is not an object.")  # noqa: TRY004 - received data is wrong, not an argument
    return document


def _unavailable() -> HttpProblem:
    detail = "The keys of the token issuer cannot be fetched."
    return HttpProblem(503, "issuer_unavailable", detail, hint="Try again.", headers=RETRY_LATER)
