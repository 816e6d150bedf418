"""Signature Version 4, as far as the APIs used here need it: one POST with a JSON body and few headers."""

from __future__ import annotations

import hashlib
import hmac
import time
from typing import Final

from partita._aws._credentials import Credentials

ALGORITHM: Final = "AWS4-HMAC-SHA256"
CONTENT_TYPE: Final = "application/x-amz-json-1.0"


class Signer:
    """Signs requests to one endpoint. The signing key of each day is derived once.

    Thread-safe: cached values are replaced as a whole and never modified.
    """

    def __init__(
        self,
        region: str,
        host: str,
        path: str = "/",
        service: str = "dynamodb",
        content_type: str = CONTENT_TYPE,
    ) -> None:
        self._region = region
        self._service = service
        self._host = host
        self._path = path
        self._content_type = content_type
        self._key: tuple[tuple[str, str], bytes] = (("", ""), b"")
        self._stamp: tuple[int, str] = (-1, "")

    def headers(self, target: str, body: bytes, credentials: Credentials, now: float) -> dict[str, str]:
        """Return all headers of the request except `Host`, which the transport adds."""
        stamp = self._timestamp(int(now))
        token = credentials.session_token
        headers = {"Content-Type": self._content_type, "X-Amz-Date": stamp, "X-Amz-Target": target}
        names = "content-type;host;x-amz-date;x-amz-target"
        secure = ""
        if token is not None:
            headers["X-Amz-Security-Token"] = token
            names = "content-type;host;x-amz-date;x-amz-security-token;x-amz-target"
            secure = f"x-amz-security-token:{token}\n"
        canonical = (
            f"POST\n{self._path}\n\ncontent-type:{self._content_type}\nhost:{self._host}\nx-amz-date:{stamp}\n{secure}"
            f"x-amz-target:{target}\n\n{names}\n{hashlib.sha256(body).hexdigest()}"
        )
        scope = f"{stamp[:8]}/{self._region}/{self._service}/aws4_request"
        text = f"{ALGORITHM}\n{stamp}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        signature = hmac.digest(self._signing_key(credentials.secret_key, stamp[:8]), text.encode(), "sha256").hex()
        headers["Authorization"] = (
            f"{ALGORITHM} Credential={credentials.access_key}/{scope}, SignedHeaders={names}, Signature={signature}"
        )
        return headers

    def _timestamp(self, second: int) -> str:
        known, text = self._stamp
        if known != second:
            text = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(second))
            self._stamp = (second, text)
        return text

    def _signing_key(self, secret: str, day: str) -> bytes:
        known, key = self._key
        if known != (secret, day):
            key = f"AWS4{secret}".encode()
            for part in (day, self._region, self._service, "aws4_request"):
                key = hmac.digest(key, part.encode(), "sha256")
            self._key = ((secret, day), key)
        return key
