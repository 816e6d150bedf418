"""Credentials: given keys, or those that botocore's chain finds and renews (profiles, SSO, roles, IMDS)."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from partita.errors import AccessDenied, OperationError

HINT = "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, choose a profile, or pass `credentials`."


class Credentials(Struct, frozen=True):
    """An access key. Its secret parts never appear in a `repr`, error or log."""

    access_key: str
    secret_key: str
    session_token: str | None = None
    expires_at: float | None = None
    """When the key expires, in seconds since 1970; None if it never does, or if that is unknown."""

    def __repr__(self) -> str:
        return f"Credentials(access_key={self.access_key!r})"


ANYONE: Final = Credentials("local", "local")
"""Signs requests to a server on this machine if there are no credentials."""


@runtime_checkable
class CredentialSource(Protocol):
    """Provides the current credentials."""

    def ready(self) -> Credentials | None:
        """Return the credentials if they are loaded and still valid for a while; this never waits."""
        ...

    def load(self) -> Credentials:
        """Return the credentials, renewed if that is due; this may use the network.

        Raises:
            AccessDenied: there are no credentials.
        """
        ...

    def forget(self) -> None:
        """Find new credentials next time, because the endpoint reported that these have expired."""
        ...


@runtime_checkable
class AwsSession(Protocol):
    """A session of botocore or boto3."""

    def get_credentials(self) -> Any:
        """Return botocore's credentials, or None."""
        ...


@runtime_checkable
class AwsCredentials(Protocol):
    """Credentials as botocore's sessions return them; they renew themselves."""

    def get_frozen_credentials(self) -> Any:
        """Return the current access key, its secret and its token."""
        ...


GivenCredentials: TypeAlias = Credentials | CredentialSource | AwsSession | AwsCredentials | Callable[[], Credentials]
"""The values that a store or queue accepts as credentials."""


class FixedCredentials:
    """Credentials that were given; they are never renewed."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials

    def ready(self) -> Credentials:
        """Return the credentials that were given."""
        return self._credentials

    def load(self) -> Credentials:
        """Return the same credentials."""
        return self._credentials

    def forget(self) -> None:
        """Do nothing: there are no other credentials."""


class ChainCredentials:
    """Credentials that botocore's chain finds, and renews before they expire. A `session` has its own chain.

    `fallback` is used if the chain finds nothing: a local server requires a signature, but not a particular key.
    """

    def __init__(
        self, profile: str | None, fallback: Credentials | None = None, session: AwsSession | None = None
    ) -> None:
        self._profile = profile
        self._fallback = fallback
        self._session = session
        self._found: Any = None

    def ready(self) -> Credentials | None:
        """Return the credentials that were found, unless their renewal is due."""
        found = self._found
        if found is None or (hasattr(found, "refresh_needed") and found.refresh_needed()):
            return None
        return _frozen(found)

    def load(self) -> Credentials:
        """Return credentials from the chain.

        Raises:
            AccessDenied: the chain finds none, or cannot renew them.
        """
        require_botocore()
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - of the extra `aws`

        try:
            found = self._found or self._ask_the_chain()
            credentials = _frozen(found) if found is not None else self._fallback
        except (BotoCoreError, ClientError) as error:
            raise AccessDenied(f"The credentials cannot be loaded: {error}", hint=HINT) from error
        if credentials is None:
            raise AccessDenied("No credentials were found.", hint=HINT)
        self._found = found if found is not None else _Frozen(credentials)
        return credentials

    def forget(self) -> None:
        """Run the whole chain again next time."""
        self._found = None

    def _ask_the_chain(self) -> Any:
        session = self._session or botocore_session(self._profile, is_local=self._fallback is not None)
        return session.get_credentials()


class _Frozen:
    """The fallback, with the interface of botocore's credentials."""

    def __init__(self, credentials: Credentials) -> None:
        self.access_key = credentials.access_key
        self.secret_key = credentials.secret_key
        self.token = credentials.session_token

    def get_frozen_credentials(self) -> _Frozen:
        return self


class OwnCredentials:
    """botocore's credentials, with the interface of a session."""

    def __init__(self, credentials: AwsCredentials) -> None:
        self._credentials = credentials

    def get_credentials(self) -> AwsCredentials:
        """Return the credentials."""
        return self._credentials


def _frozen(found: Any) -> Credentials:
    frozen = found.get_frozen_credentials()
    return Credentials(frozen.access_key, frozen.secret_key, frozen.token)


def botocore_session(profile: str | None, *, is_local: bool = False) -> Any:
    """Return a botocore session; for a server on this machine, one that does not query the EC2 metadata service.

    Raises:
        OperationError: there is no such profile, or the configuration cannot be read.
    """
    require_botocore()
    from botocore.exceptions import BotoCoreError, ProfileNotFound  # noqa: PLC0415 - of the extra `aws`
    from botocore.session import Session  # noqa: PLC0415 - of the extra `aws`

    session = Session(profile=profile)
    try:
        session.get_scoped_config()
    except ProfileNotFound as error:
        raise _no_such_profile(session, is_given=profile is not None) from error
    except BotoCoreError as error:
        raise OperationError(f"The AWS configuration cannot be read: {error}.") from error
    if region := os.environ.get("AWS_REGION"):  # AWS's other SDKs read it; botocore reads only AWS_DEFAULT_REGION
        session.set_config_variable("region", region)
    if is_local:
        session.get_component("credential_provider").remove("iam-role")
    return session


def _no_such_profile(session: Any, *, is_given: bool) -> OperationError:
    places = [Path(session.get_config_variable(name)).expanduser() for name in ("config_file", "credentials_file")]
    read = " nor ".join(f"{path}{'' if path.exists() else ' (which does not exist)'}" for path in places)
    origin = "" if is_given else f" that {_origin_of(session.profile)} names"
    known = ", ".join(session.available_profiles)
    hint = f"Choose one of {known}." if known else "No profile is configured there."
    return OperationError(f"The AWS profile {session.profile!r}{origin} is in neither {read}.", hint=hint)


def _origin_of(profile: str) -> str:
    names = ("AWS_DEFAULT_PROFILE", "AWS_PROFILE")  # in the order in which botocore reads them
    return next((name for name in names if os.environ.get(name) == profile), names[-1])


def require_botocore() -> None:
    """Check that the extra `aws` is installed.

    Raises:
        OperationError: it is not installed.
    """
    if find_spec("botocore") is None:
        hint = "Install the extra: pip install 'partita[aws]'. Or pass both an endpoint and credentials."
        raise OperationError("botocore, which finds regions and credentials, is not installed.", hint=hint)
