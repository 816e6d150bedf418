"""Connections need file descriptors: a process limits them, and logs only once that descriptors ran out."""

from __future__ import annotations

import errno
import logging
from pathlib import Path
from typing import Any

import pytest
from tests.cli.test_connections import FakeLoop

from partita.cli import _descriptors
from partita.cli._data_folder import DataFolder
from partita.cli._descriptors import LoopErrors, connections_within, max_connections
from partita.cli._listen import connection_config
from partita.cli.serving._wire_process import WireSettings, opened_server
from partita.runtime import AllowedHosts

pytestmark = pytest.mark.req("X04")


def test_there_are_fewer_connections_than_descriptors() -> None:
    found = {descriptors: connections_within(descriptors, opened=40) for descriptors in (30, 64, 256, 1_024)}
    assert found == {30: 1, 64: 12, 256: 128, 1_024: 896}


def test_there_are_as_many_as_wanted_where_the_system_gives_more(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (9_999, 9_999))
    assert max_connections(1_000) == 1_000
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert max_connections(1_000) == 1_000
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 256))
    monkeypatch.setattr(_descriptors, "_OPENED", Path("/nothing/there"))
    assert max_connections(1_000) == 128


def test_both_servers_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1_024, 1_024))
    data = DataFolder(tmp_path / "data")
    data.create()
    with opened_server(WireSettings(data, AllowedHosts(), {}, regions=False, key=None), sweep_every=None) as server:
        assert server.connections.limits.connections == 896
    config: Any = connection_config(lambda *_: None)  # type: ignore[arg-type]
    assert config.http.keywords["limits"].connections == 896


def test_an_outage_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    loop, log = FakeLoop(), LoopErrors()
    context = {"exception": OSError(errno.EMFILE, "Too many open files"), "socket": object(), "message": "accept"}
    with caplog.at_level(logging.ERROR):
        for _ in range(1_000):
            log(loop, context)  # type: ignore[arg-type]
            loop.now += 1
        assert [record.exc_info for record in caplog.records] == [None]
        assert "Too many open files" in caplog.text
        loop.now += 60
        log(loop, context)  # type: ignore[arg-type]
    assert (len(caplog.records), loop.handled) == (2, [])


@pytest.mark.parametrize("context", [{"message": "other"}, {"exception": OSError(errno.EMFILE, "files")}])
def test_other_errors_are_logged_as_ever(context: dict[str, Any]) -> None:
    loop = FakeLoop()
    LoopErrors()(loop, context)  # type: ignore[arg-type]
    assert loop.handled == [context]
