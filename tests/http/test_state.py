"""The state that a service runs with, as its routes receive it: resources, singletons and projections."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import ClassVar

import httpx
from fastapi import APIRouter
from msgspec.structs import replace
from tests.http.toy import TOY

from partita import AsyncSession, EmbeddedStore, Entity, Key, Registry, Table, insert
from partita.app import build_app
from partita.change import Consumer, SqliteProjection
from partita.http import AppState, CurrentProjection, CurrentState, Identity, LagView, Resources, ServiceState
from partita.service import OpenProjection
from partita.testing import FakeClock

TABLE = Table("noted", stream="NEW_AND_OLD_IMAGES", registry=Registry())
ROUTER = APIRouter()


class Note(Entity, table=TABLE):
    """A note."""

    primary: ClassVar = Key("NOTE", "{note_id}")

    note_id: str


def shouted(state: ServiceState[str]) -> list[str]:
    """A singleton of a service."""
    return [state.resources.upper()]


@ROUTER.get("/resources")
async def show_resources(name: Resources[str], state: CurrentState[str]) -> list[str]:
    made = state.singleton(shouted)
    made.append(name)
    return made


@ROUTER.get("/stopping")
async def show_stopping(state: CurrentState) -> bool:
    return state.stopping.is_set()


@ROUTER.get("/notes")
async def show_notes(notes: CurrentProjection[SqliteProjection]) -> LagView:
    assert notes.sink.read("SELECT count(*) FROM notes") == [(0,)]
    return await LagView.of(notes)


def client_of(state: AppState, *names: str) -> httpx.AsyncClient:
    services = [replace(TOY, name=name, router=lambda: ROUTER) for name in names]
    transport = httpx.ASGITransport(build_app(services, state))
    return httpx.AsyncClient(transport=transport, base_url="http://test")


async def test_a_service_has_its_own_resources_and_singletons(session: AsyncSession, identity: Identity) -> None:
    state = AppState(session, identity, resources={"one": "ann", "two": "bob"})
    async with client_of(state, "one", "two") as client:
        responses = [await client.get(f"/{name}/api/resources") for name in ("one", "two", "one")]
    assert [response.json() for response in responses] == [["ANN", "ann"], ["BOB", "bob"], ["ANN", "ann", "ann"]]


async def test_routes_see_that_the_server_stops(session: AsyncSession, identity: Identity) -> None:
    state = AppState(session, identity)
    async with client_of(state, "one") as client:
        before = (await client.get("/one/api/stopping")).json()
        state.stopping.set()
        assert (before, (await client.get("/one/api/stopping")).json()) == (False, True)


async def test_a_projection_is_taken_with_its_lag(
    session: AsyncSession, identity: Identity, partita_store: EmbeddedStore, fake_clock: FakeClock, tmp_path: Path
) -> None:
    def apply(*_: object) -> None:
        """Count nothing."""

    await session.create_tables([TABLE])
    with closing(SqliteProjection(tmp_path / "p.db", tables="CREATE TABLE notes (id TEXT)", apply=apply)) as sink:
        projection = OpenProjection(sink, Consumer(partita_store, TABLE, sink, clock=fake_clock))
        projection.consumer.catch_up()
        await session.run(insert(Note(note_id="n1")))
        fake_clock.advance(2.5)
        async with client_of(AppState(session, identity, projections={"one": projection}), "one") as client:
            assert (await client.get("/one/api/notes")).json() == {"records": 1, "seconds": 2.5}


async def test_without_its_projection_a_route_is_not_available(session: AsyncSession, identity: Identity) -> None:
    async with client_of(AppState(session, identity), "one") as client:
        response = await client.get("/one/api/notes")
    assert (response.status_code, response.json()["code"]) == (503, "not_projected")
