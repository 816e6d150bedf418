"""Vector indexes over the wire: boto3 creates, describes and searches them; the wording of validation errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.wire.support import Caller, Json
from tests.wire.test_boto3 import connect

from partita.errors import ValidationFailed
from partita.wire._faults import Fault

INVALID = "One or more parameter values were invalid: "


def index(name: str = "near", **changed: Any) -> Json:
    return {
        "IndexName": name,
        "VectorAttribute": {"AttributeName": "v"},
        "SearchSchema": [
            {"AttributeName": "tenant", "SearchSchemaElementType": "HASH"},
            {"AttributeName": "rank", "SearchSchemaElementType": "INLINE_FILTER"},
        ],
        "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["label"]},
        "Dimensions": 2,
        "DistanceFunction": "COSINE",
    } | changed


def definition(*indexes: Json, **changed: Any) -> Json:
    return {
        "TableName": "notes",
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "tenant", "AttributeType": "S"},
            {"AttributeName": "rank", "AttributeType": "N"},
        ],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "VectorIndexes": list(indexes),
    } | changed


def vector(*numbers: float) -> list[Json]:
    return [{"N": str(number)} for number in numbers]


def item(key: str, *numbers: float, **texts: str) -> Json:
    return {"pk": {"S": key}, "v": {"L": vector(*numbers)}, **{name: {"S": text} for name, text in texts.items()}}


def search(call: Caller, **changed: Any) -> Json:
    given: Json = {
        "TableName": "notes",
        "IndexName": "near",
        "SearchVector": vector(1, 0),
        "TopK": 3,
        "SearchConditionExpression": "tenant = :t",
        "ExpressionAttributeValues": {":t": {"S": "t"}},
    }
    return call("SearchVectors", **{name: value for name, value in (given | changed).items() if value is not None})


@pytest.fixture
def notes(call: Caller) -> Caller:
    call("CreateTable", **definition(index()))
    return call


@pytest.mark.rule(65)
def test_an_index_is_described_as_it_was_made(call: Caller) -> None:
    made = call("CreateTable", **definition(index()))["TableDescription"]["VectorIndexes"][0]
    assert (made["IndexStatus"], "Backfilling" in made) == ("CREATING", False)
    table = call("DescribeTable", TableName="notes")["Table"]
    described = table["VectorIndexes"][0]
    assert {name: described[name] for name in index()} == index()
    assert described["IndexStatus"] == "ACTIVE"
    assert described["IndexArn"] == f"{table['TableArn']}/index/near"
    assert sorted(each["AttributeName"] for each in table["AttributeDefinitions"]) == ["pk", "rank", "tenant"]


@pytest.mark.rule(65)
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            definition(
                index(),
                BillingMode="PROVISIONED",
                ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
            ),
            f"{INVALID}Vector indexes are only supported for PAY_PER_REQUEST tables",
        ),
        (
            definition(index(), AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}]),
            f"{INVALID}One element in SearchSchema is not defined in attribute definitions",
        ),
        (
            definition(index(Dimensions=0)),
            (
                "1 validation error detected: Value '0' at 'vectorIndexes.1.member.dimensions' failed to satisfy "
                "constraint: Member must have value greater than or equal to 1"
            ),
        ),
        (
            definition(index(DistanceFunction="MANHATTAN")),
            (
                "1 validation error detected: Value 'MANHATTAN' at 'vectorIndexes.1.member.distanceFunction' failed to "
                "satisfy constraint: Member must satisfy enum value set: [COSINE, DOT_PRODUCT, EUCLIDEAN]"
            ),
        ),
        (
            definition(index("ab")),
            (
                "1 validation error detected: Value 'ab' at 'vectorIndexes.1.member.indexName' failed to satisfy "
                "constraint: Member must have length greater than or equal to 3"
            ),
        ),
        (
            definition(index(Dimensions=4097)),
            f"{INVALID}Number of dimensions must be between 1 and 4096 inclusive.",
        ),
        (
            definition(index(SearchSchema=[{"AttributeName": "pk", "SearchSchemaElementType": "RANGE"}])),
            (
                "1 validation error detected: Value 'RANGE' at "
                "'vectorIndexes.1.member.searchSchema.1.member.searchSchemaElementType' failed to satisfy constraint: "
                "Member must satisfy enum value set: [HASH, INLINE_FILTER]"
            ),
        ),
    ],
)
def test_a_definition_that_breaks_a_rule_is_refused_in_its_words(call: Caller, given: Json, message: str) -> None:
    with pytest.raises(ValidationFailed) as caught:
        call("CreateTable", **given)
    assert caught.value.message == message


@pytest.mark.rule(65)
def test_an_index_is_added_and_removed_one_at_a_time(call: Caller) -> None:
    plain = index("plain", SearchSchema=None)
    del plain["SearchSchema"]
    call("CreateTable", **definition(AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}]))
    call("PutItem", TableName="notes", Item=item("a", 1, 0))
    with pytest.raises(Fault, match="Only 1 online index can be created or deleted simultaneously per table"):
        call("UpdateTable", TableName="notes", VectorIndexUpdates=[{"Create": plain}, {"Create": index("other")}])
    added = call("UpdateTable", TableName="notes", VectorIndexUpdates=[{"Create": plain}])["TableDescription"]
    assert added["TableStatus"] == "UPDATING"
    assert (added["VectorIndexes"][0]["IndexStatus"], added["VectorIndexes"][0]["Backfilling"]) == ("CREATING", False)
    found = call("SearchVectors", TableName="notes", IndexName="plain", SearchVector=vector(1, 0), TopK=5)
    assert [match["Item"]["pk"]["S"] for match in found["SearchResults"]] == ["a"]
    call("UpdateTable", TableName="notes", VectorIndexUpdates=[{"Delete": {"IndexName": "plain"}}])
    assert "VectorIndexes" not in call("DescribeTable", TableName="notes")["Table"]
    with pytest.raises(Fault, match="Requested resource not found: Index: plain"):
        call("UpdateTable", TableName="notes", VectorIndexUpdates=[{"Delete": {"IndexName": "plain"}}])


@pytest.mark.rule(65)
def test_a_table_with_a_vector_index_stays_on_demand(notes: Caller) -> None:
    units = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    with pytest.raises(ValidationFailed, match="only supported for PAY_PER_REQUEST"):
        notes("UpdateTable", TableName="notes", BillingMode="PROVISIONED", ProvisionedThroughput=units)


@pytest.mark.rule(67)
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"SearchConditionExpression": "tenant < :t"},
            "Invalid SearchConditionExpression: Invalid comparator used in SearchConditionExpression",
        ),
        (
            {"SearchConditionExpression": None, "ExpressionAttributeValues": None},
            "SearchConditionExpression must be provided when SearchSchema has a HASH key",
        ),
        (
            {"SearchVector": [{"L": vector(1, 0)}]},
            (
                "Search vector contains invalid values. All values in the search vector must be a 32-bit "
                "floating-point number attribute"
            ),
        ),
        (
            {"TopK": 0},
            (
                "1 validation error detected: Value '0' at 'topK' failed to satisfy constraint: Member must have value "
                "greater than or equal to 1"
            ),
        ),
        (
            {"SearchVector": []},
            (
                "1 validation error detected: Value '[]' at 'searchVector' failed to satisfy constraint: Member must "
                "have length greater than or equal to 1"
            ),
        ),
        ({"IndexName": "none"}, "The table does not have the specified index: none"),
    ],
)
def test_a_search_that_breaks_a_rule_is_refused_in_its_words(notes: Caller, changed: Json, message: str) -> None:
    with pytest.raises(ValidationFailed) as caught:
        search(notes, **changed)
    assert caught.value.message == message


@pytest.mark.rule(68)
def test_partiql_does_not_read_a_vector_index(notes: Caller) -> None:
    with pytest.raises(ValidationFailed, match="Scan operation not supported on this index type"):
        notes("ExecuteStatement", Statement='SELECT * FROM "notes"."near"')


@pytest.mark.rule(69)
def test_capacity_is_in_a_shape_of_its_own(notes: Caller) -> None:
    written = notes("PutItem", TableName="notes", Item=item("a", 1, 0, tenant="t"), ReturnConsumedCapacity="INDEXES")
    assert written["ConsumedCapacity"] == {
        "TableName": "notes",
        "CapacityUnits": 1.0,
        "Table": {"CapacityUnits": 1.0},
        "VectorIndexes": {"near": {"VectorWriteRequestBytes": 1024.0}},
    }
    total = notes("PutItem", TableName="notes", Item=item("b", 1, 0, tenant="t"), ReturnConsumedCapacity="TOTAL")
    assert total["ConsumedCapacity"] == {"TableName": "notes", "CapacityUnits": 1.0}
    for detail in ("TOTAL", "INDEXES"):
        found = search(notes, ReturnConsumedCapacity=detail)
        assert found["ConsumedCapacity"] == {"VectorSearchRequestBytes": 1024.0}
    assert "ConsumedCapacity" not in search(notes)


@pytest.mark.rule(65)
def test_a_backup_is_restored_without_a_vector_index(notes: Caller) -> None:
    arn = notes("CreateBackup", TableName="notes", BackupName="kept")["BackupDetails"]["BackupArn"]
    restore = {"BackupArn": arn, "TargetTableName": "again"}
    with pytest.raises(ValidationFailed, match="VectorIndexOverride: the source table does not have the index nowhere"):
        notes("RestoreTableFromBackup", **restore, VectorIndexOverride=[{"IndexName": "nowhere"}])
    notes("RestoreTableFromBackup", **restore, VectorIndexOverride=[])
    assert "VectorIndexes" not in notes("DescribeTable", TableName="again")["Table"]


@pytest.mark.rule(65)
def test_a_backup_is_restored_with_its_vector_indexes(notes: Caller) -> None:
    notes("PutItem", TableName="notes", Item=item("a", 1, 0, tenant="t"))
    arn = notes("CreateBackup", TableName="notes", BackupName="first")["BackupDetails"]["BackupArn"]
    notes("RestoreTableFromBackup", TargetTableName="again", BackupArn=arn)
    assert [match["Item"]["pk"]["S"] for match in search(notes, TableName="again")["SearchResults"]] == ["a"]


@pytest.fixture
def client(address: tuple[str, int]) -> Iterator[Any]:
    client = connect("dynamodb", address)
    yield client
    client.close()


@pytest.mark.rule(67)
def test_boto3_searches(client: Any) -> None:
    client.create_table(**definition(index()))
    client.get_waiter("table_exists").wait(TableName="notes", WaiterConfig={"Delay": 0})
    for key, numbers in {"a": (1, 0), "b": (0.6, 0.8), "c": (0, 1)}.items():
        client.put_item(TableName="notes", Item=item(key, *numbers, tenant="t", label=key))
    found = client.search_vectors(
        TableName="notes",
        IndexName="near",
        SearchVector=vector(1, 0),
        TopK=2,
        SearchConditionExpression="#t = :t",
        ExpressionAttributeNames={"#t": "tenant"},
        ExpressionAttributeValues={":t": {"S": "t"}},
        ProjectionExpression="pk, label",
    )["SearchResults"]
    assert [match["Item"] for match in found] == [{"pk": {"S": key}, "label": {"S": key}} for key in "ab"]
    assert [match["Score"] for match in found] == pytest.approx([0.0, 0.4])
