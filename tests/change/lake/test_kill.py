"""The lake has each change exactly once, although the process that fills it is killed again and again."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest
from tests.change.lake.truth import assert_lake_is_true, heal
from tests.change.model import TABLE, play, session

from partita import EmbeddedStore
from partita.change import Consumer
from partita.change.lake import Lake

ROOT = Path(__file__).parents[3]
ROUNDS = 8


@pytest.mark.req("T41", "T42")
@pytest.mark.slow
def test_kills_lose_and_repeat_nothing(tmp_path: Path) -> None:
    rng = random.Random(7)
    path, folder = tmp_path / "store.db", tmp_path / "lake"
    with EmbeddedStore(path, durable=False) as store:
        session(store)
        play(store, rng, 300)
        for _ in range(ROUNDS):
            command = [sys.executable, "-m", "tests.change.lake.filling", str(path), str(folder)]
            with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as filling:
                assert filling.stdout is not None
                for _ in range(rng.randrange(1, 12)):
                    assert filling.stdout.readline(), filling.stderr.read() if filling.stderr else ""
                    play(store, rng, 25)
                filling.kill()
                filling.communicate()
        heal(store)
        lake = Lake(folder, TABLE)
        Consumer(store, TABLE, lake).catch_up()
        lake.close()
        assert_lake_is_true(folder, store)
