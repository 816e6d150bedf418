"""How `partita serve` lets people sign in at its pages."""

from __future__ import annotations

import click
import pytest

from partita.cli.serving._sign_in import sign_in_of
from partita.http import Identity, Issuer

pytestmark = pytest.mark.req("X16")

OWN = Identity(b"k" * 32)
ISSUER = Issuer("https://login.example", audience="partita")


@pytest.mark.parametrize("demo", [None, False, True])
@pytest.mark.parametrize("is_loopback", [True, False])
def test_one_click_is_for_this_machine_alone(demo: bool | None, is_loopback: bool) -> None:  # noqa: FBT001 - parameters
    if demo and not is_loopback:
        with pytest.raises(click.UsageError, match="this machine alone"):
            sign_in_of(OWN, None, demo, is_loopback=is_loopback)
        return
    sign_in = sign_in_of(OWN, None, demo, is_loopback=is_loopback)
    assert (sign_in.demo is not None) == (is_loopback and demo is not False)
    assert sign_in.client is None


def test_with_an_issuer_there_is_no_demo_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARTITA_CLIENT_SECRET", "secret")
    sign_in = sign_in_of(ISSUER, "pages", None, is_loopback=True)
    assert sign_in.demo is None
    assert sign_in.client is not None
    assert (sign_in.client.client_id, sign_in.issuer_name) == ("pages", "login.example")
    with pytest.raises(click.UsageError, match="--issuer"):
        sign_in_of(ISSUER, "pages", True, is_loopback=True)


def test_an_issuer_that_knows_no_client_of_ours_takes_tokens_alone() -> None:
    sign_in = sign_in_of(Issuer("https://login.example", any_audience=True), None, None, is_loopback=True)
    assert (sign_in.demo, sign_in.client) == (None, None)
