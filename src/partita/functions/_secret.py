"""The secret that the functions of one installation share, stored in AWS Secrets Manager."""

from __future__ import annotations

import hashlib
import hmac
from random import SystemRandom
from typing import Final

import msgspec
from msgspec import Struct

from partita._aws import (
    SECRETS,
    ApiCall,
    ApiClient,
    GivenCredentials,
    HttpTransport,
    Limits,
    Runner,
    Transport,
    find_endpoints,
    is_local,
    source_of,
)
from partita.errors import OperationError
from partita.runtime import system_clock

MIN_BYTES: Final = 32


class _SecretValue(Struct, rename="pascal", frozen=True):
    secret_string: str | None = None
    secret_binary: bytes | None = None


def read_secret(
    secret_id: str,
    endpoint: str | None = None,
    *,
    credentials: GivenCredentials | None = None,
    transport: Transport | None = None,
) -> bytes:
    """Return the current value of a secret (`secretsmanager:GetSecretValue`).

    Raises:
        RequestError: the request was refused. StoreUnavailable: Secrets Manager did not respond. OperationError: the
            secret is too short.
    """
    limits = Limits()
    endpoints = find_endpoints(endpoint, None, None, credentials, apis=(SECRETS,))
    source = source_of(credentials, None, system_clock, is_local=is_local(endpoint))
    client = ApiClient(endpoints, source, system_clock, SystemRandom(), limits.tries)
    runner = Runner(transport or HttpTransport(limits), source, None)
    call = ApiCall("GetSecretValue", msgspec.json.encode({"SecretId": secret_id}), repeatable=True, api=SECRETS)
    try:
        found = msgspec.json.decode(runner.run(client.send(call)), type=_SecretValue)
    finally:
        runner.close()
    value = found.secret_binary or (found.secret_string or "").encode()
    if len(value) < MIN_BYTES:
        raise OperationError(f"The secret {secret_id} has {len(value)} bytes; at least {MIN_BYTES} are needed.")
    return value


def secret_for(purpose: str, value: bytes) -> bytes:
    """Derive the secret for one purpose, in the same way as a data folder derives it from its own key."""
    return hmac.digest(value, purpose.encode(), hashlib.sha256)
