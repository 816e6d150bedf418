"""Listening: connections send what they have at once."""

from __future__ import annotations

import socket

import pytest
from tests.cli.conftest import Run

from partita.cli._listen import listening


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_connections_do_not_wait_to_send(host: str) -> None:
    with listening(host, 0) as listener, socket.create_connection(listener.getsockname()[:2]) as _:
        accepted, _address = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


def test_no_address_is_not_every_address(run: Run) -> None:
    for command in ("serve", "dynamodb"):
        result = run(command, "--host", "", "--port", "0")
        assert (result.exit_code, "It is empty; 0.0.0.0 means every address." in result.output) == (2, True)
