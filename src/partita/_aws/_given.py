"""Converts the credentials that a caller passes: a session, credentials, a function, or None."""

from __future__ import annotations

from partita._aws._credentials import (
    ANYONE,
    AwsCredentials,
    AwsSession,
    ChainCredentials,
    Credentials,
    CredentialSource,
    FixedCredentials,
    GivenCredentials,
    OwnCredentials,
)
from partita._aws._renewed import RenewedCredentials
from partita.errors import OperationError
from partita.runtime import Clock


def source_of(given: GivenCredentials | None, profile: str | None, clock: Clock, *, is_local: bool) -> CredentialSource:
    """Return the source for the given credentials, or else the chain; a local server accepts a fallback key.

    Raises:
        OperationError: the given value cannot be used as credentials.
    """
    fallback = ANYONE if is_local else None
    if given is None:
        return ChainCredentials(profile, fallback)
    if isinstance(given, Credentials):
        return FixedCredentials(given)
    if isinstance(given, AwsSession):
        return ChainCredentials(None, fallback, given)
    if isinstance(given, AwsCredentials):
        return ChainCredentials(None, fallback, OwnCredentials(given))
    if isinstance(given, CredentialSource):
        return given
    if callable(given):
        return RenewedCredentials(given, clock)
    hint = "Pass Credentials, a session of botocore or boto3, its credentials, or a function that returns Credentials."
    raise OperationError(f"A value of type {type(given).__name__} cannot be used as credentials.", hint=hint)
