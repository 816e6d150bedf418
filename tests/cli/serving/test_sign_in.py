"""The ways to sign in that `partita serve` offers on its pages."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import click
import pytest

from partita.cli.serving._sign_in import sign_in_link, sign_in_of
from partita.http import Identity, Issuer, Role
from partita.service import Installation

pytestmark = pytest.mark.req("X16")

OWN = Identity(b"k" * 32)


def installed(folder: Path = Path("nowhere"), *, is_loopback: bool = True) -> Installation:
    def none(*_: object) -> NoReturn:
        raise AssertionError

    return Installation(folder, none, none, "http://127.0.0.1:1" if is_loopback else "http://203.0.113.7:1")


ISSUER = Issuer("https://login.example", audience="partita")


@pytest.mark.parametrize("demo", [None, False, True])
@pytest.mark.parametrize("is_loopback", [True, False])
def test_one_click_is_for_this_machine_alone(demo: bool | None, is_loopback: bool) -> None:  # noqa: FBT001 - parameters
    if demo and not is_loopback:
        with pytest.raises(click.UsageError, match="only possible on this machine"):
            sign_in_of(OWN, None, demo, installed(is_loopback=is_loopback))
        return
    sign_in = sign_in_of(OWN, None, demo, installed(is_loopback=is_loopback))
    assert (sign_in.demo is not None) == (is_loopback and demo is not False)
    assert sign_in.client is None


def test_with_an_issuer_there_is_no_demo_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARTITA_CLIENT_SECRET", "secret")
    sign_in = sign_in_of(ISSUER, "pages", None, installed(is_loopback=True))
    assert sign_in.demo is None
    assert sign_in.client is not None
    assert (sign_in.client.client_id, sign_in.issuer_name) == ("pages", "login.example")
    with pytest.raises(click.UsageError, match="--issuer"):
        sign_in_of(ISSUER, "pages", True, installed(is_loopback=True))


def test_an_issuer_that_knows_no_client_of_ours_takes_tokens_alone() -> None:
    sign_in = sign_in_of(Issuer("https://login.example", any_audience=True), None, None, installed())
    assert (sign_in.demo, sign_in.client) == (None, None)


@pytest.mark.req("X20")
def test_the_link_has_a_code_that_is_never_sent_and_is_valid_once(tmp_path: Path) -> None:
    sign_in = sign_in_of(OWN, None, None, installed(tmp_path, is_loopback=True))
    link = sign_in_link(sign_in, "http://127.0.0.1:8321")
    assert link is not None
    page, _, code = link.partition("#sign-in=")
    assert page == "http://127.0.0.1:8321/"
    other = sign_in_of(OWN, None, None, installed(tmp_path, is_loopback=True))  # as in another process
    assert other.demo is not None
    assert other.demo.links is not None
    assert other.demo.links.take(code) == Role.USER
    assert sign_in_link(sign_in, "http://127.0.0.1:8321") != link


@pytest.mark.req("X20")
def test_where_one_click_does_not_sign_in_there_is_no_link(tmp_path: Path) -> None:
    ways = [
        sign_in_of(OWN, None, False, installed(tmp_path, is_loopback=True)),
        sign_in_of(OWN, None, None, installed(tmp_path, is_loopback=False)),
        sign_in_of(ISSUER, "pages", None, installed(tmp_path, is_loopback=True)),
    ]
    assert [sign_in_link(way, "http://h") for way in ways] == [None, None, None]
    assert list(tmp_path.iterdir()) == []
