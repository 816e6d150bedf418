"""Credentials that a caller passes: a session, its credentials, a profile with a role, or a function."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import boto3
import botocore.session
import pytest
from botocore.credentials import RefreshableCredentials
from tests.store.remote.scripted import NOW, ScriptedStore, ScriptedTransport, error_response, http_response

from partita._aws import GivenCredentials, source_of
from partita._aws._renewed import EARLY_SECONDS, RETRY_SECONDS, RenewedCredentials
from partita.errors import AccessDenied, OperationError, QueueNotFound
from partita.queue import GetStats, open_queue
from partita.queue.sqs import SqsQueue
from partita.store import GetItem, open_store
from partita.store.remote import Credentials, RemoteStore

SECRET = "wJalrXUtnFEMI-K7MDENG-bPxRfiCYEXAMPLEKEY"
REQUEST = GetItem("orders", {"pk": "1"})


@pytest.fixture(autouse=True)
def configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The configuration folder of an environment without AWS settings."""
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    return tmp_path


def botocore_session(region: str | None = None) -> botocore.session.Session:
    session = botocore.session.Session()
    session.set_credentials("AKIDGIVEN", SECRET, "token")
    if region is not None:
        session.set_config_variable("region", region)
    return session


def boto3_session() -> boto3.Session:
    return boto3.Session("AKIDGIVEN", SECRET, region_name="eu-north-1")


def signer(transport: ScriptedTransport) -> list[str]:
    """Return the access keys that signed the sent requests."""
    return [call.headers["Authorization"].partition("Credential=")[2].partition("/")[0] for call in transport.sent]


GIVEN: dict[str, Callable[[], GivenCredentials]] = {
    "a session of botocore": botocore_session,
    "a session of boto3": boto3_session,
    "the credentials of a session": lambda: botocore_session().get_credentials(),
    "a function": lambda: lambda: Credentials("AKIDGIVEN", SECRET),
    "credentials": lambda: Credentials("AKIDGIVEN", SECRET),
}


@pytest.mark.parametrize("make", GIVEN.values(), ids=GIVEN.keys())
def test_what_is_given_signs(make: Callable[[], GivenCredentials]) -> None:
    scripted = ScriptedStore(http_response(), http_response(), credentials=make())
    scripted.store.execute(REQUEST)
    asyncio.run(scripted.store.execute_async(REQUEST))
    assert signer(scripted.transport) == ["AKIDGIVEN"] * 2


@pytest.mark.parametrize("make", GIVEN.values(), ids=GIVEN.keys())
def test_queues_take_the_same(make: Callable[[], GivenCredentials]) -> None:
    transport = ScriptedTransport(error_response("QueueDoesNotExist"))
    queue = SqsQueue("work", "http://127.0.0.1:4566", credentials=make(), transport=transport)
    with pytest.raises(QueueNotFound):
        queue.execute(GetStats())
    assert signer(transport) == ["AKIDGIVEN"]


@pytest.mark.parametrize("make", GIVEN.values(), ids=GIVEN.keys())
def test_no_secret_is_in_a_repr(make: Callable[[], GivenCredentials]) -> None:
    store = RemoteStore("http://127.0.0.1:8000", credentials=make())
    source = source_of(make(), None, lambda: NOW, is_local=False)
    assert source.load().access_key == "AKIDGIVEN"
    assert SECRET not in repr((store, source, vars(source), source.load()))


def test_a_session_knows_its_region() -> None:
    stores = [RemoteStore(credentials=session) for session in (botocore_session("eu-west-1"), boto3_session())]
    assert [store.endpoint for store in stores] == [
        "https://dynamodb.eu-west-1.amazonaws.com/",
        "https://dynamodb.eu-north-1.amazonaws.com/",
    ]
    assert SqsQueue("work", credentials=boto3_session()).endpoint == "https://sqs.eu-north-1.amazonaws.com/"


def test_at_an_endpoint_the_region_of_the_session_is_signed() -> None:
    transport = ScriptedTransport(http_response())
    RemoteStore("http://127.0.0.1:8000", credentials=boto3_session(), transport=transport).execute(REQUEST)
    assert "/eu-north-1/dynamodb/" in transport.sent[0].headers["Authorization"]


