"""The lake of a table with encrypted fields: it has no columns for them, and only sealed bytes in the images."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.change.lake.truth import rows
from tests.encryption.sample import ADA, PEOPLE, FixedKeys

from partita import EmbeddedStore, Session, delete, insert
from partita.change import Consumer
from partita.change.lake import Lake
from partita.testing import FakeClock


@pytest.mark.req("T40")
def test_the_lake_has_all_but_the_secrets(tmp_path: Path, partita_store: EmbeddedStore, fake_clock: FakeClock) -> None:
    db = Session(partita_store, keys=FixedKeys(), clock=fake_clock)
    db.create_tables([PEOPLE])
    lake = Lake(tmp_path, PEOPLE)
    consumer = Consumer(partita_store, PEOPLE, lake, clock=fake_clock)
    consumer.step()
    saved = db.run(insert(ADA))
    consumer.catch_up()
    (current,) = rows(tmp_path, "SELECT * FROM person")
    assert (current["name"], current["story"], current["city"]) == ("ada", ADA.story, "Rome")
    assert not {"iban", "card", "tags", "letters"} & current.keys()
    db.run(delete(saved))
    consumer.catch_up()
    log = rows(tmp_path, "SELECT name, _kind, _problem, _new FROM changes ORDER BY _sequence")
    assert [(row["name"], row["_kind"], row["_problem"]) for row in log] == [
        ("ada", "insert", None),
        ("ada", "remove", None),
    ]
    assert not any(secret in log[0]["_new"] for secret in ("DE02", "4111", "vip"))
    lake.close()
