"""Keys in AWS KMS, which moto emulates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from moto import mock_aws
from tests.encryption.sample import ADA, PEOPLE, person

from partita import EmbeddedStore, Session, insert
from partita.encryption import KmsKeys
from partita.errors import AccessDenied, FieldSealed, StoreUnavailable, UnknownKey


@pytest.fixture
def kms(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    with mock_aws():
        yield boto3.client("kms", region_name="eu-central-1")


def new_key(kms: Any) -> str:
    key: str = kms.create_key()["KeyMetadata"]["KeyId"]
    return key


def test_a_field_is_sealed_with_a_key_of_kms(kms: Any, partita_store: EmbeddedStore) -> None:
    keys = KmsKeys(new_key(kms), kms)
    db = Session(partita_store, keys=keys)
    db.create_tables([PEOPLE])
    saved = db.run(insert(ADA))
    assert Session(partita_store, keys=KmsKeys("alias/any", kms)).run(person("ada")) == saved


def test_a_client_is_made_as_every_aws_tool_does(kms: Any) -> None:
    keys = KmsKeys(new_key(kms), region="eu-central-1")
    made = keys.new_key()
    assert (len(made.key), keys.unwrap(made.wrapped)) == (64, made.key)


def test_the_region_of_the_client_may_be_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    with mock_aws():
        assert KmsKeys("1234")._client.meta.region_name == "eu-west-1"


def test_what_kms_did_not_wrap_is_unknown(kms: Any, partita_store: EmbeddedStore) -> None:
    keys = KmsKeys(new_key(kms), kms)
    with pytest.raises(UnknownKey, match="not sealed with a KMS key"):
        keys.unwrap(b"L\x011")


class Failing:
    """A client of KMS whose calls fail."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def generate_data_key(self, **_: Any) -> None:
        raise self._error

    decrypt = generate_data_key


def refused(code: str) -> Failing:
    return Failing(ClientError({"Error": {"Code": code, "Message": "no"}}, "Decrypt"))


@pytest.mark.parametrize(
    ("client", "error"),
    [
        (refused("InvalidCiphertextException"), UnknownKey),
        (refused("IncorrectKeyException"), UnknownKey),
        (refused("AccessDeniedException"), AccessDenied),
        (refused("KMSInternalException"), StoreUnavailable),
        (Failing(EndpointConnectionError(endpoint_url="https://kms")), StoreUnavailable),
    ],
    ids=["ciphertext", "key", "rights", "trouble", "network"],
)
def test_errors_of_kms_are_errors_of_ours(client: Failing, error: type[Exception]) -> None:
    with pytest.raises(error):
        KmsKeys("key", client).unwrap(b"K1")


def test_a_field_of_an_unknown_key_stays_sealed(kms: Any, partita_store: EmbeddedStore) -> None:
    db = Session(partita_store, keys=KmsKeys(new_key(kms), kms))
    db.create_tables([PEOPLE])
    db.run(insert(ADA))
    other = Session(partita_store, keys=KmsKeys("key", refused("NotFoundException")))
    with pytest.raises(FieldSealed, match="KMS does not have the key"):
        other.run(person("ada"))
