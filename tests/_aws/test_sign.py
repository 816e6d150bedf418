"""Signatures: the same as botocore's for any request, and computed without deriving the key twice."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from unittest.mock import patch

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as BotocoreCredentials
from hypothesis import given
from hypothesis import strategies as st

from partita._aws._sign import Signer
from partita.store.remote import Credentials

PRINTABLE = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=60)


def botocores(host: str, region: str, target: str, body: bytes, keys: Credentials, now: float) -> str:
    """Return the Authorization header that botocore computes for the same request."""
    headers = {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": target}
    request = AWSRequest("POST", f"http://{host}/", headers=headers, data=body)
    instant = datetime.fromtimestamp(int(now), UTC)
    with patch("botocore.auth.get_current_datetime", return_value=instant):
        SigV4Auth(
            BotocoreCredentials(keys.access_key, keys.secret_key, keys.session_token), "dynamodb", region
        ).add_auth(request)
    header: str = request.headers["Authorization"]
    return header


@given(
    body=st.binary(max_size=300),
    secret=PRINTABLE,
    token=st.none() | PRINTABLE,
    now=st.floats(0, 4_000_000_000),
    region=st.sampled_from(["us-east-1", "ap-southeast-2"]),
    host=st.sampled_from(["127.0.0.1:8000", "dynamodb.us-east-1.amazonaws.com"]),
)
def test_it_is_the_same_as_botocores(
    body: bytes, secret: str, token: str | None, now: float, region: str, host: str
) -> None:
    keys = Credentials("AKID", secret, token)
    ours = Signer(region, host).headers("DynamoDB_20120810.GetItem", body, keys, now)
    assert ours["Authorization"] == botocores(host, region, "DynamoDB_20120810.GetItem", body, keys, now)
    assert ours.get("X-Amz-Security-Token") == token


def test_another_day_another_secret_and_another_second_are_noticed() -> None:
    signer = Signer("us-east-1", "h")
    instants = [(Credentials("a", "one"), 0.0), (Credentials("a", "two"), 0.0), (Credentials("a", "two"), 86_400.0)]
    again = [signer.headers("t", b"", keys, now) for keys, now in instants]
    fresh = [Signer("us-east-1", "h").headers("t", b"", keys, now) for keys, now in instants]
    assert again == fresh
    assert again[-1]["X-Amz-Date"] == time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(86_400))
