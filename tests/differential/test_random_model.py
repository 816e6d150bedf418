"""Random operations on every kind of key have the same outcome on the embedded store and on an independent engine."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from tests.differential.model import PROJECTS, Play, Ticket, open_tickets, plays, reads

from partita import CollectionPage, Page, Session
from partita.errors import PartitaError, TableNotFound
from partita.model import schema_of
from partita.store import DeleteTable, ScanTable, Store
from partita.store.embedded import EmbeddedStore
from partita.store.remote import RemoteStore

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("referee"), pytest.mark.timeout(0)]

PARTS = 4
PLAYS = 5
STEPS = 40
SECRET = b"the same for both, so that cursors are too"


def outcome(db: Session, play: Play) -> Any:
    """Return the result, or the type of the error."""
    try:
        return as_outcome(db.run(play))
    except PartitaError as error:
        return type(error)


def as_outcome(result: Any) -> Any:
    """Return a result in a form that compares: of a page, the items and whether there is a next page."""
    if isinstance(result, Page):
        return result.items, result.next_cursor is not None
    return (result.result, result.next_cursor is not None) if isinstance(result, CollectionPage) else result


def stored(store: Store) -> list[dict[str, Any]]:
    return sorted(store.execute(ScanTable(PROJECTS.name)).items, key=lambda item: (item["PK"], item["SK"]))


def check_keys(items: list[dict[str, Any]]) -> None:
    """Check that every item has exactly the index keys that its fields produce."""
    for item in items:
        for entity in PROJECTS.entities:
            if entity.owns(item):
                assert entity.item(entity.entity(item)) == item


@pytest.mark.parametrize("part", range(PARTS))
def test_random_operations_have_the_same_outcome(part: int, remote: RemoteStore) -> None:
    steps = 0

    @seed(part)
    @settings(
        max_examples=PLAYS,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    )
    @given(st.lists(plays, min_size=STEPS, max_size=STEPS))
    def play(script: list[Play]) -> None:
        nonlocal steps
        with suppress(TableNotFound):
            remote.execute(DeleteTable(PROJECTS.name))
        with EmbeddedStore(":memory:") as store:
            mine, theirs = Session(store, secret=SECRET), Session(remote, secret=SECRET)
            for db in (mine, theirs):
                db.create_tables([PROJECTS])
            for each in (*script, *reads()):
                assert outcome(mine, each) == outcome(theirs, each), each
            assert stored(store) == stored(remote)
            check_keys(stored(store))
            alive = [item for item in stored(store) if schema_of(Ticket).owns(item) and item["state"] != "done"]
            assert mine.run(open_tickets().count()) == len(alive)
        steps += len(script)

    play()
    assert steps >= PLAYS * STEPS
