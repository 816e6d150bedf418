"""Checks that a request was signed with the server's access key (AWS Signature Version 4).

The head is checked as soon as it has arrived, so that a client without the key cannot make the server buffer a body.
The signature also covers the body. If the head has the hash of the body, the signature is checked together with the
head, otherwise when the body is complete.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from msgspec import Struct

from partita.wire._faults import Fault

ALGORITHM: Final = "AWS4-HMAC-SHA256"
SKEW_SECONDS: Final = 900
_STAMP: Final = "%Y%m%dT%H%M%SZ"
_SIGNED: Final = ("host", "x-amz-date", "x-amz-target")
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_REGION: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NO_MATCH: Final = (
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key "
    "and signing method. Consult the service documentation for details."
)
_PARTS: Final = ("Credential", "Signature", "SignedHeaders")


class AccessKey(Struct, frozen=True):
    """An access key and its secret."""

    id: str
    secret: str


class Authorization(Struct, frozen=True):
    """A signature, and the signed data without the body."""

    signature: str
    canonical: str
    """The canonical request up to the hash of the body."""
    stamp: str
    scope: tuple[str, ...]
    """Date, region, service and terminator."""
    body_hash: str | None = None
    """The hash from the head, if it has one; the signature was already checked with it."""


def check_authorization(
    method: str, path: str, headers: Mapping[str, str], key: AccessKey, now: float
) -> Authorization:
    """Refuse a request whose head is not signed with the key, or was signed long ago. `path` may include a query.

    Raises:
        Fault: with AWS's error type.
    """
    given = headers.get("authorization", "")
    if not given.startswith(f"{ALGORITHM} "):
        raise Fault("MissingAuthenticationTokenException", "Request is missing Authentication Token")
    parts: dict[str, str] = {}
    for part in given.removeprefix(ALGORITHM).split(","):
        name, _, value = part.strip().partition("=")
        parts[name] = value
    _check_complete(given, parts, headers)
    stamp, signed = headers.get("x-amz-date", ""), parts.get("SignedHeaders", "")
    _check_time(stamp, now)
    access, *scope = parts.get("Credential", "").split("/")
    if not hmac.compare_digest(access.encode(), key.id.encode()):
        raise Fault("UnrecognizedClientException", "The security token included in the request is invalid.")
    _check_scope(scope, stamp)
    _check_signed(signed.split(";"), headers)
    canonical = _canonical(method, path, headers, signed)
    body_hash = headers.get("x-amz-content-sha256", "")
    known = body_hash if _HASH.fullmatch(body_hash) else None
    authorization = Authorization(parts.get("Signature", ""), canonical, stamp, tuple(scope), known)
    if known is not None:
        check_signature(authorization, known, key)
    return authorization


def check_body(authorization: Authorization, body: bytes | bytearray, key: AccessKey) -> None:
    """Refuse a body that the signature does not cover.

    Raises:
        Fault: with AWS's error type.
    """
    body_hash = hashlib.sha256(body).hexdigest()
    if authorization.body_hash is None:
        check_signature(authorization, body_hash, key)
    elif authorization.body_hash != body_hash:
        raise Fault("InvalidSignatureException", _NO_MATCH)


def check_signature(authorization: Authorization, body_hash: str, key: AccessKey) -> None:
    """Refuse a signature that was not made with the key for a body with this hash.

    Raises:
        Fault: with AWS's error type.
    """
    hashed = hashlib.sha256(f"{authorization.canonical}\n{body_hash}".encode()).hexdigest()
    text = "\n".join((ALGORITHM, authorization.stamp, "/".join(authorization.scope), hashed))
    expected = hmac.new(_signing_key(key.secret, authorization.scope), text.encode(), hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected.encode(), authorization.signature.encode()):
        raise Fault("InvalidSignatureException", _NO_MATCH)


def _check_time(stamp: str, now: float) -> None:
    try:
        at = datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise Fault("InvalidSignatureException", "The request has no valid X-Amz-Date.") from None
    if at < now - SKEW_SECONDS:
        message = f"Signature expired: {stamp} is now earlier than {_shifted(now, '-')}"
        raise Fault("InvalidSignatureException", message)
    if at > now + SKEW_SECONDS:
        message = f"Signature not yet current: {stamp} is still later than {_shifted(now, '+')}"
        raise Fault("InvalidSignatureException", message)


def _shifted(now: float, sign: str) -> str:
    """The first or last accepted time, and how it is computed."""
    bound = now - SKEW_SECONDS if sign == "-" else now + SKEW_SECONDS
    bound_text, now_text = (datetime.fromtimestamp(at, UTC).strftime(_STAMP) for at in (bound, now))
    return f"{bound_text} ({now_text} {sign} {SKEW_SECONDS // 60} min.)"


def _check_complete(given: str, parts: Mapping[str, str], headers: Mapping[str, str]) -> None:
    """Refuse an Authorization header that lacks a part."""
    missing = [f"Authorization header requires '{part}' parameter." for part in _PARTS if not parts.get(part)]
    if "x-amz-date" not in headers and "date" not in headers:
        missing.append("Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.")
    if missing:
        raise Fault("IncompleteSignatureException", f"{' '.join(missing)} Authorization={given}")


def _check_scope(scope: list[str], stamp: str) -> None:
    """Check the credential scope. The server has no region of its own, so it accepts any well-formed one."""
    day = stamp.partition("T")[0]
    match scope:
        case [date, region, "dynamodb", "aws4_request"] if date == day and _REGION.fullmatch(region):
            return
    message = f"Credential should be scoped to the date of the request, a region, dynamodb and aws4_request: {day}/…"
    raise Fault("InvalidSignatureException", message)


def _check_signed(names: list[str], headers: Mapping[str, str]) -> None:
    """Refuse a request that does not sign its host, its date and, if present, its target."""
    for name in _SIGNED:
        is_sent = name in headers or name != "x-amz-target"  # a request without a target executes nothing
        if is_sent and name not in names:
            raise Fault("InvalidSignatureException", f"'{name}' must be a 'SignedHeader' in the AWS Authorization.")


def _canonical(method: str, path: str, headers: Mapping[str, str], signed: str) -> str:
    values = "".join(f"{name}:{' '.join(headers.get(name, '').split())}\n" for name in signed.split(";"))
    path, _, query = path.partition("?")
    return "\n".join((method, path or "/", query, values, signed))


@lru_cache(maxsize=64)
def _signing_key(secret: str, scope: tuple[str, ...]) -> bytes:
    derived = f"AWS4{secret}".encode()
    for part in scope:
        derived = hmac.digest(derived, part.encode(), "sha256")
    return derived
