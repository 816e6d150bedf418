"""The runner of bulk operations: retries after bucket errors, restarts, and the lock between processes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest
from msgspec.structs import replace
from tests.wire.bulk.conftest import Bulk, asked, tasks
from tests.wire.support import TASKS, Caller

from partita import EmbeddedStore
from partita.buckets import FolderBuckets, StoredObject
from partita.bulk import load_lock
from partita.errors import StoreUnavailable, ValidationFailed
from partita.testing import Realism, RealisticStore
from partita.wire.bulk import BulkRunner


class Unsteady(FolderBuckets):
    """Buckets that fail a number of times before they respond."""

    def __init__(self, root: Path, failures: int) -> None:
        super().__init__(root)
        self.failures = failures

    def open(self, stored: StoredObject) -> BinaryIO:
        self.failures -= 1
        if self.failures >= 0:
            raise StoreUnavailable("The bucket did not respond.")
        return super().open(stored)


class Broken(FolderBuckets):
    """Buckets with a defect."""

    def open(self, stored: StoredObject) -> BinaryIO:  # noqa: ARG002 - it fails for all
        raise RecursionError("unforeseen")


class Larger(FolderBuckets):
    """Buckets that report a wrong size for their objects."""

    def __init__(self, root: Path, size: int) -> None:
        super().__init__(root)
        self.size = size

    def objects(self, bucket: str, prefix: str = "") -> Iterator[StoredObject]:
        yield from [replace(each, size=self.size) for each in super().objects(bucket, prefix)]


def with_buckets(bulk: Bulk, buckets: FolderBuckets) -> tuple[Bulk, list[float]]:
    """Return the same with other buckets, and the list of the pauses that it makes, which take no time."""
    pauses: list[float] = []
    other = Bulk(bulk.store, bulk.root, buckets)
    other.runner = BulkRunner(lambda _: bulk.store, buckets, pause=pauses.append)
    other.call = Caller(bulk.store, bulk=other.runner)
    return other, pauses


@pytest.mark.rule(58)
@pytest.mark.parametrize(("failures", "status"), [(5, "COMPLETED"), (6, "FAILED")])
def test_a_bucket_that_does_not_respond_is_asked_again_for_a_while(bulk: Bulk, failures: int, status: str) -> None:
    bulk.put("a.json", *tasks(1))
    bulk, pauses = with_buckets(bulk, Unsteady(bulk.root, failures))
    assert bulk.ended()["BulkOperationStatus"] == status
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0]


@pytest.mark.req("X04")
def test_an_operation_that_fails_unexpectedly_does_not_stop_the_others(
    bulk: Bulk, caplog: pytest.LogCaptureFixture
) -> None:
    bulk.put("a.json", *tasks(1))
    other, _ = with_buckets(bulk, Broken(bulk.root))
    failed = other.ended()
    assert (failed["BulkOperationStatus"], failed["FailureCode"]) == ("FAILED", "InternalServerError")
    assert "unforeseen" not in failed["FailureMessage"]
    assert "unforeseen" in caplog.text
    assert bulk.ended()["BulkOperationStatus"] == "COMPLETED"


@pytest.mark.rule(58)
def test_an_object_has_at_most_5_gb(bulk: Bulk) -> None:
    bulk.put("a.json", *tasks(1))
    larger, _ = with_buckets(bulk, Larger(bulk.root, 5 * 1024**3 + 1))
    ended = larger.ended()
    assert (ended["BulkOperationStatus"], ended["FailureCode"]) == ("FAILED", "ValidationException")
    assert (ended["FailureMessage"], ended["ProcessedItemCount"]) == ("The object a.json has more than 5 GB", 0)
    largest, _ = with_buckets(bulk, Larger(bulk.root, 5 * 1024**3))
    assert largest.ended()["FailureCode"] == "S3ObjectModified"  # the object is read, and is smaller


@pytest.mark.rule(58)
def test_a_runner_that_is_stopped_leaves_its_operations_to_the_next(bulk: Bulk) -> None:
    bulk.put("a.json", *tasks(3))
    bulk.runner.stop()
    arn = bulk.start()["BulkOperationArn"]
    assert bulk.described(arn)["BulkOperationStatus"] == "IN_PROGRESS"
    after = Bulk(bulk.store, bulk.root)
    after.described(arn)  # any request about it resumes it
    after.runner.wait()
    assert after.described(arn)["ProcessedItemCount"] == 3


@pytest.mark.rule(58)
def test_one_runner_at_a_time_has_the_file(bulk: Bulk) -> None:
    """While another process holds the lock, the runner pauses and tries again."""
    bulk.put("a.json", *tasks(3))
    lock = load_lock(bulk.store)
    assert lock.acquire(blocking=False)
    pauses: list[float] = []

    def release(seconds: float) -> None:
        assert bulk.items() == {}
        pauses.append(seconds)
        lock.release()

    bulk.runner = BulkRunner(lambda _: bulk.store, FolderBuckets(bulk.root), pause=release)
    bulk.call = Caller(bulk.store, bulk=bulk.runner)
    assert bulk.ended()["BulkOperationStatus"] == "COMPLETED"
    assert len(pauses) == 1
    lock.close()


@pytest.fixture
def realistic() -> Iterator[RealisticStore]:
    store = RealisticStore(EmbeddedStore(":memory:"), Realism(seed=1))
    yield store
    store.close()


@pytest.mark.rule(58)
def test_a_store_that_behaves_as_aws_does_runs_none(realistic: RealisticStore, root: Path) -> None:
    call = Caller(realistic, bulk=BulkRunner(lambda _: realistic, FolderBuckets(root)))
    call("CreateTable", **TASKS)
    with pytest.raises(ValidationFailed, match="for tests"):
        call("StartBulkPutItems", **asked())


def test_the_server_is_loaded_without_models_and_aws() -> None:
    program = "import sys, partita.wire; print([name for name in sys.argv[1:] if name in sys.modules])"
    names = ("pydantic", "botocore", "partita.model", "partita.transfer", "partita._aws")
    done = subprocess.run([sys.executable, "-c", program, *names], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"
