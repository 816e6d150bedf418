"""The console does not read entities that a service keeps secret, either alone or in a collection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from partita import AsyncSession, EmbeddedStore, Entity, Key, Query, Registry, Table, collect, get, pattern, query
from partita.console._attempt import Attempt, attempt
from partita.http import HttpProblem
from partita.testing import FaultyStore
from partita_services.events.model import TABLE as EVENTS

TABLE = Table("vault", registry=Registry())


class Owner(Entity, table=TABLE):
    """The owner of boxes."""

    primary: ClassVar = Key("OWNER#{name}", "OWNER")
    name: str


class Box(Entity, table=TABLE):
    """A secret entity: it is kept out of the lake, and so out of the console."""

    primary: ClassVar = Key("OWNER#{name}", "BOX#{number:03}")
    in_lake: ClassVar = False
    name: str
    number: int


@dataclass(frozen=True)
class Vault:
    owner: Owner
    boxes: tuple[Box, ...]


@get(Owner)
def owner_by_name(name: str) -> None: ...


@query(Box, Box.primary)
def boxes_of(name: str) -> None: ...


@pattern()
def all_boxes_of(name: str) -> Query[Box]:
    return boxes_of(name)


@collect(Vault, "OWNER#{name}")
def vault_of(name: str) -> None: ...


@pytest.mark.parametrize("closed", ["boxes_of", "all_boxes_of", "vault_of"])
async def test_a_secret_is_not_read(closed: str, partita_store: EmbeddedStore) -> None:
    store = FaultyStore(partita_store)
    session = AsyncSession(store)
    with pytest.raises(HttpProblem) as refused:
        await attempt(TABLE.patterns[closed], _asking(closed), session)
    assert (refused.value.status_code, refused.value.code, store.requests) == (403, "closed", [])


async def test_what_is_no_secret_is_read(partita_store: EmbeddedStore) -> None:
    session = AsyncSession(partita_store)
    await session.create_tables([TABLE])
    assert (await attempt(TABLE.patterns["owner_by_name"], _asking("owner_by_name"), session)).items == []


async def test_the_seed_of_a_lottery_is_a_secret(partita_store: EmbeddedStore) -> None:
    wanted = Attempt(service="events", pattern="seed_of", arguments={"event_id": "e"})
    with pytest.raises(HttpProblem) as refused:
        await attempt(EVENTS.patterns["seed_of"], wanted, AsyncSession(partita_store))
    assert "it is kept out of the lake and the console" in str(refused.value.detail)


def _asking(name: str) -> Attempt:
    return Attempt(service="vault", pattern=name, arguments={"name": "ann"})
