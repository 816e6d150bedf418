"""A lake in a bucket: errors, leases of writers, and credentials."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.change.lake.conftest import KEYS, bucket_at, client_of
from tests.change.lake.truth import assert_lake_is_true, heal, rows
from tests.change.model import TABLE, Task, play
from tests.page_examples import run_examples, use_local_aws
from tests.referee import moto

from partita import EmbeddedStore, Session, put
from partita.change import Consumer
from partita.change.lake import Lake, S3Location, lake_lag, query_lake
from partita.errors import AccessDenied, BucketNotFound, LeaseLost, OperationError, StoreBusy, StoreUnavailable
from partita.store.remote import Credentials


def names(place: S3Location) -> list[str]:
    """Return the keys of all objects in the bucket."""
    found = client_of(place.endpoint).list_objects_v2(Bucket=place.bucket)
    return [each["Key"] for each in found.get("Contents", ())]


def write_lease(place: S3Location, body: bytes) -> None:
    """Replace the lease with an object of these bytes."""
    key = f"{place.prefix}/{TABLE.name}/_lease.json"
    client_of(place.endpoint).put_object(Bucket=place.bucket, Key=key, Body=body)


@pytest.mark.parametrize(
    "url",
    [
        "s3://",
        "s3:///prefix",
        "s3://A_Bucket/x",
        "s3://a/x",
        "s3://bucket/x?colour=red",
        "s3://bucket/x?region=a&region=b",
        "s3://bucket//x",
        "s3://bucket/x#part",
        "s3://bucket/x?endpoint=ftp://host",
        "gs://bucket/x",
        "abfss://bucket/x",
        "http://127.0.0.1:9000/bucket",
    ],
)
def test_a_url_that_is_not_understood_is_refused_before_anything_is_asked(url: str) -> None:
    with pytest.raises(OperationError, match=r"s3://BUCKET/PREFIX|not the URL of an endpoint"):
        Lake(url, TABLE)


def test_two_profiles_are_one_too_many() -> None:
    with pytest.raises(OperationError, match="names the profile 'a', but 'b' is given"):
        S3Location.parse("s3://bucket/x?profile=a", profile="b")


def test_a_bucket_that_is_not_there_is_named(
    on_moto: S3Location, on_ministack: S3Location, store: EmbeddedStore
) -> None:
    for there in (on_moto, on_ministack):
        missing = S3Location("no-such-bucket", endpoint=there.endpoint, credentials=KEYS)
        for attempt in (
            lambda place=missing: Lake(place, TABLE),
            lambda place=missing: query_lake(place, "SELECT 1"),
            lambda place=missing: lake_lag(place, TABLE, store, 0.0),
        ):
            with pytest.raises(BucketNotFound, match="no-such-bucket") as refused:
                attempt()
            assert "\n" not in str(refused.value)


@pytest.fixture
def guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of a server that rejects all access keys, with one bucket."""
    monkeypatch.setenv("INITIAL_NO_AUTH_ACTION_COUNT", "1")
    with moto(tmp_path) as url:
        client_of(url).create_bucket(Bucket="guarded")
        yield url


def test_refused_credentials_are_one_line(guarded: str, store: EmbeddedStore) -> None:
    place = S3Location("guarded", "x", endpoint=guarded, credentials=KEYS)
    for attempt in (
        lambda: Lake(place, TABLE),
        lambda: query_lake(place, "SELECT 1"),
        lambda: lake_lag(place, TABLE, store, 0.0),
    ):
        with pytest.raises(AccessDenied, match="credentials") as refused:
            attempt()
        assert "\n" not in str(refused.value)


def test_without_credentials_nothing_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(AccessDenied, match="No credentials were found"):
        Lake("s3://some-bucket/x?region=eu-west-1", TABLE)


def test_a_server_that_is_not_there_is_one_line() -> None:
    place = S3Location("bucket", endpoint="http://127.0.0.1:9", credentials=KEYS)
    with pytest.raises(StoreUnavailable, match="cannot be reached") as refused:
        Lake(place, TABLE)
    assert "\n" not in str(refused.value)


def test_a_lake_that_cannot_be_made_leaves_nothing_behind(on_moto: S3Location) -> None:
    def refuse(*_: Any) -> Any:
        raise StoreUnavailable("no table today")

    with pytest.raises(StoreUnavailable):
        Lake(on_moto, TABLE, open_table=refuse)
    assert names(on_moto) == []


