"""What a caller may sign with, and what becomes of it: a session, credentials, a function, or nothing."""

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
    """Where credentials come from: what is given, else the chain; on this machine anyone's will do.

    Raises:
        OperationError: what is given cannot be signed with.
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
    hint = "Give Credentials, a session of botocore or boto3, its credentials, or a function that gives Credentials."
    raise OperationError(f"{type(given).__name__} is nothing to sign with.", hint=hint)
