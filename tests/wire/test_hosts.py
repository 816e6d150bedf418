"""The server responds only to its own host names, and to no page of another site."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.wire.support import connected, http, serving
from tests.wire.test_process import command

from partita import EmbeddedStore
from partita.cli import main
from partita.runtime import AllowedHosts

DENIED = "com.amazon.coral.service#AccessDeniedException"


def list_tables(host: str, **headers: str) -> bytes:
    return http("ListTables", b"{}", **headers).replace(b"host: localhost", f"host: {host}".encode())


def response_to(address: tuple[str, int], request: bytes) -> tuple[int, str]:
    """Return the status and error type; check that the server closes the connection after a refusal."""
    with connected(address) as client:
        client.send(request)
        status, _, body = client.receive()
        assert status == 200 or client.is_closed()
        return status, body.get("__type", "")


@pytest.mark.parametrize("host", ["rebound.example", "rebound.example:8000", "localhost.rebound.example", "", "a b"])
def test_a_name_that_was_pointed_here_is_refused(address: tuple[str, int], host: str) -> None:
    assert response_to(address, list_tables(host)) == (421, DENIED)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1", "[::1]:8000"])
def test_names_of_this_machine_are_answered_to(address: tuple[str, int], host: str) -> None:
    assert response_to(address, list_tables(host)) == (200, "")


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://localhost.evil.example"])
def test_pages_of_other_sites_are_refused(address: tuple[str, int], origin: str) -> None:
    assert response_to(address, list_tables("localhost", origin=origin)) == (403, DENIED)


def test_a_page_of_this_machine_is_answered(address: tuple[str, int]) -> None:
    assert response_to(address, list_tables("localhost", origin="http://localhost:3000")) == (200, "")


def test_the_state_of_the_server_is_not_shown_to_other_names(address: tuple[str, int]) -> None:
    request = b"GET / HTTP/1.1\r\nhost: rebound.example\r\n\r\n"
    assert response_to(address, request) == (421, DENIED)


def test_a_name_may_be_allowed(store: EmbeddedStore) -> None:
    with serving(store, allowed_hosts=AllowedHosts(frozenset({"db.example"}))) as address:
        assert response_to(address, list_tables("db.example:8000")) == (200, "")
        assert response_to(address, list_tables("other.example"))[0] == 421


def test_a_refused_head_gets_no_body(store: EmbeddedStore) -> None:
    with serving(store) as address, connected(address) as client:
        client.send(b"HEAD / HTTP/1.1\r\nhost: rebound.example\r\n\r\n")
        assert client.receive_line() == b"HTTP/1.1 421 Misdirected Request"
        while client.receive_line():
            pass
        assert client.is_closed()


def test_the_command_takes_names_from_options_and_from_its_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARTITA_ALLOWED_HOSTS", "a.example, b.example c.example")
    with command(tmp_path / "variable") as (_, address):
        for host in ("a.example", "b.example", "c.example"):
            assert response_to(address, list_tables(host)) == (200, "")
    with command(tmp_path / "option", "--allowed-host", "D.example") as (_, address):
        assert response_to(address, list_tables("d.example")) == (200, "")
        assert response_to(address, list_tables("a.example"))[0] == 421


def test_a_name_is_given_without_scheme_and_port(tmp_path: Path) -> None:
    arguments = ["dynamodb", "--data", str(tmp_path), "--allowed-host", "http://a.example"]
    result = CliRunner().invoke(main, arguments)
    assert (result.exit_code, "is not a plain host name" in result.output) == (2, True)
