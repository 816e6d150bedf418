"""With a key, only what was signed with it, and lately, is executed."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError
from tests.wire.support import connected, http, serving
from tests.wire.test_boto3 import connect

from partita import EmbeddedStore
from partita.wire import AccessKey
from partita.wire._faults import Fault
from partita.wire._signature import SignedRequest, check_signature

KEY = AccessKey("local", "a-long-secret")

# The example of AWS's documentation of Signature Version 4: GET https://iam.amazonaws.com/?Action=ListUsers…
EXAMPLE = SignedRequest(
    "GET",
    "/?Action=ListUsers&Version=2010-05-08",
    {
        "host": "iam.amazonaws.com",
        "content-type": "application/x-www-form-urlencoded; charset=utf-8",
        "x-amz-date": "20150830T123600Z",
        "authorization": "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, "
        "SignedHeaders=content-type;host;x-amz-date, "
        "Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
    },
    b"",
)
EXAMPLE_KEY = AccessKey("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
EXAMPLE_TIME = 1_440_938_160.0


def test_the_documented_example_is_accepted() -> None:
    check_signature(EXAMPLE, EXAMPLE_KEY, EXAMPLE_TIME)


@pytest.mark.parametrize(("late", "message"), [(901.0, "Signature expired"), (-901.0, "Signature not yet current")])
def test_what_was_signed_at_another_time_is_refused(late: float, message: str) -> None:
    with pytest.raises(Fault, match=message):
        check_signature(EXAMPLE, EXAMPLE_KEY, EXAMPLE_TIME + late)


def test_another_body_is_refused() -> None:
    changed = SignedRequest(EXAMPLE.method, EXAMPLE.path, EXAMPLE.headers, b"{}")
    with pytest.raises(Fault, match="does not match"):
        check_signature(changed, EXAMPLE_KEY, EXAMPLE_TIME)


@pytest.mark.parametrize(
    ("key", "secret", "code"),
    [
        ("local", "a-long-secret", None),
        ("local", "another", "InvalidSignatureException"),
        ("someone", "a-long-secret", "UnrecognizedClientException"),
    ],
)
def test_boto3_is_let_in_with_the_right_key_alone(
    store: EmbeddedStore, key: str, secret: str, code: str | None
) -> None:
    with serving(store, key=KEY) as address:
        client = connect("dynamodb", address, key, secret)
        if code is None:
            assert client.list_tables()["TableNames"] == []
        else:
            with pytest.raises(ClientError) as failure:
                client.list_tables()
            assert code == failure.value.response["Error"]["Code"]
        client.close()


def test_what_is_not_signed_is_refused(store: EmbeddedStore) -> None:
    with serving(store, key=KEY) as address, connected(address) as client:
        client.send(http("ListTables", b"{}"))
        status, _, body = client.receive()
    assert (status, body["__type"]) == (400, "com.amazon.coral.service#MissingAuthenticationTokenException")
