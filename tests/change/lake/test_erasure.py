"""Erased users are removed from a lake in a bucket as from one in a folder: no object contains them any more."""

from __future__ import annotations

import io

import pyarrow.parquet as pq
import pytest
from tests.change.lake.conftest import client_of
from tests.change.lake.truth import rows

from partita import EmbeddedStore, Session, insert
from partita.change import Consumer
from partita.change.lake import Lake, LakeErasure, S3Location
from partita.testing import FakeClock
from partita_services.todo.bootstrap import SERVICE
from partita_services.todo.model import TABLE, Task
from partita_services.todo.personal import PERSONAL


def contents(place: S3Location) -> str:
    """Return the contents of all objects of the lake: rows of every version, and Delta's own log."""
    client = client_of(place.endpoint)
    found = []
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=place.bucket):
        for each in page.get("Contents", ()):
            body = client.get_object(Bucket=place.bucket, Key=each["Key"])["Body"].read()
            is_table = each["Key"].endswith(".parquet")
            found.append(str(pq.ParquetFile(io.BytesIO(body)).read().to_pylist()) if is_table else body.decode())
    return "\n".join(found)


@pytest.mark.req("T40")
def test_nothing_of_an_erased_user_is_left_in_any_object(
    bucket: S3Location, store: EmbeddedStore, fake_clock: FakeClock
) -> None:
    db = Session(store, clock=fake_clock)
    db.create_tables(SERVICE.tables)
    record = PERSONAL.record
    assert record is not None
    lake = Lake(bucket, TABLE, erasure=LakeErasure(record.name, PERSONAL.owners))
    consumer = Consumer(store, TABLE, lake, clock=fake_clock, on_caught_up=lake.erase_users)
    consumer.catch_up()
    for user in ("ann", "bob"):
        db.run(insert(Task(user_id=user, title=f"secret {user}", created_at=1, updated_at=1)))
        consumer.catch_up()
    assert "secret ann" in contents(bucket)
    db.run(PERSONAL.erase("ann"))
    consumer.catch_up()
    lake.close()
    left = contents(bucket)
    assert ("secret ann" in left, "secret bob" in left) == (False, True)
    assert [row["user_id"] for row in rows(bucket, "SELECT user_id FROM task")] == ["bob"]
