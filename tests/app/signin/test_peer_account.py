"""Which account a connection on this machine belongs to."""

from __future__ import annotations

import os
import socket

import pytest

from partita.app.signin._peer_account import account_of, can_know_accounts

pytestmark = [
    pytest.mark.req("X16"),
    pytest.mark.skipif(not can_know_accounts(), reason="this machine does not say to whom connections belong"),
]


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_our_own_connection_is_ours(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, 0), family=family)
    except OSError:
        pytest.skip(f"this machine has no {host}")
    with listener, socket.create_connection(listener.getsockname()[:2]) as ours:
        assert account_of(ours.getsockname()[:2], listener.getsockname()[:2]) == os.geteuid()


def test_by_an_address_of_both_kinds() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket(socket.AF_INET6) as ours:
        port = listener.getsockname()[1]
        try:
            ours.connect(("::ffff:127.0.0.1", port))
        except OSError:
            pytest.skip("this machine has no IPv6")
        assert account_of(("127.0.0.1", ours.getsockname()[1]), ("127.0.0.1", port)) == os.geteuid()


def test_a_connection_that_is_not_there_is_nobodys() -> None:
    assert account_of(("127.0.0.1", 1), ("127.0.0.1", 2)) is None
