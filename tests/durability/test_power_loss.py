"""An acknowledged write survives a loss of power: it was synchronised before the call returned."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path

import pytest
from bench._script import TABLE, sealing, steps
from bench.kill import check_entries, stored_state
from tests.durability.disk import ForgetfulDisk

from partita import EmbeddedStore
from partita.encryption import LocalKeys
from partita.errors import TableNotFound
from partita.store._requests import CreateTable

FILE = "power.db"
KEYS = LocalKeys({"1": bytes(32)}, "1")
STEPS = 400
"""Enough steps for several checkpoints of the log."""


def lose_power_while_writing(folder: Path, *, kept: float, durable: bool = True) -> list[tuple[Path, int]]:
    """Write, lose power at random instants, and return the folders left, each with the number of acknowledged steps."""
    rng = random.Random(1)
    left: list[tuple[Path, int]] = []
    acknowledged = 0

    def perhaps_lose_power(name: str) -> None:
        # More often during a checkpoint, which is the rarer and more delicate instant.
        if rng.random() < (0.05 if name == FILE else 0.004):
            left.append((folder / f"left-{len(left)}", acknowledged))
            disk.lose_power(left[-1][0], rng)

    with ForgetfulDisk(kept) as disk, EmbeddedStore(folder / FILE, durable=durable) as store:
        store.execute(CreateTable(TABLE))
        seal = sealing(KEYS)
        disk.on_write = perhaps_lose_power
        for step in islice(steps("writer", {}, random.Random(1)), STEPS):
            store.execute(seal(step))
            acknowledged += 1
    return left


def check(folder: Path, acknowledged: int) -> None:
    with EmbeddedStore(folder / FILE) as store:
        store.verify()
        stored_state(store, "writer", {}, steps("writer", {}, random.Random(1)), acknowledged)
        check_entries(store, "writer", KEYS)


@pytest.mark.parametrize("kept", [0, 0.5])
def test_an_acknowledged_write_survives_power_loss(tmp_path: Path, kept: float) -> None:
    left = lose_power_while_writing(tmp_path, kept=kept)
    assert len(left) >= 10
    for folder, acknowledged in left:
        check(folder, acknowledged)


def test_a_store_that_is_not_durable_loses_everything(tmp_path: Path) -> None:
    """Check that the disk loses writes, so that the test above can fail."""
    folder, acknowledged = lose_power_while_writing(tmp_path, kept=0, durable=False)[-1]
    with pytest.raises(TableNotFound):
        check(folder, acknowledged)
