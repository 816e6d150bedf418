"""Checking that a request was signed with the key that the server knows (AWS Signature Version 4)."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from msgspec import Struct

from partita.wire._faults import Fault

ALGORITHM: Final = "AWS4-HMAC-SHA256"
SKEW_SECONDS: Final = 900
_STAMP: Final = "%Y%m%dT%H%M%SZ"


class AccessKey(Struct, frozen=True):
    """An access key and its secret."""

    id: str
    secret: str


class SignedRequest(Struct, frozen=True):
    """What a signature is about; header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


def check_signature(request: SignedRequest, key: AccessKey, now: float) -> None:
    """Refuse what is not signed with the key, or was signed long ago.

    Raises:
        Fault: with the type that AWS gives.
    """
    authorization = request.headers.get("authorization", "")
    if not authorization.startswith(ALGORITHM):
        raise Fault("MissingAuthenticationTokenException", "Request is missing Authentication Token")
    parts: dict[str, str] = {}
    for part in authorization.removeprefix(ALGORITHM).split(","):
        name, _, value = part.strip().partition("=")
        parts[name] = value
    stamp = request.headers.get("x-amz-date", "")
    _check_time(stamp, now)
    access, *scope = parts.get("Credential", "").split("/")
    if not hmac.compare_digest(access.encode(), key.id.encode()):
        raise Fault("UnrecognizedClientException", "The security token included in the request is invalid.")
    if len(scope) != 4:  # noqa: PLR2004 - date, region, service and terminator
        raise Fault("InvalidSignatureException", "Credential should be scoped correctly.")
    expected = _signature(request, parts.get("SignedHeaders", ""), tuple(scope), stamp, key)
    if not hmac.compare_digest(expected.encode(), parts.get("Signature", "").encode()):
        message = "The request signature we calculated does not match the signature you provided."
        raise Fault("InvalidSignatureException", message)


def _check_time(stamp: str, now: float) -> None:
    try:
        at = datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise Fault("InvalidSignatureException", "The request has no valid X-Amz-Date.") from None
    shown, minutes = datetime.fromtimestamp(now, UTC).strftime(_STAMP), SKEW_SECONDS // 60
    if at < now - SKEW_SECONDS:
        message = f"Signature expired: {stamp} is now earlier than {shown} - {minutes} min."
        raise Fault("InvalidSignatureException", message)
    if at > now + SKEW_SECONDS:
        message = f"Signature not yet current: {stamp} is still later than {shown} + {minutes} min."
        raise Fault("InvalidSignatureException", message)


def _signature(request: SignedRequest, signed: str, scope: tuple[str, ...], stamp: str, key: AccessKey) -> str:
    names = signed.split(";")
    headers = "".join(f"{name}:{' '.join(request.headers.get(name, '').split())}\n" for name in names)
    path, _, query = request.path.partition("?")
    digest = hashlib.sha256(request.body).hexdigest()
    canonical = "\n".join((request.method, path or "/", query, headers, signed, digest))
    hashed = hashlib.sha256(canonical.encode()).hexdigest()
    text = "\n".join((ALGORITHM, stamp, "/".join(scope), hashed))
    return hmac.new(_signing_key(key.secret, scope), text.encode(), hashlib.sha256).hexdigest()


@lru_cache(maxsize=64)
def _signing_key(secret: str, scope: tuple[str, ...]) -> bytes:
    derived = f"AWS4{secret}".encode()
    for part in scope:
        derived = hmac.digest(derived, part.encode(), "sha256")
    return derived
