"""With a key, a server executes only recently signed requests, and refuses others before their body if possible."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError
from tests.wire.support import connected, http, serving
from tests.wire.test_boto3 import connect
from tests.wire.unplugged import without_sockets

from partita import EmbeddedStore
from partita.wire import AccessKey
from partita.wire._faults import Fault
from partita.wire._signature import Authorization, check_authorization, check_body, check_signature

KEY = AccessKey("local", "a-long-secret")
BODY = b"{}"

# The example in AWS's documentation of Signature Version 4: GET https://iam.amazonaws.com/?Action=ListUsers…
EXAMPLE = Authorization(
    "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
    "GET\n/\nAction=ListUsers&Version=2010-05-08\n"
    "content-type:application/x-www-form-urlencoded; charset=utf-8\nhost:iam.amazonaws.com\n"
    "x-amz-date:20150830T123600Z\n\ncontent-type;host;x-amz-date",
    "20150830T123600Z",
    ("20150830", "us-east-1", "iam", "aws4_request"),
)
EXAMPLE_KEY = AccessKey("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
NO_BODY = hashlib.sha256(b"").hexdigest()


def test_the_documented_example_is_accepted() -> None:
    check_signature(EXAMPLE, NO_BODY, EXAMPLE_KEY)


def test_the_documented_example_of_another_body_is_refused() -> None:
    with pytest.raises(Fault, match=r"does not match .* Consult the service documentation for details"):
        check_body(EXAMPLE, bytearray(b"{}"), EXAMPLE_KEY)


def signed(
    body: bytes = BODY,
    *,
    key: str = KEY.id,
    secret: str = KEY.secret,
    service: str = "dynamodb",
    region: str = "us-east-1",
    names: tuple[str, ...] = ("x-amz-target",),
    **headers: str,
) -> dict[str, str]:
    """Return the headers of a signed ListTables request; `x-amz-target` is signed only if it is in `names`."""
    target = {"x-amz-target": "DynamoDB_20120810.ListTables"}
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    chosen = {name: value for name, value in target.items() if name in names}
    request = AWSRequest("POST", "http://localhost/", data=body, headers={**chosen, **given})
    SigV4Auth(Credentials(key, secret), service, region).add_auth(request)
    lower = {name.lower(): value for name, value in request.headers.items()}
    return {"host": "localhost", **target, **lower}


def over_the_wire(headers: dict[str, str], length: int) -> bytes:
    """Return the head of a request with a body of this length."""
    lines = [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join(["POST / HTTP/1.1", *lines, f"content-length: {length}", "", ""]).encode()


def replaced(old: str, new: str) -> Callable[[], dict[str, str]]:
    """Return a function that signs a request and then replaces a text in its authorization."""

    def headers() -> dict[str, str]:
        right = signed()
        stamp = right["x-amz-date"]
        before, after = old.format(day=stamp[:8]), new.format(day=stamp[:8])
        assert before in right["authorization"]
        return {**right, "authorization": right["authorization"].replace(before, after)}

    return headers


def without(name: str) -> Callable[[], dict[str, str]]:
    return lambda: {each: value for each, value in signed().items() if each != name}


def dated(stamp: str) -> Callable[[], dict[str, str]]:
    return lambda: {**signed(), "x-amz-date": stamp}


HASH = hashlib.sha256(BODY).hexdigest()
INVALID = "InvalidSignatureException"
REFUSED_BY_THE_HEAD: dict[str, tuple[Callable[[], dict[str, str]], str]] = {
    "not signed": (without("authorization"), "MissingAuthenticationTokenException"),
    "other algorithm": (replaced("AWS4-HMAC-SHA256", "AWS4-HMAC-SHA1"), "MissingAuthenticationTokenException"),
    "longer algorithm": (replaced("AWS4-HMAC-SHA256", "AWS4-HMAC-SHA256X"), "MissingAuthenticationTokenException"),
    "nothing but the algorithm": (
        lambda: {**signed(), "authorization": "AWS4-HMAC-SHA256 x"},
        "IncompleteSignatureException",
    ),
    "other key": (lambda: signed(key="other"), "UnrecognizedClientException"),
    "no signature": (replaced("Signature=", "Nothing="), "IncompleteSignatureException"),
    "no date": (without("x-amz-date"), "IncompleteSignatureException"),
    "another date": (lambda: {**without("x-amz-date")(), "date": "today"}, INVALID),
    "long ago": (dated("20200101T000000Z"), INVALID),
    "far ahead": (dated("29990101T000000Z"), INVALID),
    "no date at all": (dated("tomorrow"), INVALID),
    "scope of another day": (replaced("/{day}/", "/20200101/"), INVALID),
    "scope of another service": (lambda: signed(service="s3"), INVALID),
    "scope without a region": (replaced("/us-east-1/", "//"), INVALID),
    "scope with a strange region": (lambda: signed(region="us east"), INVALID),
    "scope with another end": (replaced("aws4_request", "aws5_request"), INVALID),
    "scope that is too short": (replaced("/us-east-1/dynamodb", "/us-east-1"), INVALID),
    "target not signed": (lambda: signed(names=()), INVALID),
    "host not signed": (replaced("host;", ""), INVALID),
    "date not signed": (replaced("x-amz-date;", ""), INVALID),
    "wrong signature of a known body": (lambda: signed(secret="other", x_amz_content_sha256=HASH), INVALID),
}


@pytest.mark.parametrize("case", REFUSED_BY_THE_HEAD)
def test_a_body_that_nobody_vouches_for_is_not_read(store: EmbeddedStore, case: str) -> None:
    headers, kind = REFUSED_BY_THE_HEAD[case]
    server, (client,) = without_sockets(store, 1, key=KEY)
    client.receive(over_the_wire(headers(), 17_000_000))
    assert client.statuses() == [400]
    assert f"com.amazon.coral.service#{kind}".encode() in client.transport.written
    assert client.is_ended
    client.receive(b" " * 100_000)
    assert server.connections.budget.used == 0


@pytest.mark.parametrize(
    "headers",
    [signed, lambda: signed(region="localhost"), lambda: signed(x_amz_content_sha256=HASH)],
    ids=["usual", "any region", "with the hash of the body"],
)
def test_a_signed_request_is_executed(store: EmbeddedStore, headers: Callable[[], dict[str, str]]) -> None:
    _, (client,) = without_sockets(store, 1, key=KEY)
    client.receive(over_the_wire(headers(), len(BODY)) + BODY)
    assert client.statuses() == [200]


@pytest.mark.parametrize(
    "headers",
    [
        signed,
        lambda: signed(secret="other"),
        lambda: signed(x_amz_content_sha256=HASH),
        lambda: signed(x_amz_content_sha256="UNSIGNED-PAYLOAD"),
    ],
    ids=["usual", "other secret", "with the hash of the body", "unsigned body"],
)
def test_another_body_is_refused(store: EmbeddedStore, headers: Callable[[], dict[str, str]]) -> None:
    _, (client,) = without_sockets(store, 1, key=KEY)
    client.receive(over_the_wire(headers(), 3) + b"{ }")
    assert client.statuses() == [400]
    assert b"InvalidSignatureException" in client.transport.written


EXPIRED = "20150830T123600Z is now earlier than 20150830T123601Z (20150830T125101Z - 15 min.)"
EARLY = "20150830T123600Z is still later than 20150830T123559Z (20150830T122059Z + 15 min.)"


@pytest.mark.parametrize(
    ("late", "message"),
    [(901.0, f"Signature expired: {EXPIRED}"), (-901.0, f"Signature not yet current: {EARLY}")],
    ids=["expired", "early"],
)
def test_what_was_signed_at_another_time_is_refused(late: float, message: str) -> None:
    headers = {
        "host": "localhost",
        "x-amz-date": "20150830T123600Z",
        "authorization": "AWS4-HMAC-SHA256 Credential=local/20150830/us-east-1/dynamodb/aws4_request, "
        "SignedHeaders=host;x-amz-date, Signature=0",
    }
    signed_at = 1_440_938_160.0
    assert check_authorization("POST", "/", headers, KEY, signed_at).signature == "0"
    with pytest.raises(Fault, match=f"^{re.escape(message)}$"):
        check_authorization("POST", "/", headers, KEY, signed_at + late)


def test_the_parts_that_an_authorization_lacks_are_named() -> None:
    given = "AWS4-HMAC-SHA256 Credential=local"
    message = (
        "Authorization header requires 'Signature' parameter. Authorization header requires 'SignedHeaders' parameter. "
        f"Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. Authorization={given}"
    )
    with pytest.raises(Fault, match=f"^{re.escape(message)}$") as fault:
        check_authorization("POST", "/", {"authorization": given}, KEY, 0.0)
    assert fault.value.kind == "IncompleteSignatureException"


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


def test_the_client_of_streams_is_let_in(store: EmbeddedStore) -> None:
    with serving(store, key=KEY) as address:
        client = connect("dynamodbstreams", address, KEY.id, KEY.secret)
        assert client.list_streams()["Streams"] == []
        client.close()


def test_what_is_not_signed_is_refused(store: EmbeddedStore) -> None:
    with serving(store, key=KEY) as address, connected(address) as client:
        client.send(http("ListTables", b"{}"))
        status, _, body = client.receive()
    assert (status, body["__type"]) == (400, "com.amazon.coral.service#MissingAuthenticationTokenException")
