"""Endpoints: the URL and the signer of each API."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct

from partita._aws._credentials import AwsSession, GivenCredentials, botocore_session
from partita._aws._sign import CONTENT_TYPE, Signer
from partita.errors import OperationError

Api: TypeAlias = Literal["AmazonSQS", "DynamoDB_20120810", "DynamoDBStreams_20120810", "search", "secretsmanager"]
ITEMS: Final = "DynamoDB_20120810"
STREAMS: Final = "DynamoDBStreams_20120810"
SEARCHES: Final = "search"
"""Vector searches: calls of the same API, which AWS serves at another host."""
QUEUES: Final = "AmazonSQS"
SECRETS: Final = "secretsmanager"
TABLES: Final[tuple[Api, ...]] = (ITEMS, SEARCHES, STREAMS)
"""The APIs that a store needs."""

LOCAL_HOSTS: Final = frozenset(("127.0.0.1", "::1", "localhost"))
_USUAL_PORTS: Final = {"http": 80, "https": 443}
_ANY_REGION: Final = "us-east-1"
_SERVICES: Final[Mapping[Api, str]] = {
    ITEMS: "dynamodb",
    SEARCHES: "dynamodb",
    STREAMS: "dynamodbstreams",
    QUEUES: "sqs",
    SECRETS: "secretsmanager",
}
_SIGNED_AS: Final[Mapping[Api, str]] = {**_SERVICES, STREAMS: "dynamodb"}
_MEDIA_TYPES: Final[Mapping[Api, str]] = {SECRETS: "application/x-amz-json-1.1"}
"""The media types of APIs that do not use the default one."""


class Endpoint(Struct, frozen=True):
    """The URL and the signer of one API."""

    url: str
    signer: Signer


Endpoints: TypeAlias = Mapping[Api, Endpoint]


def is_local(url: str | None) -> bool:
    """Whether a URL refers to a server on this machine."""
    return url is not None and urlsplit(url).hostname in LOCAL_HOSTS


def find_endpoints(
    url: str | None,
    region: str | None,
    profile: str | None,
    credentials: GivenCredentials | None,
    apis: Iterable[Api] = TABLES,
) -> Endpoints:
    """Return the endpoints at `url` if it is given, else those of a region, which a session can provide, too.

    Raises:
        OperationError: no region is known, the region does not exist, or the URL cannot be used.
    """
    session = credentials if isinstance(credentials, AwsSession) else None
    if not url:
        return endpoints_of_region(region, profile, apis, session)
    return endpoints_at(url, region or (_region_of(session) if session else None), apis)


def endpoints_at(url: str, region: str | None, apis: Iterable[Api] = TABLES) -> Endpoints:
    """Return the endpoints of a server that serves all the APIs at one URL.

    Raises:
        OperationError: the URL cannot be used.
    """
    region = region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or _ANY_REGION
    return {api: _endpoint(url, region, api) for api in apis}


def endpoints_of_region(
    region: str | None, profile: str | None, apis: Iterable[Api] = TABLES, session: AwsSession | None = None
) -> Endpoints:
    """Return botocore's endpoints for the region, or for that of the environment, the profile or the session.

    Raises:
        OperationError: no region is known, or the region does not exist.
    """
    known: Any = session or botocore_session(profile)
    region = region or _region_of(known)
    if not region:
        hint = "Specify one, as in dynamodb://ap-southeast-2, or set AWS_REGION."
        raise OperationError("No AWS region is known.", hint=hint)
    found: dict[Api, Endpoint] = {}
    for api in apis:
        url = _search_url(found[ITEMS].url) if api == SEARCHES else _regional_url(known, _SERVICES[api], region)
        found[api] = _endpoint(url, region, api)
    return found


def _region_of(session: Any) -> str | None:
    """Return the region of a session: an attribute of a boto3 session, a setting of a botocore session."""
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415 - of the extra `aws`

    try:
        region = session.region_name if hasattr(session, "region_name") else session.get_config_variable("region")
    except BotoCoreError as error:
        raise OperationError(f"The region cannot be found: {error}") from error
    return str(region) if region else None


def _regional_url(session: Any, service: str, region: str) -> str:
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415 - of the extra `aws`

    unused = {"aws_access_key_id": "unused", "aws_secret_access_key": "unused"}  # else it would look for credentials
    make = getattr(session, "create_client", None) or session.client  # the names in botocore and in boto3
    try:
        client = make(service, region_name=region, **unused)
    except (BotoCoreError, ValueError) as error:
        raise OperationError(f"There is no endpoint for the region {region!r}: {error}") from error
    url: str = client.meta.endpoint_url
    client.close()
    return url


def _search_url(url: str) -> str:
    """Return a region's URL for searches, derived from its URL for items by botocore's rules."""
    scheme, _, host = url.partition("://")
    is_regional = host.startswith(("dynamodb.", "dynamodb-fips."))
    return f"{scheme}://search-{host}" if is_regional else url


def _endpoint(url: str, region: str, api: Api) -> Endpoint:
    hint = "Write it as http://127.0.0.1:8000."
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:  # a host or port that cannot be read
        raise OperationError(f"{url!r} is not the URL of an endpoint: {error}.", hint=hint) from None
    if parts.scheme not in _USUAL_PORTS or not parts.hostname:
        raise OperationError(f"{url!r} is not the URL of an endpoint.", hint=hint)
    if parts.username is not None or parts.query or parts.fragment:
        hint = "Specify credentials as for AWS: in the environment, in a profile, or as `credentials`."
        raise OperationError("The URL of an endpoint may contain only scheme, host, port and path.", hint=hint)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    if port not in (None, _USUAL_PORTS[parts.scheme]):
        host = f"{host}:{port}"
    path = parts.path or "/"
    media_type = _MEDIA_TYPES.get(api, CONTENT_TYPE)
    return Endpoint(f"{parts.scheme}://{host}{path}", Signer(region, host, path, _SIGNED_AS[api], media_type))
