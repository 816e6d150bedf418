"""The lake has each change exactly once, even if the process that fills it is killed repeatedly."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.change.lake.conftest import KEYS
from tests.change.lake.truth import assert_lake_is_true, heal
from tests.change.model import TABLE, play, session
from tests.template import Template

from partita import EmbeddedStore
from partita.change import Consumer
from partita.change.lake import Lake, S3Location


@pytest.fixture(scope="module")
def filling() -> Iterator[Template]:
    """The template from which processes that fill a lake are forked."""
    with closing(Template("tests.change.lake.filling")) as template:
        yield template


@pytest.mark.req("T41", "T42")
@pytest.mark.slow
def test_kills_lose_and_repeat_nothing(filling: Template, tmp_path: Path) -> None:
    assert_exact_through_kills(filling, str(tmp_path / "lake"), tmp_path / "store.db", rounds=8)


@pytest.mark.req("T41", "T42")
def test_neither_do_they_on_object_storage(
    filling: Template, bucket: S3Location, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEYS.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEYS.secret_key)
    url = f"{bucket}?endpoint={bucket.endpoint}"
    assert_exact_through_kills(filling, url, tmp_path / "store.db", rounds=3)


def assert_exact_through_kills(filling: Template, place: str, path: Path, *, rounds: int) -> None:
    """Kill processes that fill a lake while the table changes, then compare the lake with the table."""
    rng = random.Random(7)
    with EmbeddedStore(path, durable=False) as store:
        session(store)
        play(store, rng, 300)
        for _ in range(rounds):
            process = filling.start(str(path), place)
            for _ in range(rng.randrange(1, 12)):
                assert process.stdout.readline()
                play(store, rng, 25)
            process.kill()
        heal(store)
        lake = Lake(place, TABLE, shared_by=str(path))
        Consumer(store, TABLE, lake).catch_up()
        lake.close()
        assert_lake_is_true(place, store)
