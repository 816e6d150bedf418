"""The console masks encrypted fields unless it is asked to show them, and rejects the read if there are no keys."""

from __future__ import annotations

from typing import Any

import pytest
from tests.encryption.sample import ADA, PEOPLE, FixedKeys

from partita import AsyncSession, EmbeddedStore, Session, insert
from partita.console._attempt import MASK, Attempt, attempt
from partita.http import HttpProblem


@pytest.fixture
def store(partita_store: EmbeddedStore) -> EmbeddedStore:
    db = Session(partita_store, keys=FixedKeys())
    db.create_tables([PEOPLE])
    db.run(insert(ADA))
    return partita_store


async def shown(store: EmbeddedStore, **how: Any) -> list[Any]:
    wanted = Attempt(service="people", pattern="people_in", arguments={"city": "Rome"}, **how)
    return (await attempt(PEOPLE.patterns["people_in"], wanted, AsyncSession(store, keys=FixedKeys()))).items


async def test_encrypted_fields_are_masked(store: EmbeddedStore) -> None:
    (item,) = await shown(store)
    assert {name: value for name, value in item.items() if value == MASK} == dict.fromkeys(
        ("iban", "card", "tags", "letters"), MASK
    )
    assert (item["name"], item["story"]) == ("ada", ADA.story)


async def test_they_are_shown_to_who_asks(store: EmbeddedStore) -> None:
    (item,) = await shown(store, reveal=True)
    assert item["iban"] == ADA.iban


async def test_without_keys_the_read_is_closed(store: EmbeddedStore) -> None:
    wanted = Attempt(service="people", pattern="person", arguments={"name": "ada"})
    with pytest.raises(HttpProblem) as caught:
        await attempt(PEOPLE.patterns["person"], wanted, AsyncSession(store))
    assert "Person.iban is encrypted, and there are no keys to open it" in str(caught.value)
