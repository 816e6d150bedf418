"""A lake is filled over DynamoDB's protocol: a consumer does not depend on the kind of store."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.change.lake.truth import assert_lake_is_true, heal
from tests.change.model import TABLE, play, session
from tests.store.remote.served import served

from partita import EmbeddedStore
from partita.change import Consumer
from partita.change.lake import Lake


@pytest.mark.req("T40")
def test_a_lake_is_filled_from_dynamodb_streams(tmp_path: Path) -> None:
    rng = random.Random(1)
    with EmbeddedStore(tmp_path / "store.db", durable=False) as store, served(store) as remote:
        session(store)
        play(store, rng, 200)
        lake = Lake(tmp_path / "lake", TABLE)
        pauses: list[float] = []
        consumer = Consumer(remote, TABLE, lake, batch=50, pause=pauses.append)
        consumer.step()
        play(store, rng, 200)
        heal(store)
        assert consumer.lag().records == consumer.catch_up()
        lake.close()
        assert_lake_is_true(tmp_path / "lake", store)
        assert pauses == [10.0]
