"""Listening: connections send without delay, and only host names are accepted as allowed hosts."""

from __future__ import annotations

import socket

import click
import pytest
from click.testing import CliRunner
from tests.cli.conftest import Run

from partita.cli._listen import allowed_hosts_option, listening, warn_beyond_loopback
from partita.runtime import AllowedHosts


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_connections_do_not_wait_to_send(host: str) -> None:
    with listening(host, 0) as listener, socket.create_connection(listener.getsockname()[:2]) as _:
        accepted, _address = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


def test_no_address_is_not_every_address(run: Run) -> None:
    for command in (("serve", "todo"), ("dynamodb",)):
        result = run(*command, "--host", "", "--port", "0")
        assert (result.exit_code, "The address is empty. Use 0.0.0.0 for all addresses." in result.output) == (2, True)


@pytest.mark.parametrize("name", ["http://shop.example", "shop.example:80", "a/b", "ann@shop.example", "[::1"])
def test_what_is_not_a_name_is_refused(name: str, run: Run) -> None:
    result = run("serve", "--port", "0", "--allowed-host", name)
    assert (result.exit_code, f"{name!r} is not a plain host name (no scheme, no port)." in result.output) == (2, True)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], set()),
        (["Shop.Example"], {"shop.example"}),
        (["a.example,b.example", "c.example d.example", " , "], {"a.example", "b.example", "c.example", "d.example"}),
        (["*"], {"*"}),
    ],
)
def test_names_are_given_one_by_one_or_as_a_list(given: list[str], expected: set[str]) -> None:
    @click.command()
    @allowed_hosts_option
    def show(allowed_hosts: AllowedHosts) -> None:
        click.echo(" ".join(sorted(allowed_hosts.names)))

    options = [part for value in given for part in ("--allowed-host", value)]
    assert CliRunner().invoke(show, options).output.split() == sorted(expected)
    environment = {"PARTITA_ALLOWED_HOSTS": " ".join(given)}
    assert CliRunner().invoke(show, env=environment).output.split() == sorted(expected)


def test_this_machine_alone_needs_no_warning(capsys: pytest.CaptureFixture[str]) -> None:
    with listening("127.0.0.1", 0) as listener:
        warn_beyond_loopback(listener, AllowedHosts())
    assert capsys.readouterr() == ("", "")
