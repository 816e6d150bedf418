"""The audit trail: what is written down of each thing that happens, and for how long it is kept."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.services.commitcollect.world import World, new_world

from partita_services.commitcollect.audit import events_of_user

pytestmark = pytest.mark.req("C22")

DAY = 86_400


@pytest.fixture
def world() -> Iterator[World]:
    with new_world() as world:
        world.log_in()
        yield world


def test_a_record_is_kept_for_ninety_days_to_the_second(world: World) -> None:
    world.clock.advance(90 * DAY - 1)
    kept = list(world.db.run(events_of_user(world.user_id)))
    assert [entry.ttl - entry.occurred_at for entry in kept] == [90 * DAY] * 2
    world.clock.advance(1)
    assert list(world.db.run(events_of_user(world.user_id))) == []
