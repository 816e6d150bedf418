"""The keys that an issuer of tokens publishes: fetched by one thread at a time, and rarely, whatever tokens say.

| the key that a token names | what happens |
| --- | --- |
| known, and young | it is used |
| known, and old | one thread fetches, the others use it meanwhile |
| not known | one thread fetches, a few wait for that, the others are told to try again |
| not known just after a fetch | nobody fetches: the key does not exist, or the issuer is away |
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
"""Older keys are not used, even where they cannot be fetched again."""
COOLDOWN_SECONDS: Final = 30.0
"""For so long after a fetch no unknown key causes another."""
RETRY_SECONDS: Final = 5.0
"""For so long after a fetch that failed there is no other."""
MAX_WAITING: Final = 8
"""So many threads may wait for the fetch of another: a server has 40, and needs them for its work."""
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
"""What can go wrong when a document of an issuer is fetched."""


class KeySet(Struct, frozen=True):
    """The keys of one fetch, by their names."""

    keys: dict[str, PyJWK]
    fetched_at: float


class PublishedKeys:
    """The keys of one issuer. Safe for any number of threads."""

    def __init__(self, issuer: str, clock: Clock) -> None:
        self._issuer = issuer
        self._clock = clock
        self._address: str | None = None
        self._known: KeySet | None = None
        self._failed_at: float | None = None
        """When the last fetch failed; None where it did not."""
        self._fetching = threading.Lock()
        self._waiting = threading.Semaphore(MAX_WAITING)

    def key(self, key_id: str) -> PyJWK:
        """The key of a name.

        Raises:
            TokenRefused: the issuer does not publish it.
            HttpProblem: 503, the issuer cannot be asked.
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
        """The keys, if they need not be fetched again yet."""
        known = self._known
        return None if known is None or self._age() >= FRESH_SECONDS else known

    def _found(self, key_id: str) -> PyJWK | None:
        known = self._known
        return None if known is None or self._age() >= USABLE_SECONDS else known.keys.get(key_id)

    def _age(self) -> float:
        return float("inf") if self._known is None else self._clock() - self._known.fetched_at

    def _is_due(self, key_id: str) -> bool:
        """Whether it is time to fetch the keys, for a token that names this one."""
        if self._failed_at is not None and self._clock() - self._failed_at < RETRY_SECONDS:
            return False
        return self._age() >= (COOLDOWN_SECONDS if self._found(key_id) is None else FRESH_SECONDS)

    def _fetch(self, key_id: str) -> None:
        """Fetch the keys, with the lock, which is released; unless another thread did so just before."""
        try:
            if self._is_due(key_id):
                self._known = KeySet(self._published(), self._clock())
                self._failed_at = None
        except FETCH_ERRORS:
            self._failed_at = self._clock()
            self._address = None  # it may have moved
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
        """Where the issuer publishes its keys."""
        found = fetch_document(self._issuer.rstrip("/") + DISCOVERY)
        if found["issuer"] != self._issuer:
            raise ValueError("The configuration is of another issuer.")
        return checked_address(found["jwks_uri"])


def checked_address(url: str) -> str:
    """The URL, if what it gives can be trusted.

    Raises:
        OperationError: it is neither https nor of this machine.
    """
    parts = urlsplit(url)
    if parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or "")):
        return url
    raise OperationError(f"{url!r} cannot be trusted with tokens.", hint="Give an https:// URL.")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """An address was checked; where it sends us was not."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follow none."""


def fetch_document(
    url: str, *, form: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The JSON object at a URL of an issuer, which was checked; with a form, the response to it.

    Raises:
        OSError: as `FETCH_ERRORS` lists, with the others.
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
        raise ValueError("The document is not an object.")  # noqa: TRY004 - of what was received, not of a call
    return document


def _unavailable() -> HttpProblem:
    detail = "The issuer of tokens cannot be asked for its keys."
    return HttpProblem(503, "issuer_unavailable", detail, hint="Try again.", headers=RETRY_LATER)
