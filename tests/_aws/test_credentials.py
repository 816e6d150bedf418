"""Credentials, regions and endpoints: those that are given, and those that botocore's chain finds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from botocore.credentials import RefreshableCredentials

from partita._aws import _credentials
from partita._aws._credentials import ChainCredentials
from partita._aws._endpoints import ITEMS, STREAMS, endpoints_at, endpoints_of_region
from partita.errors import AccessDenied, OperationError
from partita.store._open import open_store
from partita.store.embedded import EmbeddedStore
from partita.store.remote import Credentials, RemoteStore

FALLBACK = Credentials("local", "local")


@pytest.fixture(autouse=True)
def nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The configuration folder of an environment without AWS settings."""
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    return tmp_path


def test_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token")
    chain = ChainCredentials(None)
    assert chain.ready() is None
    assert chain.load() == Credentials("key", "secret", "token")
    assert chain.ready() == Credentials("key", "secret", "token")


def test_a_profile_is_asked(nothing_else: Path) -> None:
    text = "[work]\naws_access_key_id = key\naws_secret_access_key = secret\n"
    (nothing_else / "credentials").write_text(text, encoding="utf-8")
    assert ChainCredentials("work").load() == Credentials("key", "secret")


def test_without_any_the_hint_says_what_to_do() -> None:
    with pytest.raises(AccessDenied, match="AWS_ACCESS_KEY_ID"):
        ChainCredentials(None).load()


def test_a_profile_that_is_not_there_is_named() -> None:
    with pytest.raises(OperationError, match="The AWS profile 'no-such-profile' is in neither"):
        ChainCredentials("no-such-profile").load()


@pytest.mark.parametrize("name", ["AWS_PROFILE", "AWS_DEFAULT_PROFILE"])
def test_a_profile_of_the_environment_that_is_not_there_is_named_with_the_files(
    nothing_else: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "nosuch")
    (nothing_else / "config").write_text("[profile work]\nregion = eu-north-1\n[profile home]\n")
    with pytest.raises(OperationError) as caught:
        RemoteStore(region="eu-central-1")
    assert str(caught.value) == (
        f"The AWS profile 'nosuch' that {name} names is in neither {nothing_else / 'config'} nor "
        f"{nothing_else / 'credentials'} (which does not exist). Choose one of work, home."
    )


def test_a_configuration_that_cannot_be_read_is_named(nothing_else: Path) -> None:
    (nothing_else / "config").write_text("[[broken")
    with pytest.raises(OperationError, match=r"The AWS configuration cannot be read: .*config\.$"):
        RemoteStore(region="eu-central-1")


def test_for_a_server_on_this_machine_anyone_signs() -> None:
    chain = ChainCredentials(None, FALLBACK)
    assert chain.load() == FALLBACK
    assert chain.ready() == FALLBACK


def test_what_the_endpoint_takes_for_expired_is_looked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "old")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    chain = ChainCredentials(None)
    chain.load()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "new")
    chain.forget()
    assert (chain.ready(), chain.load().access_key) == (None, "new")


def test_credentials_about_to_expire_are_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fresh(name: str, minutes: int) -> dict[str, str]:
        expiry = (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat()
        return {"access_key": name, "secret_key": "s", "token": "t", "expiry_time": expiry}

    found = RefreshableCredentials.create_from_metadata(fresh("old", 1), lambda: fresh("new", 60), "test")
    chain = ChainCredentials(None)
    monkeypatch.setattr(chain, "_ask_the_chain", lambda: found)
    assert chain.load().access_key == "new"
    assert chain.ready() == Credentials("new", "s", "t")


def test_without_botocore_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_credentials, "find_spec", lambda _: None)
    for make in (ChainCredentials(None).load, RemoteStore):
        with pytest.raises(OperationError, match=r"partita\[aws\]"):
            make()


REGIONS = {
    "ap-southeast-2": "dynamodb.ap-southeast-2.amazonaws.com",
    "cn-north-1": "dynamodb.cn-north-1.amazonaws.com.cn",
}


@pytest.mark.parametrize(("region", "host"), REGIONS.items())
def test_a_region_has_its_endpoints(region: str, host: str) -> None:
    endpoints = endpoints_of_region(region, None)
    assert (endpoints[ITEMS].url, endpoints[STREAMS].url) == (f"https://{host}/", f"https://streams.{host}/")


@pytest.mark.parametrize("name", ["AWS_REGION", "AWS_DEFAULT_REGION"])
def test_the_environment_may_name_region_and_endpoint(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "eu-west-1")
    assert RemoteStore().endpoint == "https://dynamodb.eu-west-1.amazonaws.com/"
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:9000")
    assert RemoteStore().endpoint == "http://127.0.0.1:9000/"


def test_the_region_of_all_sdks_goes_before_that_of_botocore_and_of_the_profile(
    nothing_else: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (nothing_else / "config").write_text("[profile work]\nregion = eu-north-1\n")
    assert RemoteStore(profile="work").endpoint == "https://dynamodb.eu-north-1.amazonaws.com/"
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_REGION", "eu-west-3")
    assert RemoteStore(profile="work").endpoint == "https://dynamodb.eu-west-3.amazonaws.com/"
    assert RemoteStore(region="eu-south-1").endpoint == "https://dynamodb.eu-south-1.amazonaws.com/"


def test_without_a_region_the_hint_says_what_to_do() -> None:
    with pytest.raises(OperationError, match="AWS_REGION"):
        RemoteStore()


@pytest.mark.parametrize(
    "url", ["127.0.0.1:8000", "http://", "ftp://host", "http://user:secret@host/", "http://host/?x=1"]
)
def test_a_url_that_cannot_be_used_is_refused_without_its_secrets(url: str) -> None:
    with pytest.raises(OperationError) as raised:
        endpoints_at(url, "eu-west-1")
    assert "secret" not in str(raised.value)


URLS = {
    "http://host": ("http://host/", "host"),
    "http://host:80/": ("http://host/", "host"),
    "https://host:8443/path": ("https://host:8443/path", "host:8443"),
    "http://[::1]:8000": ("http://[::1]:8000/", "[::1]:8000"),
}


@pytest.mark.parametrize(("url", "expected"), URLS.items())
def test_the_host_is_signed_as_it_is_sent(url: str, expected: tuple[str, str]) -> None:
    endpoint = endpoints_at(url, "eu-west-1")[ITEMS]
    assert (endpoint.url, endpoint.signer._host) == expected


def test_an_address_names_the_store(tmp_path: Path) -> None:
    remote = [open_store(address) for address in ("http://127.0.0.1:8000", "dynamodb://eu-west-1")]
    assert [repr(store) for store in remote] == [
        "RemoteStore('http://127.0.0.1:8000/')",
        "RemoteStore('https://dynamodb.eu-west-1.amazonaws.com/')",
    ]
    with open_store(str(tmp_path / "data.db")) as embedded:  # type: ignore[attr-defined]
        assert isinstance(embedded, EmbeddedStore)


@pytest.mark.parametrize("address", ["dynamodb://eu-west-1/table", "dynamodb://eu-west-1?table=t", "ftp://host"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(OperationError):
        open_store(address)