def test_one_writer_at_a_time_has_it(bucket: S3Location) -> None:
    first = Lake(bucket, TABLE)
    with pytest.raises(StoreBusy, match=r"Another process fills the lake s3://.*its lease ends in about \d+ s"):
        Lake(bucket, TABLE)
    first.close()
    first.close()
    Lake(bucket, TABLE).close()


def test_those_of_one_stream_share_it(bucket: S3Location) -> None:
    first, second = Lake(bucket, TABLE, shared_by="a"), Lake(bucket, TABLE, shared_by="a")
    with pytest.raises(StoreBusy):
        Lake(bucket, TABLE, shared_by="b")
    first.close()
    second._hold.check()
    second.close()
    Lake(bucket, TABLE, shared_by="b").close()


def test_a_lease_that_has_run_out_is_anybodys(bucket: S3Location) -> None:
    Lake(bucket, TABLE).close()
    write_lease(bucket, b'{"owner":"dead","fence":7,"seconds":-1}')
    lake = Lake(bucket, TABLE)
    assert lake._hold._fence == 8  # type: ignore[attr-defined]
    lake.close()


def test_an_object_that_says_nothing_is_nobodys_lease(bucket: S3Location) -> None:
    write_lease(bucket, b"not a lease")
    Lake(bucket, TABLE).close()


def test_who_was_overtaken_writes_nothing_any_more(bucket: S3Location, store: EmbeddedStore, db: Session) -> None:
    place = S3Location(bucket.bucket, bucket.prefix, endpoint=bucket.endpoint, credentials=KEYS, lease_seconds=-1)
    slow = Lake(place, TABLE)  # its lease expires immediately
    consumer = Consumer(store, TABLE, slow)
    consumer.step()
    db.run(put(Task(user_id="u", task_id="t")))
    other = Lake(bucket, TABLE)
    with pytest.raises(LeaseLost, match="Another writer has taken over the lake"):
        consumer.catch_up()
    Consumer(store, TABLE, other).catch_up()
    slow.close()
    other.close()
    assert rows(bucket, "SELECT count(*) AS n FROM changes WHERE _kind = 'insert'") == [{"n": 1}]


def test_a_commit_of_one_that_slept_counts_nothing_twice(bucket: S3Location, store: EmbeddedStore, db: Session) -> None:
    """Both consumers have read the same batch, as if no lease had kept them apart."""
    rng = random.Random(5)
    lakes = [Lake(bucket, TABLE, shared_by="both") for _ in range(2)]
    consumers = [Consumer(store, TABLE, lake, batch=20) for lake in lakes]
    consumers[0].step()
    lakes[1].refresh()
    for turn in range(6):
        play(store, rng, 30)
        consumers[turn % 2].step()
    heal(store)
    for consumer in consumers:
        consumer.catch_up()
    for lake in lakes:
        lake.close()
    assert_lake_is_true(bucket, store)


def test_credentials_that_are_renewed_reach_delta(on_moto: S3Location, store: EmbeddedStore, db: Session) -> None:
    given = iter(range(1_000))
    place = S3Location(
        on_moto.bucket,
        "renewed",
        endpoint=on_moto.endpoint,
        credentials=lambda: Credentials(f"key-{next(given)}", "secret", expires_at=10.0),
        clock=lambda: 0.0,
    )
    lake = Lake(place, TABLE)
    before = lake._log._options
    place._access._source.forget()
    consumer = Consumer(store, TABLE, lake)
    db.run(put(Task(user_id="u", task_id="t")))
    consumer.catch_up()
    assert before is not None
    assert lake._log._options is not None
    assert before["AWS_ACCESS_KEY_ID"] != lake._log._options["AWS_ACCESS_KEY_ID"]
    lake.close()
    assert len(rows(place, "SELECT * FROM task")) == 1


def test_a_location_knows_what_is_below_it(on_moto: S3Location) -> None:
    assert on_moto.children() == []
    client = client_of(on_moto.endpoint)
    for name in ("some/where/a/1", "some/where/b/2", "some/whereabouts/3", "some/where/4"):
        client.put_object(Bucket=on_moto.bucket, Key=name, Body=b"")
    assert on_moto.children() == ["a", "b"]
    assert bucket_at(on_moto.endpoint).children() == []


def test_the_guide_to_other_engines_runs_with_a_bucket(
    moto_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client_of(moto_url).create_bucket(Bucket="my-bucket")
    use_local_aws(tmp_path, monkeypatch, s3=moto_url)
    run_examples(Path("docs/guides/sql-engines.md").absolute(), tmp_path, monkeypatch)
