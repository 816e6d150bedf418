"""Bulk operations from their start to their end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.wire.bulk.conftest import Bulk, asked, tasks
from tests.wire.support import TASKS, Caller, task
from tests.wire.test_vectors import definition, index, item, search

from partita import EmbeddedStore
from partita.errors import TokenMismatch, ValidationFailed
from partita.wire._faults import Fault
from partita.wire.bulk import _stored

NEW = {"ConditionExpression": "attribute_not_exists(#u)", "ExpressionAttributeNames": {"#u": "user"}}


@pytest.mark.rule(54)
def test_items_of_all_objects_of_a_prefix_are_put_with_their_index_entries(bulk: Bulk) -> None:
    bulk.put("loads/one.json", *tasks(30, status="open"))
    bulk.put("loads/deep/two.json", {"Item": task("u", "last", status="open")})
    bulk.put("other.json", {"Item": task("u", "other")})
    ended = bulk.ended(source={"S3KeyPrefix": "loads/"})
    assert ended["BulkOperationStatus"] == "COMPLETED"
    assert (ended["ProcessedItemCount"], ended["FailedItemCount"]) == (31, 0)
    size = sum(path.stat().st_size for path in (bulk.root / "in" / "loads").rglob("*.json"))
    assert (ended["ProcessedInputBytes"], ended["TotalInputBytes"]) == (size, size)
    assert len(bulk.items()) == 31
    assert bulk.call("Scan", TableName="tasks", IndexName="by_status")["Count"] == 31
    (usage,) = ended["BulkOperationUsage"]
    assert usage["BulkPutBytes"] == 2 * usage["Table"]["BulkPutBytes"] > 0  # the index has all attributes
    assert usage["GlobalSecondaryIndexes"]["by_status"] == usage["Table"]
    assert ended["TableDetails"][0]["TableId"] == bulk.call("DescribeTable", TableName="tasks")["Table"]["TableId"]


@pytest.mark.rule(54)
def test_an_item_replaces_the_one_that_has_its_key_and_of_several_the_last_stays(bulk: Bulk) -> None:
    bulk.call("PutItem", TableName="tasks", Item=task("u", "1", status="old", title="old"))
    bulk.put("a.json", *({"Item": task("u", "1", status=status)} for status in ("first", "second")))
    bulk.ended()
    assert bulk.items() == {"1": task("u", "1", status="second")}
    assert bulk.call("Scan", TableName="tasks", IndexName="by_status")["Items"] == [task("u", "1", status="second")]


@pytest.mark.rule(55)
def test_a_false_condition_is_reported_with_both_items_and_is_not_an_error(bulk: Bulk) -> None:
    bulk.call("PutItem", TableName="tasks", Item=task("u", "there", title="kept"))
    bulk.put("a.json", {"Item": task("u", "there"), **NEW}, {"Item": task("u", "new"), **NEW})
    ended = bulk.ended()
    assert ended["BulkOperationStatus"] == "COMPLETED"
    assert (ended["ProcessedItemCount"], ended["FailedItemCount"]) == (2, 0)
    (line,) = bulk.report("CONDITION_CHECK_FAILURE")
    assert (line["Object"], line["Record"]) == ("a.json", 1)
    assert (line["Item"], line["ExistingItem"]) == (task("u", "there"), task("u", "there", title="kept"))
    assert bulk.report("ERROR") == []
    assert bulk.items() == {"there": task("u", "there", title="kept"), "new": task("u", "new")}


@pytest.mark.rule(55)
def test_a_condition_sees_what_the_records_before_it_wrote(bulk: Bulk) -> None:
    bulk.put("a.json", {"Item": task("u", "1", title="first"), **NEW}, {"Item": task("u", "1", title="second"), **NEW})
    bulk.ended()
    assert bulk.items()["1"] == task("u", "1", title="first")
    assert [line["Record"] for line in bulk.report("CONDITION_CHECK_FAILURE")] == [2]


@pytest.mark.rule(56)
def test_what_cannot_be_read_or_stored_is_reported_and_the_rest_is_put(bulk: Bulk) -> None:
    good = json.dumps({"Item": task("u", "good")}).encode()
    bad: list[bytes] = [
        b"not json",
        b"[1]",
        b'{"Keys": {}}',
        b'{"Item": {"user": {"S": "u"}}}',
        b'{"Item": {"user": {"N": "1"}, "task": {"S": "x"}}}',
        b'{"Item": {"user": {"S": "u"}, "task": {"S": "x"}, "n": {"N": "one"}}}',
        b'{"Item": {"user": {"S": "u"}, "task": {"S": "x"}, "status": {"N": "1"}}}',
        b'{"Item": {"user": {"S": "u"}, "task": {"S": "x"}}, "ConditionExpression": "nonsense("}',
        b'{"Item": {"user": {"S": "u"}, "task": {"S": "x"}}, "Unknown": 1}',
        json.dumps({"Item": task("u", "large", text="x" * 410_000)}).encode(),
    ]
    bulk.put_bytes("a.json", b"\n".join([*bad, b"", good]))
    ended = bulk.ended()
    assert ended["BulkOperationStatus"] == "COMPLETED_WITH_ERRORS"
    assert (ended["ProcessedItemCount"], ended["FailedItemCount"]) == (len(bad) + 1, len(bad))
    report = bulk.report("ERROR")
    assert sorted(line["Record"] for line in report) == [*range(1, len(bad) + 1)]
    assert {line["ErrorCode"] for line in report} == {"ValidationException"}
    said = {line["Record"]: line["ErrorMessage"] for line in report}
    assert said[4] == "One or more parameter values were invalid: Missing the key task in the item"
    assert bulk.items() == {"good": task("u", "good")}


@pytest.mark.rule(56)
def test_only_the_reports_that_are_asked_for_are_written(bulk: Bulk) -> None:
    bulk.put("a.json", {"Item": task("u", "1"), **NEW}, {"Item": task("u", "1"), **NEW}, {"nothing": 1})
    bulk.ended(output={"OutputType": ["ERROR"], "S3KeyPrefix": "reports/today"})
    assert (len(bulk.report("ERROR")), bulk.report("CONDITION_CHECK_FAILURE")) == (1, [])
    (summary,) = (bulk.root / "out" / "reports" / "today").rglob("manifest-summary.json")
    found = json.loads(summary.read_bytes())
    assert (found["processedItemCount"], found["failedItemCount"], found["conditionCheckFailureCount"]) == (3, 1, 1)
    assert [(bulk.root / "out" / name).is_file() for name in found["files"]] == [True]


def test_the_summary_names_the_table_in_the_region_of_the_operation(bulk: Bulk) -> None:
    bulk.put("a.json", {"Item": task("u", "1")})
    bulk.call = Caller(bulk.store, "eu-west-1", bulk=bulk.runner)
    bulk.ended(output={"OutputType": ["ERROR"]})
    (summary,) = (bulk.root / "out").rglob("manifest-summary.json")
    assert json.loads(summary.read_bytes())["tableArn"] == "arn:aws:dynamodb:eu-west-1:000000000000:table/tasks"


@pytest.mark.rule(54)
def test_the_stream_of_a_table_has_each_put(bulk: Bulk) -> None:
    bulk.call("UpdateTable", TableName="tasks", StreamSpecification=TASKS["StreamSpecification"])
    bulk.call("PutItem", TableName="tasks", Item=task("u", "00001", title="old"))
    bulk.put("a.json", *tasks(3))
    bulk.ended()
    arn = bulk.call("DescribeTable", TableName="tasks")["Table"]["LatestStreamArn"]
    (shard,) = bulk.call("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"]
    at = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
    records = bulk.call("GetRecords", ShardIterator=bulk.call("GetShardIterator", **at)["ShardIterator"])["Records"]
    assert [each["eventName"] for each in records] == ["INSERT", "INSERT", "MODIFY", "INSERT"]
    assert records[2]["dynamodb"]["OldImage"] == task("u", "00001", title="old")


@pytest.mark.rule(54)
def test_vectors_are_searched_after_a_load(bulk: Bulk) -> None:
    bulk.call("CreateTable", **definition(index()))
    bulk.put("v.json", *({"Item": item(str(number), number, 1, tenant="t")} for number in range(1, 4)))
    (usage,) = bulk.ended(TableName="notes")["BulkOperationUsage"]
    assert usage["VectorIndexes"]["near"]["BulkPutVectorBytes"] > 0
    assert len(search(bulk.call)["SearchResults"]) == 3


@pytest.mark.rule(57)
def test_a_token_begins_one_operation_for_eight_hours(bulk: Bulk) -> None:
    bulk.put("a.json", *tasks(1))
    first = bulk.ended(ClientToken="one")
    assert bulk.start(ClientToken="one") == first
    with pytest.raises(TokenMismatch):
        bulk.start(ClientToken="one", MaxWriteRequestUnits=2_000)
    bulk.call.now += 8 * 3_600 + 1
    assert bulk.start(ClientToken="one")["BulkOperationArn"] != first["BulkOperationArn"]


@pytest.mark.rule(57)
def test_operations_are_listed_in_pages_newest_first_for_90_days(bulk: Bulk) -> None:
    bulk.put("a.json", *tasks(1))
    arns = []
    for _ in range(3):
        bulk.call.now += 1
        arns.append(bulk.ended()["BulkOperationArn"])
    first = bulk.call("ListBulkOperations", MaxResults=2)
    rest = bulk.call("ListBulkOperations", MaxResults=2, NextToken=first["NextToken"])
    found = [each["BulkOperationArn"] for page in (first, rest) for each in page["BulkOperationsSummaryList"]]
    assert found == arns[::-1]
    assert "NextToken" not in rest
    bulk.call.now += 90 * 24 * 3_600
    assert [each["BulkOperationArn"] for each in bulk.call("ListBulkOperations")["BulkOperationsSummaryList"]] == [
        arns[2]
    ]


@pytest.mark.rule(58)
def test_a_cancelled_operation_keeps_what_it_wrote(bulk: Bulk, monkeypatch: pytest.MonkeyPatch) -> None:
    bulk.put("a.json", *tasks(5_000))
    arns: list[str] = []
    execute = EmbeddedStore.execute

    def cancelling(store: EmbeddedStore, request: Any) -> Any:
        response = execute(store, request)
        if type(request).__name__ == "LoadItems":
            assert bulk.call("CancelBulkOperation", BulkOperationArn=arns[0])["BulkOperationStatus"] == "CANCELLING"
        return response

    monkeypatch.setattr(bulk.runner, "wake", lambda _: None)
    arns.append(bulk.start()["BulkOperationArn"])
    monkeypatch.undo()
    monkeypatch.setattr(EmbeddedStore, "execute", cancelling)
    bulk.runner.wake("us-east-1")
    bulk.runner.wait()
    ended = bulk.described(arns[0])
    assert (ended["BulkOperationStatus"], ended["ProcessedItemCount"]) == ("CANCELLED", 2_000)
    assert ended["FailureCode"] == "OperationCancelled"
    assert "EndTime" in ended
    assert len(bulk.items()) == 2_000
    with pytest.raises(ValidationFailed, match="CANCELLED"):
        bulk.call("CancelBulkOperation", BulkOperationArn=arns[0])


@pytest.mark.rule(58)
def test_an_operation_that_cannot_go_on_has_failed_and_says_why(bulk: Bulk) -> None:
    assert bulk.ended(source={"S3Bucket": "nowhere"})["FailureCode"] == "S3NoSuchBucket"
    assert bulk.ended(source={"S3KeyPrefix": "nothing/"})["FailureCode"] == "ValidationException"
    bulk.put("a.json", *tasks(1))
    ended = bulk.ended(output={"S3Bucket": "nowhere"})
    assert (ended["BulkOperationStatus"], ended["FailureCode"]) == ("FAILED", "S3NoSuchBucket")
    assert bulk.ended()["BulkOperationStatus"] == "COMPLETED"  # the table is free again


@pytest.mark.rule(58)
def test_a_table_that_is_made_again_is_another_one(bulk: Bulk, monkeypatch: pytest.MonkeyPatch) -> None:
    bulk.put("a.json", *tasks(1))
    monkeypatch.setattr(bulk.runner, "wake", lambda _: None)
    arn = bulk.start()["BulkOperationArn"]
    bulk.call("DeleteTable", TableName="tasks")
    bulk.call("CreateTable", **TASKS)
    monkeypatch.undo()
    bulk.runner.wake("us-east-1")
    bulk.runner.wait()
    ended = bulk.described(arn)
    assert (ended["BulkOperationStatus"], ended["FailureCode"]) == ("FAILED", "ResourceNotFoundException")
    assert bulk.items() == {}


@pytest.mark.rule(58)
def test_input_that_changes_makes_the_operation_fail(bulk: Bulk, monkeypatch: pytest.MonkeyPatch) -> None:
    path = bulk.put("a.json", *tasks(1))
    saved = _stored.save_inputs

    def changing(*arguments: Any) -> None:
        saved(*arguments)
        path.write_bytes(b"something else")

    monkeypatch.setattr(_stored, "save_inputs", changing)
    ended = bulk.ended()
    assert (ended["BulkOperationStatus"], ended["FailureCode"]) == ("FAILED", "S3ObjectModified")


@pytest.mark.rule(57)
def test_a_table_has_one_operation_at_a_time(bulk: Bulk, monkeypatch: pytest.MonkeyPatch) -> None:
    bulk.put("a.json", *tasks(1))
    monkeypatch.setattr(bulk.runner, "wake", lambda _: None)
    bulk.start()
    with pytest.raises(Fault) as failure:
        bulk.start()
    assert failure.value.kind == "ResourceInUseException"


@pytest.mark.rule(57)
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"InputS3Configuration": None}, "inputS3Configuration"),
        ({"OutputS3Configuration": {"S3Bucket": "out", "OutputType": []}}, "at least one"),
        ({"OutputS3Configuration": {"S3Bucket": "out", "OutputType": ["ALL"]}}, "outputType"),
        ({"OutputS3Configuration": {"OutputType": ["ERROR"]}}, "s3Bucket"),
        ({"MaxWriteRequestUnits": 1_023}, "1024"),
        ({"PerformanceTier": "FAST"}, "performanceTier"),
        ({"ClientToken": "$"}, "clientToken"),
        (asked(source={"InputFormat": "CSV"}), "inputFormat"),
        (asked(source={"InputCompressionType": "LZ4"}), "inputCompressionType"),
        (asked(source={"S3Bucket": "../in"}), "s3Bucket"),
        (asked(source={"S3BucketOwner": "me"}), "s3BucketOwner"),
        (asked(output={"S3KeyPrefix": "../../elsewhere"}), "not a valid object name"),
        (asked(output={"S3SseKmsKeyId": "key"}), "S3SseAlgorithm"),
    ],
)
def test_what_is_asked_wrongly_is_refused(bulk: Bulk, wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationFailed, match=said):
        bulk.call("StartBulkPutItems", **{**asked(), **wrong})


@pytest.mark.rule(57)
def test_what_is_not_there_is_not_found(bulk: Bulk) -> None:
    with pytest.raises(Fault, match="Table: none not found"):
        bulk.start(TableName="none")
    for operation in ("DescribeBulkOperation", "CancelBulkOperation"):
        for arn in ("arn:aws:dynamodb:us-east-1:000000000000:table/tasks/bulk-operation/1", "x" * 40):
            with pytest.raises(Fault, match="not found") as failure:
                bulk.call(operation, BulkOperationArn=arn)
            assert failure.value.kind == "ResourceNotFoundException"
    assert bulk.call("ListBulkOperations") == {"BulkOperationsSummaryList": []}
    assert bulk.call("ListTables")["TableNames"] == ["tasks"]


@pytest.mark.rule(57)
def test_a_server_without_buckets_starts_none(call: Caller) -> None:
    with pytest.raises(ValidationFailed, match="--buckets"):
        call("StartBulkPutItems", **asked())


@pytest.mark.rule(58)
def test_links_that_lead_out_of_the_folder_are_not_read(bulk: Bulk, tmp_path: Path) -> None:
    bulk.put("a.json", *tasks(1))
    outside = tmp_path / "secret.json"
    outside.write_text(json.dumps({"Item": task("u", "secret")}))
    (bulk.root / "in" / "link.json").symlink_to(outside)
    assert bulk.ended()["ProcessedItemCount"] == 1
