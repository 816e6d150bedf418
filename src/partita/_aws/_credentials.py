"""Who signs: keys that are given, or those that botocore's chain finds and renews (profiles, SSO, roles, IMDS)."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from partita.errors import AccessDenied, OperationError

HINT = "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, choose a profile, or give `credentials`."


class Credentials(Struct, frozen=True):
    """An access key. Its secret parts are in no `repr`, error or log."""

    access_key: str
    secret_key: str
    session_token: str | None = None
    expires_at: float | None = None
    """When it ends, in seconds since 1970; None where it does not, or nobody knows."""

    def __repr__(self) -> str:
        return f"Credentials(access_key={self.access_key!r})"


ANYONE: Final = Credentials("local", "local")
"""Signs for a server on this machine where there are no credentials."""


@runtime_checkable
class CredentialSource(Protocol):
    """Gives the current credentials."""

    def ready(self) -> Credentials | None:
        """The credentials where they are at hand and valid for a while; never waits."""
        ...

    def load(self) -> Credentials:
        """The credentials, renewed where that is due; may ask the network.

        Raises:
            AccessDenied: there are none.
        """
        ...

    def forget(self) -> None:
        """The endpoint says that these have expired: find new ones next time."""
        ...


@runtime_checkable
class AwsSession(Protocol):
    """A session of botocore's or boto3's."""

    def get_credentials(self) -> Any:
        """Credentials of botocore's, or None."""
        ...


@runtime_checkable
class AwsCredentials(Protocol):
    """Credentials as botocore's sessions give them, which renew themselves."""

    def get_frozen_credentials(self) -> Any:
        """The access key, its secret and its token as they are now."""
        ...


GivenCredentials: TypeAlias = Credentials | CredentialSource | AwsSession | AwsCredentials | Callable[[], Credentials]
"""What a store or queue may be given to sign with."""


class FixedCredentials:
    """Credentials that were given; nobody renews them."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials

    def ready(self) -> Credentials:
        """The credentials that were given."""
        return self._credentials

    def load(self) -> Credentials:
        """The same."""
        return self._credentials

    def forget(self) -> None:
        """There are no others."""


class ChainCredentials:
    """What botocore's chain finds, and renews before it expires. `session` has a chain of its own.

    `fallback` signs where the chain finds nothing: a local server wants a signature, whoever made it.
    """

    def __init__(
        self, profile: str | None, fallback: Credentials | None = None, session: AwsSession | None = None
    ) -> None:
        self._profile = profile
        self._fallback = fallback
        self._session = session
        self._found: Any = None

    def ready(self) -> Credentials | None:
        """The credentials that were found, unless they are to be renewed."""
        found = self._found
        if found is None or (hasattr(found, "refresh_needed") and found.refresh_needed()):
            return None
        return _frozen(found)

    def load(self) -> Credentials:
        """Ask the chain.

        Raises:
            AccessDenied: it finds none, or cannot renew them.
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
        """Ask the whole chain again next time."""
        self._found = None

    def _ask_the_chain(self) -> Any:
        session = self._session or botocore_session(self._profile, is_local=self._fallback is not None)
        return session.get_credentials()


class _Frozen:
    """The fallback in the shape of botocore's credentials."""

    def __init__(self, credentials: Credentials) -> None:
        self.access_key = credentials.access_key
        self.secret_key = credentials.secret_key
        self.token = credentials.session_token

    def get_frozen_credentials(self) -> _Frozen:
        return self


class OwnCredentials:
    """Credentials of botocore's in the shape of a session."""

    def __init__(self, credentials: AwsCredentials) -> None:
        self._credentials = credentials

    def get_credentials(self) -> AwsCredentials:
        """The credentials."""
        return self._credentials


def _frozen(found: Any) -> Credentials:
    frozen = found.get_frozen_credentials()
    return Credentials(frozen.access_key, frozen.secret_key, frozen.token)


def botocore_session(profile: str | None, *, is_local: bool = False) -> Any:
    """A session of botocore's; for a server on this machine, one that does not ask the metadata service of EC2."""
    require_botocore()
    from botocore.session import Session  # noqa: PLC0415 - of the extra `aws`

    session = Session(profile=profile)
    if is_local:
        session.get_component("credential_provider").remove("iam-role")
    return session


def require_botocore() -> None:
    """Check that the extra `aws` is installed.

    Raises:
        OperationError: it is not.
    """
    if find_spec("botocore") is None:
        hint = "Install the extra: pip install 'partita[aws]'. Or give both an endpoint and credentials."
        raise OperationError("botocore, which finds regions and credentials, is not installed.", hint=hint)
