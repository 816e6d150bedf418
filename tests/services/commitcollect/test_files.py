"""No file of the data folder has data of a deleted account, except for its audit trail, which names only ids."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.services.commitcollect.test_http import create, strava_says
from tests.services.commitcollect.world import WEBHOOK, World

from partita import EmbeddedStore
from partita.testing import FakeClock

TITLE = "Planted title"
WORKOUT = "Planted workout"
KEY = "planted-idempotency-key"
ATHLETE = "Alex"
"""The athlete's name at Strava."""


@pytest.fixture
def partita_store(tmp_path: Path, fake_clock: FakeClock) -> Iterator[EmbeddedStore]:
    with EmbeddedStore(tmp_path / "partita.db", clock=fake_clock, durable=False) as store:
        yield store


def found(folder: Path, *texts: str) -> set[str]:
    """Return the texts that are in any file."""
    files = [file.read_bytes() for file in folder.iterdir()]
    return {text for text in texts if any(text.encode() in data for data in files)}


@pytest.mark.req("C23")
async def test_a_deleted_account_is_in_no_file(
    browser: httpx.AsyncClient,
    connected: World,
    partita_store: EmbeddedStore,
    tmp_path: Path,
) -> None:
    browser.headers["Idempotency-Key"] = KEY
    await create(browser, title=TITLE)
    del browser.headers["Idempotency-Key"]
    connected.strava.train(7, name=WORKOUT)
    await browser.post(WEBHOOK, json=strava_says(7, "create", connected))
    connected.work()
    planted = (TITLE, WORKOUT, KEY, ATHLETE)
    assert found(tmp_path, *planted) == set(planted)
    await browser.delete("/api/me")
    connected.work()
    partita_store.sweep()
    assert found(tmp_path, *planted) == set()
