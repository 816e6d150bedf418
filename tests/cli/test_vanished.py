"""A data folder that is moved or deleted while a command runs: no process creates a new one in its place."""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from msgspec.structs import replace

from partita import AsyncSession, EmbeddedStore, Registry, Session, Table
from partita.app import build_app
from partita.cli import DataFolder, _vanished
from partita.errors import StoreMoved
from partita.http import AppState, Identity
from partita.service import Service

NOTES = Table("notes", registry=Registry())
SERVICE = Service(name="notes", title="Notes", summary="Some notes.", tables=(NOTES,))

OPENINGS: list[Callable[[DataFolder], object]] = [
    lambda data: data.open_store(),
    lambda data: data.open_queue("q"),
    lambda data: data.open_region("eu-west-1"),
    lambda data: data.secret("cursors"),
]


@pytest.fixture
def data(tmp_path: Path) -> DataFolder:
    folder = DataFolder(tmp_path / "data")
    folder.open().close()
    return folder


@pytest.mark.parametrize("opening", OPENINGS)
def test_nothing_is_made_in_its_place(opening: Callable[[DataFolder], object], data: DataFolder) -> None:
    in_use = replace(data, is_in_use=True)
    in_use.open().close()
    shutil.rmtree(data.path)
    with pytest.raises(StoreMoved, match="was moved or deleted while it was in use"):
        opening(in_use)
    assert not data.path.exists()


@pytest.mark.parametrize("opening", OPENINGS)
def test_nothing_is_made_in_a_new_folder_of_its_name(opening: Callable[[DataFolder], object], data: DataFolder) -> None:
    shutil.rmtree(data.path)
    data.path.mkdir()
    with pytest.raises(StoreMoved):
        opening(replace(data, is_in_use=True))
    assert list(data.path.iterdir()) == []


def test_a_folder_that_has_no_database_of_its_own_must_be_there_too(tmp_path: Path) -> None:
    elsewhere = DataFolder(tmp_path / "data", store="dynamodb://eu-west-1", is_in_use=True)
    assert elsewhere.has_vanished
    elsewhere.path.mkdir()
    assert not elsewhere.has_vanished


def test_a_worker_waits_until_it_is_back(
    data: DataFolder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    away = data.path.rename(data.path.with_name("away"))
    waits: list[float] = []

    class Stop(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waits.append(timeout or 0.0)
            if len(waits) == 3:
                away.rename(data.path)
            return False

    with caplog.at_level(logging.ERROR):
        _vanished.await_folder(replace(data, is_in_use=True), Stop())
    assert (len(waits), len(caplog.records)) == (3, 1)


def test_a_worker_that_is_to_stop_does_not_wait(data: DataFolder) -> None:
    shutil.rmtree(data.path)
    stop = threading.Event()
    stop.set()
    _vanished.await_folder(replace(data, is_in_use=True), stop)
    assert not data.path.exists()


@pytest.mark.req("X01")
async def test_a_server_says_so_in_each_response_and_once_in_its_log(
    data: DataFolder, caplog: pytest.LogCaptureFixture
) -> None:
    with EmbeddedStore(data.database) as store:
        Session(store).create_tables([NOTES])
        app = build_app([SERVICE], AppState(AsyncSession(store), Identity(b"k" * 32)))
        shutil.rmtree(data.path)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            responses = [await client.get("/healthz") for _ in range(20)]
    assert {(each.status_code, each.json()["code"], each.headers["Retry-After"]) for each in responses} == {
        (503, "store_moved", "1")
    }
    assert [(record.exc_info, "was moved or deleted" in record.getMessage()) for record in caplog.records] == [
        (None, True)
    ]
