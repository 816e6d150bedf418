"""The host names that a server accepts."""

from __future__ import annotations

import pytest

from partita.runtime import AllowedHosts, is_loopback

HERE = "127.0.0.1"


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:8321", "LocalHost.", "127.0.0.1", "127.0.0.1:80", "127.0.0.2", "[::1]:8000", "[::1]"],
)
def test_this_machine_is_always_allowed(host: str) -> None:
    assert AllowedHosts().allows(host, HERE)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8321",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evil.example#@localhost",
        "localhost@evil.example",
        "evil@localhost",
        "localhost/path",
        "localhost:port",
        "192.168.0.7",
        "2130706433",
        "[::1",
        "",
        " ",
        ":80",
        "a, localhost",
    ],
)
def test_other_names_are_refused(host: str) -> None:
    assert not AllowedHosts(frozenset({"shop.example"})).allows(host, HERE)


def test_a_name_is_allowed_in_any_case_and_with_any_port() -> None:
    allowed = AllowedHosts(frozenset({"shop.example"}))
    assert allowed.allows("Shop.Example:443", HERE)
    assert not allowed.allows("www.shop.example", HERE)


def test_the_address_that_the_request_came_to_is_allowed() -> None:
    assert AllowedHosts().allows("192.168.0.7:8321", "192.168.0.7")
    assert AllowedHosts().allows("[fe80::1]:8321", "fe80::1%eth0")


def test_a_star_allows_every_name() -> None:
    assert AllowedHosts(frozenset({"*"})).allows("evil.example", HERE)


@pytest.mark.parametrize("origin", ["http://localhost:3000", "https://127.0.0.1"])
def test_origins_of_this_machine_are_allowed(origin: str) -> None:
    assert AllowedHosts().allows_origin(origin, HERE)


@pytest.mark.parametrize("origin", ["null", "http://evil.example", "file://", "localhost", "", "ftp://localhost"])
def test_other_origins_are_refused(origin: str) -> None:
    assert not AllowedHosts().allows_origin(origin, HERE)


def test_loopback_is_known_by_address_or_name() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "::1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "example.com", "")))  # noqa: S104 - only compared