def test_an_address_takes_credentials_too() -> None:
    store = open_store("dynamodb://", credentials=boto3_session())
    queue = open_queue("sqs://", "work", credentials=boto3_session())
    assert [repr(store), repr(queue)] == [
        "RemoteStore('https://dynamodb.eu-north-1.amazonaws.com/')",
        "SqsQueue('work', 'https://sqs.eu-north-1.amazonaws.com/')",
    ]


def test_a_session_without_credentials_is_refused() -> None:
    with pytest.raises(AccessDenied, match="No credentials were found"):
        source_of(botocore.session.Session(), None, lambda: NOW, is_local=False).load()


@pytest.mark.parametrize("given", [SECRET, {"aws_secret_access_key": SECRET}, 7])
def test_what_cannot_sign_is_refused_without_being_repeated(given: Any) -> None:
    with pytest.raises(OperationError, match="cannot be used as credentials") as raised:
        RemoteStore("http://127.0.0.1:8000", credentials=given)
    assert SECRET not in str(raised.value)


def test_credentials_of_botocore_renew_themselves() -> None:
    def fresh(name: str, minutes: int) -> dict[str, str]:
        expiry = (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat()
        return {"access_key": name, "secret_key": "s", "token": "t", "expiry_time": expiry}

    given = RefreshableCredentials.create_from_metadata(fresh("old", 1), lambda: fresh("new", 60), "test")
    scripted = ScriptedStore(http_response(), credentials=given)
    scripted.store.execute(REQUEST)
    assert signer(scripted.transport) == ["new"]


# --- a function ---


class Function:
    """Returns numbered credentials that are valid for some seconds, or raises `error`."""

    def __init__(self, seconds: float | None = 3_600.0) -> None:
        self.now = NOW
        self.seconds = seconds
        self.calls = 0
        self.error: Exception | None = None
        self.source = RenewedCredentials(self, lambda: self.now)

    def __call__(self) -> Credentials:
        self.calls += 1
        if self.error is not None:
            raise self.error
        return Credentials(f"key-{self.calls}", SECRET, None, None if self.seconds is None else self.now + self.seconds)


def renewed(function: Function) -> str:
    """Return the access key that signs now."""
    return (function.source.ready() or function.source.load()).access_key


def test_a_function_is_asked_again_before_its_credentials_end() -> None:
    function = Function()
    assert [renewed(function), renewed(function)] == ["key-1", "key-1"]
    function.now += 3_600 - EARLY_SECONDS - 1
    assert renewed(function) == "key-1"
    function.now += 1
    assert renewed(function) == "key-2"


def test_credentials_for_a_short_time_are_used_for_half_of_it() -> None:
    function = Function(seconds=60)
    assert renewed(function) == "key-1"
    function.now += 29
    assert renewed(function) == "key-1"
    function.now += 1
    assert renewed(function) == "key-2"


def test_credentials_without_an_end_are_asked_for_once() -> None:
    function = Function(seconds=None)
    renewed(function)
    function.now += 10**9
    assert (renewed(function), function.calls) == ("key-1", 1)


def test_a_renewal_that_fails_is_tried_again_while_the_credentials_hold() -> None:
    function = Function()
    renewed(function)
    function.now += 3_600 - EARLY_SECONDS
    function.error = RuntimeError(SECRET)
    assert [renewed(function) for _ in range(3)] == ["key-1"] * 3
    assert function.calls == 2
    function.now += RETRY_SECONDS
    function.error = None
    assert renewed(function) == "key-3"


def test_when_they_have_ended_a_failure_is_an_error_without_its_words() -> None:
    function = Function()
    renewed(function)
    function.now += 3_600
    function.error = RuntimeError(SECRET)
    with pytest.raises(AccessDenied, match="failed with RuntimeError") as raised:
        renewed(function)
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize("seconds", [0.0, -1.0])
def test_credentials_that_have_ended_are_refused(seconds: float) -> None:
    with pytest.raises(AccessDenied, match="returned expired credentials"):
        renewed(Function(seconds))


def test_a_function_that_gives_something_else_is_refused() -> None:
    with pytest.raises(AccessDenied, match=r"returned dict\."):
        RenewedCredentials(lambda: {"secret": SECRET}, lambda: NOW).load()  # type: ignore[arg-type, return-value]


def test_what_the_endpoint_calls_expired_is_asked_for_again() -> None:
    function = Function()
    refused = error_response("ExpiredTokenException")
    scripted = ScriptedStore(refused, http_response(), credentials=function)
    scripted.store.execute(REQUEST)
    assert signer(scripted.transport) == ["key-1", "key-2"]


def test_threads_that_need_credentials_at_once_share_one_call() -> None:
    begun, go_on = threading.Event(), threading.Event()
    calls: list[int] = []

    def give() -> Credentials:
        calls.append(1)
        begun.set()
        go_on.wait()
        return Credentials("key", SECRET)

    source = RenewedCredentials(give, lambda: NOW)
    threads = [threading.Thread(target=source.load) for _ in range(4)]
    threads[0].start()
    begun.wait()
    for thread in threads[1:]:
        thread.start()
    go_on.set()
    for thread in threads:
        thread.join()
    assert len(calls) == 1


# --- profiles ---


def test_a_profile_may_be_named_beside_the_address_or_in_it(configuration: Path) -> None:
    (configuration / "config").write_text("[profile work]\nregion = eu-west-3\n", encoding="utf-8")
    stores = [open_store("dynamodb://", profile="work"), open_store("dynamodb://?profile=work", profile="work")]
    assert {repr(store) for store in stores} == {"RemoteStore('https://dynamodb.eu-west-3.amazonaws.com/')"}


@pytest.mark.parametrize("opened", [open_store, lambda address, profile: open_queue(address, "q", profile=profile)])
def test_two_profiles_are_refused(opened: Callable[..., Any]) -> None:
    scheme = "dynamodb" if opened is open_store else "sqs"
    with pytest.raises(OperationError, match="names the profile 'work', but 'home' is given"):
        opened(f"{scheme}://eu-west-1?profile=work", profile="home")


@pytest.mark.parametrize("opened", [open_store, lambda address, profile: open_queue(address, "q", profile=profile)])
def test_a_file_needs_no_profile(opened: Callable[..., Any], tmp_path: Path) -> None:
    with pytest.raises(OperationError, match="does not use a profile or credentials"):
        opened(str(tmp_path / "data"), profile="work")


def test_a_profile_that_is_not_there_is_named() -> None:
    with pytest.raises(OperationError, match="no-such-profile"):
        RemoteStore(profile="no-such-profile")


class Sts(BaseHTTPRequestHandler):
    """Returns numbered credentials of an assumed role; the first ones expire in a minute."""

    calls: list[bytes]

    def do_POST(self) -> None:
        self.calls.append(self.rfile.read(int(self.headers["Content-Length"])))
        minutes = 1 if len(self.calls) == 1 else 60
        expiration = (datetime.now(UTC) + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")
        body = f"""<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>
            <Credentials><AccessKeyId>ASIAROLE{len(self.calls)}</AccessKeyId><SecretAccessKey>{SECRET}</SecretAccessKey>
            <SessionToken>token</SessionToken><Expiration>{expiration}</Expiration></Credentials>
            </AssumeRoleResult></AssumeRoleResponse>""".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - named so by http.server
        pass


@pytest.fixture
def sts(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """The requests that a fake STS server has received."""
    calls: list[bytes] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Served", (Sts,), {"calls": calls}))
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield calls
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_profile_may_assume_a_role_which_is_renewed(configuration: Path, sts: list[bytes]) -> None:
    (configuration / "credentials").write_text(
        f"[base]\naws_access_key_id = AKIDBASE\naws_secret_access_key = {SECRET}\n", encoding="utf-8"
    )
    role = "arn:aws:iam::123456789012:role/orders"
    (configuration / "config").write_text(
        f"[profile work]\nrole_arn = {role}\nsource_profile = base\nregion = eu-west-1\n", encoding="utf-8"
    )
    source = source_of(None, "work", lambda: NOW, is_local=False)
    assert (source.load().access_key, source.ready()) == ("ASIAROLE1", None)  # these are about to expire
    assert source.load().access_key == "ASIAROLE2"
    assert source.ready() == Credentials("ASIAROLE2", SECRET, "token")
    assert [b"role%2Forders" in call for call in sts] == [True, True]
