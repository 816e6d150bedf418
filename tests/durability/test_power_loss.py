"""An acknowledged write survives a loss of power: it was synchronised before the call returned."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path

import pytest
from bench._script import TABLE, steps
from bench.kill import Lost, stored_state
from tests.durability.disk import ForgetfulDisk

from partita import EmbeddedStore
from partita.errors import StoreError
from partita.store._requests import CreateTable

STEPS = 400
"""Enough for the log to be brought into the file several times."""


def lose_power_while_writing(folder: Path, *, durable: bool) -> list[tuple[Path, int]]:
    """Write, and lose power at random moments: the folders that are left, with the number of acknowledged steps."""
    chance = random.Random(1)
    left: list[tuple[Path, int]] = []
    acknowledged = 0

    def perhaps_lose_power() -> None:
        if chance.random() < 0.02:
            left.append((folder / f"left-{len(left)}", acknowledged))
            disk.lose_power(left[-1][0], chance)

    with ForgetfulDisk() as disk, EmbeddedStore(folder / "power.db", durable=durable) as store:
        store.execute(CreateTable(TABLE))
        disk.on_write = perhaps_lose_power
        for step in islice(steps("writer", {}, random.Random(1)), STEPS):
            store.execute(step.request)
            acknowledged += 1
            perhaps_lose_power()
    return left


def check(folder: Path, acknowledged: int) -> None:
    with EmbeddedStore(folder / "power.db") as store:
        store.verify()
        stored_state(store, "writer", {}, steps("writer", {}, random.Random(1)), acknowledged)


def test_an_acknowledged_write_survives_power_loss(tmp_path: Path) -> None:
    left = lose_power_while_writing(tmp_path, durable=True)
    assert len(left) > 50
    for folder, acknowledged in left:
        check(folder, acknowledged)


def test_a_store_that_is_not_durable_may_lose_it(tmp_path: Path) -> None:
    """So the disk does forget, and the test above can fail."""
    folder, acknowledged = lose_power_while_writing(tmp_path, durable=False)[-1]
    with pytest.raises((Lost, StoreError)):
        check(folder, acknowledged)
