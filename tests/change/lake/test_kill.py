"""The lake has each change exactly once, although the process that fills it is killed again and again."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest
from tests.change.lake.conftest import KEYS
from tests.change.lake.truth import assert_lake_is_true, heal
from tests.change.model import TABLE, play, session

from partita import EmbeddedStore
from partita.change import Consumer
from partita.change.lake import Lake, S3Location

ROOT = Path(__file__).parents[3]


@pytest.mark.req("T41", "T42")
@pytest.mark.slow
def test_kills_lose_and_repeat_nothing(tmp_path: Path) -> None:
    assert_exact_through_kills(str(tmp_path / "lake"), tmp_path / "store.db", rounds=8)


@pytest.mark.req("T41", "T42")
def test_neither_do_they_on_object_storage(bucket: S3Location, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEYS.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEYS.secret_key)
    url = f"{bucket}?endpoint={bucket.endpoint}"
    assert_exact_through_kills(url, tmp_path / "store.db", rounds=3)


def assert_exact_through_kills(place: str, path: Path, *, rounds: int) -> None:
    """Kill processes that fill a lake while the table changes, then compare."""
    rng = random.Random(7)
    with EmbeddedStore(path, durable=False) as store:
        session(store)
        play(store, rng, 300)
        for _ in range(rounds):
            command = [sys.executable, "-m", "tests.change.lake.filling", str(path), place]
            with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as filling:
                assert filling.stdout is not None
                for _ in range(rng.randrange(1, 12)):
                    assert filling.stdout.readline(), filling.stderr.read() if filling.stderr else ""
                    play(store, rng, 25)
                filling.kill()
                filling.communicate()
        heal(store)
        lake = Lake(place, TABLE, shared_by=str(path))
        Consumer(store, TABLE, lake).catch_up()
        lake.close()
        assert_lake_is_true(place, store)
