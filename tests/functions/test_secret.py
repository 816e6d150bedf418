"""The secret that functions share, read from Secrets Manager."""

from __future__ import annotations

import base64
from pathlib import Path

import boto3
import msgspec
import pytest
from tests.referee import ministack

from partita._aws._transport import HttpRequest, HttpResponse
from partita.cli._data_folder import DataFolder
from partita.errors import OperationError, PartitaError
from partita.functions._secret import read_secret, secret_for
from partita.store.remote import Credentials

KEYS = Credentials("test", "test")


class Answering:
    """A transport that returns the same response to each call, and records the calls."""

    def __init__(self, status: int, body: bytes) -> None:
        self.response = HttpResponse(status, body, lambda _: None)
        self.calls: list[HttpRequest] = []

    def send(self, request: HttpRequest) -> HttpResponse:
        self.calls.append(request)
        return self.response

    async def send_async(self, request: HttpRequest) -> HttpResponse:
        return self.send(request)

    def close(self) -> None:
        pass


def test_a_secret_is_asked_for_by_its_id() -> None:
    answering = Answering(200, msgspec.json.encode({"SecretString": "x" * 40, "Name": "n"}))
    assert read_secret("arn:x", "http://127.0.0.1:1", credentials=KEYS, transport=answering) == b"x" * 40
    (call,) = answering.calls
    assert msgspec.json.decode(call.body) == {"SecretId": "arn:x"}
    assert call.headers["X-Amz-Target"] == "secretsmanager.GetSecretValue"
    assert call.headers["Content-Type"] == "application/x-amz-json-1.1"


def test_a_secret_may_be_binary() -> None:
    key = bytes(range(32))
    answering = Answering(200, msgspec.json.encode({"SecretBinary": base64.b64encode(key).decode()}))
    assert read_secret("x", "http://127.0.0.1:1", credentials=KEYS, transport=answering) == key


@pytest.mark.parametrize("value", [{}, {"SecretString": "short"}])
def test_a_short_secret_is_refused(value: dict[str, str]) -> None:
    answering = Answering(200, msgspec.json.encode(value))
    with pytest.raises(OperationError, match="at least 32"):
        read_secret("x", "http://127.0.0.1:1", credentials=KEYS, transport=answering)


def test_a_secret_that_is_not_there_is_an_error() -> None:
    answering = Answering(400, b'{"__type": "ResourceNotFoundException", "message": "no secret"}')
    with pytest.raises(PartitaError, match="no secret"):
        read_secret("x", "http://127.0.0.1:1", credentials=KEYS, transport=answering)


def test_a_folder_with_the_same_key_has_the_same_secrets(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.secret("tokens")
    key = (tmp_path / "secret.key").read_bytes()
    assert secret_for("tokens", key) == folder.secret("tokens")


@pytest.mark.slow
def test_another_server_gives_it_too(tmp_path: Path) -> None:
    with ministack(tmp_path, "secretsmanager") as url:
        keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
        client = boto3.client("secretsmanager", endpoint_url=url, region_name="us-east-1", **keys)
        client.create_secret(Name="partita", SecretString="y" * 64)
        assert read_secret("partita", url, credentials=KEYS) == b"y" * 64
