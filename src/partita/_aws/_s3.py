"""Access to buckets in S3, or in a server with the same protocol, with credentials from the usual chain."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from partita._aws._credentials import Credentials, GivenCredentials, botocore_session, require_botocore
from partita._aws._endpoints import is_local
from partita._aws._given import source_of
from partita.errors import OperationError
from partita.runtime import Clock

_ANY_REGION: Final = "us-east-1"
REFUSED_BY_S3: Final = frozenset(
    (
        "AccessDenied",
        "403",
        "InvalidAccessKeyId",
        "SignatureDoesNotMatch",
        "ExpiredToken",
        "InvalidToken",
        "TokenRefreshRequired",
    )
)
"""Error codes of responses that refuse the credentials."""


class S3Access:
    """Access to a bucket: one client, and the credentials that it and Delta sign with."""

    def __init__(
        self,
        endpoint: str | None,
        region: str | None,
        profile: str | None,
        credentials: GivenCredentials | None,
        clock: Clock,
    ) -> None:
        require_botocore()
        if endpoint is not None and urlsplit(endpoint).scheme not in ("http", "https"):
            raise OperationError(
                f"{endpoint!r} is not the URL of an endpoint.", hint="Write it as http://127.0.0.1:9000."
            )
        self._given_endpoint, self._given_region, self._profile = endpoint, region, profile
        self._credentials, self._clock = credentials, clock
        self._signed_by: Credentials | None = None
        self._made: Any = None
        self._source: Any = None

    def client(self) -> Any:
        """Return a botocore client with the credentials that are valid now."""
        current = self._current()
        if self._made is None or current != self._signed_by:
            self._made, self._signed_by = self._make(current), current
        return self._made

    def options(self) -> dict[str, str]:
        """Return the same access as options for Delta."""
        current, client = self._current(), self.client()
        endpoint = client.meta.endpoint_url
        options = {
            "AWS_ACCESS_KEY_ID": current.access_key,
            "AWS_SECRET_ACCESS_KEY": current.secret_key,
            "AWS_REGION": client.meta.region_name,
            "aws_conditional_put": "etag",
        }
        if current.session_token is not None:
            options["AWS_SESSION_TOKEN"] = current.session_token
        if not endpoint.endswith(("amazonaws.com", "amazonaws.com.cn")):
            options |= {"AWS_ENDPOINT_URL": endpoint, "AWS_ALLOW_HTTP": str(endpoint.startswith("http:")).lower()}
        return options

    def client_error(self) -> type[Exception]:
        """Return the exception type that botocore raises for an error response."""
        from botocore.exceptions import ClientError  # noqa: PLC0415 - of the extra `aws`

        error: type[Exception] = ClientError
        return error

    def _current(self) -> Credentials:
        if self._source is None:
            endpoint = self._given_endpoint or self._make(Credentials("unused", "unused")).meta.endpoint_url
            self._source = source_of(self._credentials, self._profile, self._clock, is_local=is_local(endpoint))
        current: Credentials = self._source.ready() or self._source.load()
        return current

    def _make(self, credentials: Credentials) -> Any:
        from botocore.config import Config  # noqa: PLC0415 - of the extra `aws`
        from botocore.exceptions import BotoCoreError  # noqa: PLC0415

        try:
            session = botocore_session(self._profile, is_local=True)
            region = self._given_region or session.get_config_variable("region") or _ANY_REGION
            return session.create_client(
                "s3",
                region_name=region,
                endpoint_url=self._given_endpoint,
                aws_access_key_id=credentials.access_key,
                aws_secret_access_key=credentials.secret_key,
                aws_session_token=credentials.session_token,
                config=Config(retries={"mode": "standard"}, connect_timeout=5, read_timeout=20),
            )
        except (BotoCoreError, ValueError) as error:
            shown = " ".join(str(error).split())
            raise OperationError(f"The bucket cannot be reached: {shown}") from error
