"""The To-Do service's table in the lake: every entity, except the idempotency records."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.change.lake.truth import rows

from partita import EmbeddedStore, Session
from partita.change import Consumer
from partita.change.lake import Lake, lake_tables
from partita.testing import FakeClock
from partita_services.todo.bootstrap import SERVICE, seed
from partita_services.todo.model import TABLE


@pytest.mark.req("T40", "T52")
def test_every_entity_is_in_the_lake_but_what_a_service_keeps_for_itself(
    store: EmbeddedStore, tmp_path: Path, fake_clock: FakeClock
) -> None:
    db = Session(store, clock=fake_clock)
    db.create_tables(SERVICE.tables)
    lake = Lake(tmp_path, TABLE)
    consumer = Consumer(store, TABLE, lake)
    consumer.step()
    for operation in seed(fake_clock()):
        db.run(operation)
    consumer.catch_up()
    lake.close()
    out = {schema.name for schema in TABLE.entities if not schema.cls.in_lake}
    assert out == {"CallerBucket", "Reminder", "ReminderSlot", "Request"}
    found = rows(tmp_path, "SELECT entity, count(*) AS items FROM changes GROUP BY entity ORDER BY entity")
    assert found == [
        {"entity": "EmailClaim", "items": 1},
        {"entity": "Task", "items": 26},
        {"entity": "User", "items": 1},
    ]
    assert {"email_claim", "task", "user"} < lake_tables(tmp_path).keys()
    assert "request" not in lake_tables(tmp_path)
    due = rows(tmp_path, "SELECT title, due_date FROM task WHERE due_date IS NOT NULL ORDER BY due_date LIMIT 1")
    assert [row["title"] for row in due] == ["Change the smoke detector batteries"]
