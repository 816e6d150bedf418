"""How `partita serve` lets people sign in at its pages."""

from __future__ import annotations

import click
import pytest

from partita.cli.serving._sign_in import check_demo_sign_in, sign_in_of
from partita.http import Identity, Issuer

pytestmark = pytest.mark.req("X16")

OWN = Identity(b"k" * 32)
ISSUER = Issuer("https://login.example", audience="partita")


@pytest.mark.parametrize("demo", [None, False, True])
@pytest.mark.parametrize("on_loopback", [True, False])
def test_one_click_is_for_this_machine_alone(demo: bool | None, on_loopback: bool) -> None:  # noqa: FBT001 - parameters
    sign_in = sign_in_of(OWN, None, demo, on_loopback=on_loopback)
    assert (sign_in.demo is not None) == (on_loopback and demo is not False)
    assert sign_in.client is None


@pytest.mark.parametrize("demo", [None, False, True])
@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "0.0.0.0", "192.0.2.1"])  # noqa: S104 - compared
def test_one_click_that_is_asked_for_beyond_this_machine_is_refused(demo: bool | None, host: str) -> None:  # noqa: FBT001
    if demo and host not in ("127.0.0.1", "::1"):
        with pytest.raises(click.UsageError, match="this machine alone"):
            check_demo_sign_in(demo, has_issuer=False, host=host)
    else:
        check_demo_sign_in(demo, has_issuer=False, host=host)


def test_with_an_issuer_there_is_no_demo_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARTITA_CLIENT_SECRET", "secret")
    sign_in = sign_in_of(ISSUER, "pages", None, on_loopback=True)
    assert sign_in.demo is None
    assert sign_in.client is not None
    assert (sign_in.client.client_id, sign_in.issuer_name) == ("pages", "login.example")
    with pytest.raises(click.UsageError, match="--issuer"):
        check_demo_sign_in(True, has_issuer=True, host="127.0.0.1")


def test_an_issuer_that_knows_no_client_of_ours_takes_tokens_alone() -> None:
    sign_in = sign_in_of(Issuer("https://login.example", any_audience=True), None, None, on_loopback=True)
    assert (sign_in.demo, sign_in.client) == (None, None)
