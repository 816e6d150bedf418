"""AWS over HTTP: credentials, signing, connections and retries, for the remote store, SQS and functions."""

from partita._aws._api_client import ApiCall, ApiClient
from partita._aws._credentials import (
    Credentials,
    CredentialSource,
    GivenCredentials,
    botocore_session,
    require_botocore,
)
from partita._aws._endpoints import ITEMS, QUEUES, SECRETS, STREAMS, Api, find_endpoints, is_local
from partita._aws._failures import IteratorExpired
from partita._aws._given import source_of
from partita._aws._http_transport import HttpTransport
from partita._aws._runner import Calls, Runner
from partita._aws._s3 import REFUSED_BY_S3, S3Access
from partita._aws._transport import Limits, Transport

__all__ = [
    "ITEMS",
    "QUEUES",
    "REFUSED_BY_S3",
    "SECRETS",
    "STREAMS",
    "Api",
    "ApiCall",
    "ApiClient",
    "Calls",
    "CredentialSource",
    "Credentials",
    "GivenCredentials",
    "HttpTransport",
    "IteratorExpired",
    "Limits",
    "Runner",
    "S3Access",
    "Transport",
    "botocore_session",
    "find_endpoints",
    "is_local",
    "require_botocore",
    "source_of",
]
