"""Exports to buckets and imports from them, over the wire; a folder replaces S3."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.wire.support import TASKS, Caller, Json, serving, task

from partita import EmbeddedStore
from partita.buckets import FolderBuckets
from partita.bulk import Unreadable
from partita.errors import ValidationFailed
from partita.runtime import run
from partita.store import DeleteTable, ScanTable, SetRecovery
from partita.store.embedded import BulkPut
from partita.testing import FakeClock
from partita.transfer import Import, Side
from partita.wire._faults import Fault
from partita.wire._operations import operations
from partita.wire.exports import JobRunner, _csv, _jobs, _runner

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/tasks"
TABLE = {name: TASKS[name] for name in ("AttributeDefinitions", "KeySchema", "BillingMode", "GlobalSecondaryIndexes")}


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(tmp_path: Path, clock: FakeClock) -> Iterator[EmbeddedStore]:
    with EmbeddedStore(tmp_path / "wire.db", clock=clock, durable=False) as store:
        yield store


@pytest.fixture
def bucket(tmp_path: Path) -> Path:
    folder = tmp_path / "s3" / "lake"
    folder.mkdir(parents=True)
    return folder


class Exporting(Caller):
    """Runs operations, and waits for the exports and imports that they start."""

    def __init__(self, store: EmbeddedStore, clock: FakeClock, bucket: Path) -> None:
        super().__init__(store)
        self.clock = clock
        self.runner = JobRunner(lambda _region: store, FolderBuckets(bucket.parent), clock=clock)
        self._operations = operations(clock, jobs=self.runner)

    def export(self, **given: Any) -> Json:
        begun = self("ExportTableToPointInTime", **{"TableArn": ARN, "S3Bucket": "lake", **given})
        self.runner.wait()
        found: Json = self("DescribeExport", ExportArn=begun["ExportDescription"]["ExportArn"])["ExportDescription"]
        return found

    def import_(self, table: str, prefix: str, kind: str = "DYNAMODB_JSON", packed: str = "NONE", **given: Any) -> Json:
        source = {"S3Bucket": "lake", "S3KeyPrefix": prefix}
        begun = self(
            "ImportTable",
            S3BucketSource=source,
            InputFormat=kind,
            InputCompressionType=packed,
            TableCreationParameters={"TableName": table, **TABLE},
            **given,
        )
        self.runner.wait()
        arn = begun["ImportTableDescription"]["ImportArn"]
        found: Json = self("DescribeImport", ImportArn=arn)["ImportTableDescription"]
        return found

    def names(self, table: str) -> list[str]:
        return sorted(item["task"]["S"] for item in self("Scan", TableName=table)["Items"])


@pytest.fixture
def call(store: EmbeddedStore, clock: FakeClock, bucket: Path) -> Exporting:
    caller = Exporting(store, clock, bucket)
    caller("CreateTable", **TASKS)
    store.execute(SetRecovery("tasks"))
    for name, status in (("a", "open"), ("b", "done")):
        caller("PutItem", TableName="tasks", Item=task("u", name, status=status))
    return caller


def lines(bucket: Path, exported: Json) -> list[Json]:
    home = (bucket / exported["ExportManifest"]).parent
    parts = [json.loads(line) for line in (home / "manifest-files.json").read_bytes().splitlines()]
    packed = b"".join((bucket / part["dataFileS3Key"]).read_bytes() for part in parts)
    return [json.loads(line) for line in gzip.decompress(packed).splitlines()]


@pytest.mark.rule(63)
def test_a_full_export_has_what_was_there_and_is_imported_by_the_library(
    call: Exporting, bucket: Path, clock: FakeClock, tmp_path: Path
) -> None:
    then = clock()
    clock.advance(60)
    call("PutItem", TableName="tasks", Item=task("u", "later"))
    exported = call.export(ExportTime=then, S3Prefix="exports")
    assert (exported["ExportStatus"], exported["ItemCount"], exported["ExportTime"]) == ("COMPLETED", 2, then)
    assert exported["ExportManifest"].startswith("exports/AWSDynamoDB/")
    assert sorted(line["Item"]["task"]["S"] for line in lines(bucket, exported)) == ["a", "b"]
    home = (bucket / exported["ExportManifest"]).parent
    with EmbeddedStore(tmp_path / "other.db", durable=False) as other:
        Import(home).run(Side(other), owner="test")
        assert {item["task"] for item in other.execute(ScanTable("tasks")).items} == {"a", "b"}


class Slow(FolderBuckets):
    """Buckets in a folder; each write advances the clock by a second."""

    def __init__(self, root: Path, clock: FakeClock) -> None:
        super().__init__(root)
        self._clock = clock

    def write(self, bucket: str, key: str, body: bytes, encryption: Any = None) -> None:
        self._clock.advance(1)
        super().write(bucket, key, body, encryption)


def test_the_summary_says_when_the_export_began_and_ended(
    call: Exporting, bucket: Path, clock: FakeClock, store: EmbeddedStore
) -> None:
    call.runner = JobRunner(lambda _region: store, Slow(bucket.parent, clock), clock=clock)
    call._operations = operations(clock, jobs=call.runner)
    exported = call.export()
    summary = json.loads((bucket / exported["ExportManifest"]).read_bytes())
    began, ended = (datetime.fromisoformat(summary[name]).timestamp() for name in ("startTime", "endTime"))
    assert (began, began + 3 < ended <= exported["EndTime"]) == (exported["StartTime"], True)


@pytest.mark.rule(63)
def test_filters_say_which_items_and_what_of_them(call: Exporting, bucket: Path) -> None:
    names = {"#s": "status"}
    exported = call.export(
        FilterSpecification={
            "KeyConditionExpression": "#u = :u AND begins_with(task, :t)",
            "FilterExpression": "#s = :s",
            "ProjectionExpression": "task",
            "ExpressionAttributeNames": {**names, "#u": "user"},
            "ExpressionAttributeValues": {":u": {"S": "u"}, ":t": {"S": "a"}, ":s": {"S": "open"}},
        }
    )
    assert lines(bucket, exported) == [{"Item": {"task": {"S": "a"}}}]
    with pytest.raises(ValidationFailed):
        call.export(FilterSpecification={"FilterExpression": "#s ="})


@pytest.mark.rule(63)
def test_an_incremental_export_has_what_became_of_each_item(call: Exporting, bucket: Path, clock: FakeClock) -> None:
    since = clock()
    clock.advance(600)
    call("PutItem", TableName="tasks", Item=task("u", "a", status="done"))
    call("PutItem", TableName="tasks", Item=task("u", "c", status="open"))
    call("DeleteItem", TableName="tasks", Key=task("u", "b"))
    at = clock()
    clock.advance(600)
    asked = {"ExportType": "INCREMENTAL_EXPORT", "IncrementalExportSpecification": {"ExportFromTime": since}}
    exported = call.export(**asked)
    found = {line["Keys"]["task"]["S"]: line for line in lines(bucket, exported)}
    shown = {name: ("OldImage" in line, "NewImage" in line) for name, line in found.items()}
    assert shown == {"a": (True, True), "b": (True, False), "c": (False, True)}
    assert found["a"]["Metadata"]["WriteTimestampMicros"] == {"N": str(round(at * 1_000_000))}
    asked["IncrementalExportSpecification"] = {"ExportFromTime": since, "ExportViewType": "NEW_IMAGE"}
    assert all("OldImage" not in line for line in lines(bucket, call.export(**asked)))
    summary = json.loads((bucket / exported["ExportManifest"]).read_bytes())
    assert (summary["exportType"], summary["outputView"]) == ("INCREMENTAL_EXPORT", "NEW_AND_OLD_IMAGES")


@pytest.mark.rule(63)
def test_what_cannot_be_exported_is_refused(call: Exporting, store: EmbeddedStore, clock: FakeClock) -> None:
    def kind(**given: Any) -> str:
        with pytest.raises(Fault) as failure:
            call.export(**given)
        return failure.value.kind

    assert kind(ExportTime=clock() - 60) == "InvalidExportTimeException"
    assert kind(ExportTime=clock() + 60) == "InvalidExportTimeException"
    assert kind(TableArn=ARN.replace("tasks", "nothing")) == "TableNotFoundException"
    specification = {"ExportFromTime": clock()}
    with pytest.raises(ValidationFailed, match="15 minutes"):
        call.export(ExportType="INCREMENTAL_EXPORT", IncrementalExportSpecification=specification)
    with pytest.raises(ValidationFailed, match="not a valid object name"):
        call.export(S3Prefix="../..")
    with pytest.raises(Fault) as missing:
        call("DescribeExport", ExportArn=f"{ARN}/export/01")
    assert missing.value.kind == "ExportNotFoundException"
    failed = call.export(S3Bucket="nothing")
    assert (failed["ExportStatus"], failed["FailureCode"]) == ("FAILED", "S3NoSuchBucket")
    store.execute(SetRecovery("tasks", None))
    assert kind() == "PointInTimeRecoveryUnavailableException"
    store.execute(SetRecovery("tasks"))
    with pytest.raises(ValidationFailed, match="no buckets"):
        Caller(store)("ExportTableToPointInTime", TableArn=ARN, S3Bucket="lake")


@pytest.mark.rule(63)
def test_a_token_begins_one_export(call: Exporting, clock: FakeClock) -> None:
    first = call.export(ClientToken="t1")
    assert call.export(ClientToken="t1")["ExportArn"] == first["ExportArn"]
    with pytest.raises(Fault) as conflict:
        call.export(ClientToken="t1", S3Prefix="elsewhere")
    assert conflict.value.kind == "ExportConflictException"
    clock.advance(9 * 3_600)
    assert call.export(ClientToken="t1")["ExportArn"] != first["ExportArn"]
    clock.advance(1)
    third = call.export()
    page = call("ListExports", MaxResults=2)
    assert len(page["ExportSummaries"]) == 2
    rest = call("ListExports", TableArn=ARN, NextToken=page["NextToken"])
    assert [each["ExportArn"] for each in rest["ExportSummaries"]] == [third["ExportArn"]]
    assert call("ListExports", TableArn=ARN.replace("tasks", "other")) == {"ExportSummaries": []}


@pytest.mark.rule(64)
@pytest.mark.parametrize("kind", ["DYNAMODB_JSON", "ION"])
def test_what_was_exported_is_imported_into_a_new_table(call: Exporting, kind: str) -> None:
    more = {
        "n": {"NS": ["1", "2.5"]},
        "m": {"M": {"x": {"NULL": True}}},
        "b": {"B": "AAE="},
        "l": {"L": [{"BOOL": True}]},
    }
    call("PutItem", TableName="tasks", Item={**task("u", "c"), **more})
    exported = call.export(ExportFormat=kind, S3Prefix="out")
    data = exported["ExportManifest"].replace("manifest-summary.json", "data/")
    imported = call.import_("again", data, kind, "GZIP")
    assert (imported["ImportStatus"], imported["ImportedItemCount"], imported["ErrorCount"]) == ("COMPLETED", 3, 0)
    assert sorted(call("Scan", TableName="again")["Items"], key=repr) == sorted(
        call("Scan", TableName="tasks")["Items"], key=repr
    )
    assert call("Scan", TableName="again", IndexName="by_status")["Count"] == 2


@pytest.mark.rule(64)
def test_csv_is_imported_and_what_does_not_fit_is_counted(call: Exporting, bucket: Path) -> None:
    (bucket / "rows.csv").write_text("user;task;status;note\nu;1;open;\nu;;open;x\nu;2;done\nu;1;done;last\n")
    options: Json = {"InputFormatOptions": {"Csv": {"Delimiter": ";"}}}
    imported = call.import_("rows", "rows", "CSV", **options)
    assert (imported["ProcessedItemCount"], imported["ImportedItemCount"], imported["ErrorCount"]) == (4, 2, 2)
    assert call("Scan", TableName="rows")["Items"] == [task("u", "1", status="done", note="last")]
    (bucket / "bare.csv").write_text("u,7\n")
    header: Json = {"InputFormatOptions": {"Csv": {"HeaderList": ["user", "task"]}}}
    call.import_("bare", "bare", "CSV", **header)
    assert call.names("bare") == ["7"]


@pytest.mark.req("X04")
@pytest.mark.parametrize("long", ["x" * 5_000_000, "x," * 2_500_000, '"x\n",' * 1_000_000])
def test_a_record_of_a_csv_file_has_a_bound(call: Exporting, bucket: Path, long: str) -> None:
    (bucket / "long.csv.gz").write_bytes(gzip.compress(f"user,task\nu,1\n{long}\nu,2\n".encode(), 1))
    imported = call.import_("long", "long", "CSV", "GZIP")
    assert (imported["ImportStatus"], imported["ProcessedItemCount"], imported["ErrorCount"]) == ("COMPLETED", 2, 1)
    assert call.names("long") == ["1"]


def test_each_record_of_a_csv_file_may_be_that_long(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(partial(csv.field_size_limit, csv.field_size_limit()))  # the limit is of the whole process
    monkeypatch.setattr(_csv, "MAX_RECORD_BYTES", 10)
    rows = io.BytesIO(b"aa,bb,cc\n" * 3 + b"aa,b,cccc\n" + b"aa,bb,cccc\n")
    assert [type(each) for each in _csv.csv_records({}, ",", None, rows, 1)] == [BulkPut, BulkPut, Unreadable]


@pytest.mark.req("X04")
def test_an_import_that_fails_unexpectedly_does_not_stop_the_others(
    call: Exporting, bucket: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (bucket / "rows.csv").write_text("user,task\nu,1\n")
    with monkeypatch.context() as patched:
        patched.setattr(_runner, "run_import", raising(RecursionError("too deep")))
        failed = call.import_("first", "rows", "CSV")
    assert (failed["ImportStatus"], failed["FailureCode"]) == ("FAILED", "InternalServerError")
    assert "too deep" not in failed["FailureMessage"]
    assert "too deep" in caplog.text
    assert call.import_("second", "rows", "CSV")["ImportStatus"] == "COMPLETED"


def raising(error: Exception) -> Callable[..., None]:
    def raise_it(*_: Any) -> None:
        raise error

    return raise_it


@pytest.mark.rule(64)
def test_what_cannot_be_imported_is_refused(call: Exporting, bucket: Path) -> None:
    (bucket / "one.json").write_text('{"Item": {"user": {"S": "u"}, "task": {"S": "1"}}}\nnot json\n')
    first = call.import_("one", "one", ClientToken="t1")
    assert (first["ImportedItemCount"], first["ErrorCount"]) == (1, 1)
    assert call.import_("one", "one", ClientToken="t1")["ImportArn"] == first["ImportArn"]
    with pytest.raises(Fault) as conflict:
        call.import_("two", "one", ClientToken="t1")
    assert conflict.value.kind == "ImportConflictException"
    with pytest.raises(Exception, match="already exists"):
        call.import_("one", "one")
    with pytest.raises(ValidationFailed, match="delimiter"):
        call.import_("two", "one", "CSV", InputFormatOptions={"Csv": {"Delimiter": "x"}})
    with pytest.raises(Fault) as missing:
        call("DescribeImport", ImportArn=f"{ARN}/import/01")
    assert missing.value.kind == "ImportNotFoundException"
    call.clock.advance(1)
    call.import_("two", "one")
    page = call("ListImports", PageSize=1)
    assert (len(page["ImportSummaryList"]), len(page["NextToken"]) >= 112) == (1, True)
    (second,) = call("ListImports", NextToken=page["NextToken"])["ImportSummaryList"]
    assert second["TableArn"].endswith("/two")


@pytest.mark.rule(63)
def test_what_a_killed_server_left_is_finished_by_whoever_asks_next(call: Exporting, store: EmbeddedStore) -> None:
    begun = call.export()
    job = run(_jobs.found("export", begun["ExportArn"]), store.execute)
    assert job is not None
    left = _jobs.Job("export", job.id, job.table, job.table_id, job.asked, job.digest, job.started)
    store.execute(_jobs.keep(left))
    assert call("DescribeExport", ExportArn=begun["ExportArn"])["ExportDescription"]["ExportStatus"] == "IN_PROGRESS"
    call.runner.wait()
    assert call("DescribeExport", ExportArn=begun["ExportArn"])["ExportDescription"]["ItemCount"] == 2


@pytest.mark.rule(63)
def test_waiters_and_paginators_of_boto3_work(
    store: EmbeddedStore, call: Exporting, bucket: Path, clock: FakeClock
) -> None:
    boto3 = pytest.importorskip("boto3")
    with serving(store, buckets=FolderBuckets(bucket.parent)) as (host, port):
        client = boto3.client(
            "dynamodb",
            endpoint_url=f"http://{host}:{port}",
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )
        quick = {"Delay": 0, "MaxAttempts": 10_000}
        arn = client.export_table_to_point_in_time(TableArn=ARN, S3Bucket="lake")["ExportDescription"]["ExportArn"]
        client.get_waiter("export_completed").wait(ExportArn=arn, WaiterConfig=quick)
        manifest = client.describe_export(ExportArn=arn)["ExportDescription"]["ExportManifest"]
        source = {"S3Bucket": "lake", "S3KeyPrefix": manifest.replace("manifest-summary.json", "data/")}
        parameters = {"TableName": "again", **TABLE}
        imported = client.import_table(
            S3BucketSource=source,
            InputFormat="DYNAMODB_JSON",
            InputCompressionType="GZIP",
            TableCreationParameters=parameters,
        )["ImportTableDescription"]["ImportArn"]
        client.get_waiter("import_completed").wait(ImportArn=imported, WaiterConfig=quick)
        client.restore_table_to_point_in_time(
            SourceTableName="tasks", TargetTableName="restored", UseLatestRestorableTime=True
        )
        client.get_waiter("table_exists").wait(TableName="restored", WaiterConfig=quick)
        for _ in range(2):
            client.create_backup(TableName="tasks", BackupName="name")
        pages = client.get_paginator("list_backups").paginate(PaginationConfig={"PageSize": 1})
        assert [len(page["BackupSummaries"]) for page in pages] == [1, 1]
        assert {client.scan(TableName=name)["Count"] for name in ("tasks", "again", "restored")} == {2}
    store.execute(DeleteTable("again"))
