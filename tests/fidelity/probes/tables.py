"""Tables: creating, describing, changing, listing, tagging."""

from __future__ import annotations

from typing import Any

from tests.fidelity import Api, holds, probe, refused, same
from tests.fidelity._attributes import Json, s
from tests.fidelity._shapes import shape

HASH = shape(("pk",), {"pk": "S"})
UNITS = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}


@probe(rule=47)
def a_table_is_described_as_it_was_made(api: Api) -> None:
    """The keys, billing and status are described; id and ARN stay the same."""
    name = api.will_make(api.new_name())
    made = api("CreateTable", TableName=name, BillingMode="PAY_PER_REQUEST", **HASH)["TableDescription"]
    holds(made["TableStatus"] in ("CREATING", "ACTIVE"), made["TableStatus"])
    table = api.wait_until_active(name)
    same((table["TableId"], table["TableArn"]), (made["TableId"], made["TableArn"]))
    same(table["TableArn"].rpartition("/")[2], name)
    same(table["TableArn"].split(":")[3], api.region)
    same(table["KeySchema"], HASH["KeySchema"])
    same(table["BillingModeSummary"]["BillingMode"], "PAY_PER_REQUEST")
    same((table["ItemCount"], table["TableSizeBytes"]), (0, 0))
    same(table["ProvisionedThroughput"]["ReadCapacityUnits"], 0)


@probe(rule=47)
def a_provisioned_table_has_its_units(api: Api) -> None:
    """The units have never been decreased, and there is no summary of billing if the table was never on demand."""
    table = api.new_table(BillingMode="PROVISIONED", ProvisionedThroughput=UNITS, **HASH)
    described = api("DescribeTable", TableName=table)["Table"]
    units = described["ProvisionedThroughput"]
    same({name: units[name] for name in UNITS}, UNITS)
    same(units["NumberOfDecreasesToday"], 0)
    same(described.get("BillingModeSummary"), None)


@probe(rule=47)
def a_table_that_exists_cannot_be_made(api: Api) -> None:
    """The error type is ResourceInUseException."""
    given = {"TableName": api.table("hash"), "BillingMode": "PAY_PER_REQUEST", **HASH}
    refused(api, "CreateTable", kind="ResourceInUseException", **given)


@probe(rule=47, cases={each: (each,) for each in ("DescribeTable", "DeleteTable")})
def a_missing_table_is_not_found(api: Api, operation: str) -> None:
    """The message names the table."""
    name = f"{api.prefix}nowhere"
    message = f"Requested resource not found: Table: {name} not found"
    refused(api, operation, kind="ResourceNotFoundException", message=message, TableName=name)


@probe(rule=47)
def tables_are_listed_in_order_and_in_pages(api: Api) -> None:
    """Each page starts after a table name."""
    names = sorted([api.table("hash"), api.table("pair")])
    listed: list[str] = []
    start: dict[str, Any] = {}
    while True:
        page = api("ListTables", Limit=2, **start)
        listed += page["TableNames"]
        if "LastEvaluatedTableName" not in page:
            break
        start = {"ExclusiveStartTableName": page["LastEvaluatedTableName"]}
    same(listed, sorted(listed))
    same([name for name in listed if name in names], names)


@probe(rule=47)
def a_deleted_table_is_gone(api: Api) -> None:
    """The list does not have the table, either."""
    table = api.new_table(**HASH)
    same(api("DeleteTable", TableName=table)["TableDescription"]["TableStatus"], "DELETING")

    def listed() -> bool:
        return table in api("ListTables", ExclusiveStartTableName=table[:-1])["TableNames"]

    same(api.eventually(listed, lambda found: not found), False)


@probe(rule=47)
def billing_can_be_changed(api: Api) -> None:
    """Units can be changed, and a provisioned table becomes an on-demand table and a provisioned one again."""
    table = api.new_table(BillingMode="PROVISIONED", ProvisionedThroughput=UNITS, **HASH)
    more = {"ReadCapacityUnits": 2, "WriteCapacityUnits": 3}
    api("UpdateTable", TableName=table, ProvisionedThroughput=more)
    units = api.wait_until_active(table)["ProvisionedThroughput"]
    same({name: units[name] for name in more}, more)
    holds(units.get("LastIncreaseDateTime"), "there is no LastIncreaseDateTime after an increase")
    api("UpdateTable", TableName=table, BillingMode="PAY_PER_REQUEST")
    summary = api.wait_until_active(table)["BillingModeSummary"]
    same(summary["BillingMode"], "PAY_PER_REQUEST")
    holds(summary.get("LastUpdateToPayPerRequestDateTime"), "there is no LastUpdateToPayPerRequestDateTime")
    api("UpdateTable", TableName=table, BillingMode="PROVISIONED", ProvisionedThroughput=UNITS)
    described = api.wait_until_active(table)
    same(described["BillingModeSummary"]["BillingMode"], "PROVISIONED")
    same({name: described["ProvisionedThroughput"][name] for name in UNITS}, UNITS)


_MISTAKES: dict[str, tuple[dict[str, Any]]] = {
    "on demand with units": ({"BillingMode": "PAY_PER_REQUEST", "ProvisionedThroughput": UNITS},),
    "provisioned without units": ({"BillingMode": "PROVISIONED"},),
    "no units at all": ({"BillingMode": "PROVISIONED", "ProvisionedThroughput": {**UNITS, "ReadCapacityUnits": 0}},),
    "unknown billing": ({"BillingMode": "FREE"},),
    "view of no stream": ({"StreamSpecification": {"StreamEnabled": False, "StreamViewType": "KEYS_ONLY"}},),
    "stream without a view": ({"StreamSpecification": {"StreamEnabled": True}},),
    "no keys": ({"KeySchema": []},),
    "unknown type": ({"AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "X"}]},),
    "unknown role": ({"KeySchema": [{"AttributeName": "pk", "KeyType": "BOTH"}]},),
    "range first": ({"KeySchema": [{"AttributeName": "pk", "KeyType": "RANGE"}]},),
    "key that is not defined": ({"KeySchema": [{"AttributeName": "other", "KeyType": "HASH"}]},),
    "empty list of indexes": ({"GlobalSecondaryIndexes": []},),
}


@probe(rule=47, cases=_MISTAKES)
def a_table_that_cannot_be_is_refused(api: Api, given: dict[str, Any]) -> None:
    """The table is not created."""
    name = api.new_name()
    refused(api, "CreateTable", **{"TableName": name, "BillingMode": "PAY_PER_REQUEST", **HASH, **given})
    refused(api, "DescribeTable", kind="ResourceNotFoundException", TableName=name)


def _local(keys: tuple[str, ...]) -> Json:
    roles = [{"AttributeName": name, "KeyType": kind} for name, kind in zip(keys, ("HASH", "RANGE"), strict=True)]
    return {"IndexName": "local", "KeySchema": roles, "Projection": {"ProjectionType": "ALL"}}


@probe(rule=47)
def a_local_index_has_the_partition_key_of_the_table(api: Api) -> None:
    """The table must have a sort key."""
    types = {"pk": "S", "sk": "S", "x": "S"}
    for keys, index in ((("pk", "sk"), ("sk", "x")), (("pk",), ("pk", "sk"))):
        used = {name: kind for name, kind in types.items() if name in (*keys, *index)}
        definition = shape(keys, used, LocalSecondaryIndexes=[_local(index)])
        refused(api, "CreateTable", TableName=api.new_name(), BillingMode="PAY_PER_REQUEST", **definition)


@probe(rule=47)
def an_update_that_changes_nothing_is_refused(api: Api) -> None:
    """An update needs something to change, and units must differ from the current ones."""
    refused(api, "UpdateTable", TableName=api.table("hash"))
    table = api.new_table(BillingMode="PROVISIONED", ProvisionedThroughput=UNITS, **HASH)
    refused(api, "UpdateTable", TableName=table, ProvisionedThroughput=UNITS)


@probe(rule=47, tier=2)
def tags_are_set_listed_and_removed(api: Api) -> None:
    """Tags are identified by key; setting a tag again replaces the value."""
    arn = api("DescribeTable", TableName=api.table("pair"))["Table"]["TableArn"]
    api("TagResource", ResourceArn=arn, Tags=[{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}])
    api("TagResource", ResourceArn=arn, Tags=[{"Key": "a", "Value": "3"}])

    def tags() -> dict[str, str]:
        return {tag["Key"]: tag["Value"] for tag in api("ListTagsOfResource", ResourceArn=arn)["Tags"]}

    same(api.eventually(tags, lambda found: found.get("a") == "3"), {"a": "3", "b": "2"})
    api("UntagResource", ResourceArn=arn, TagKeys=["a"])
    same(api.eventually(tags, lambda found: "a" not in found), {"b": "2"})


@probe(rule=47, tier=2)
def tags_need_an_arn(api: Api) -> None:
    """The ARN is that of a table."""
    refused(api, "TagResource", ResourceArn="not-an-arn", Tags=[{"Key": "a", "Value": "1"}])


@probe(rule=47, tier=2)
def an_account_has_limits(api: Api) -> None:
    """The limits of capacity are all above 0."""
    limits = api("DescribeLimits")
    names = ["AccountMaxReadCapacityUnits", "AccountMaxWriteCapacityUnits"]
    names += ["TableMaxReadCapacityUnits", "TableMaxWriteCapacityUnits"]
    same([name for name in names if limits.get(name, 0) < 1], [])


@probe(rule=47, tier=2)
def endpoints_are_told(api: Api) -> None:
    """There is at least one, with an address."""
    holds(api("DescribeEndpoints")["Endpoints"][0]["Address"], "there is no endpoint")


def _short(name: str, kind: str) -> str:
    rule = "failed to satisfy constraint: Member must have length greater than or equal to 3"
    return f"Value '{name}' at '{kind}.1.member.indexName' {rule}"


@probe(rule=47, tier=3)
def names_of_indexes_that_are_too_short_are_all_named(api: Api) -> None:
    """Global indexes come first."""
    types = {"pk": "S", "sk": "S", "x": "S"}
    indexes = {
        "LocalSecondaryIndexes": [{**_local(("pk", "x")), "IndexName": "aa"}],
        "GlobalSecondaryIndexes": [{**_local(("x", "sk")), "IndexName": "zz"}],
    }
    both = f"{_short('zz', 'globalSecondaryIndexes')}; {_short('aa', 'localSecondaryIndexes')}"
    refused(
        api,
        "CreateTable",
        message=f"2 validation errors detected: {both}",
        TableName=api.new_name(),
        BillingMode="PAY_PER_REQUEST",
        **shape(("pk", "sk"), types, **indexes),
    )


@probe(rule=47, tier=3)
def two_key_attributes_of_one_name_are_refused(api: Api) -> None:
    """Three key attributes are refused, too."""
    keys = [{"AttributeName": "pk", "KeyType": kind} for kind in ("HASH", "RANGE")]
    given: dict[str, Any] = {"TableName": api.new_name(), "BillingMode": "PAY_PER_REQUEST"}
    refused(api, "CreateTable", pattern="Invalid KeySchema", **{**HASH, **given, "KeySchema": keys})
    three = [*keys, {"AttributeName": "x", "KeyType": "RANGE"}]
    pattern = "Member must have length less than or equal to 2"
    refused(api, "CreateTable", pattern=pattern, **{**HASH, **given, "KeySchema": three})


@probe(45, 47, tier=3, cases={"empty": ("",), "short": ("x!",)})
def a_name_that_no_table_has_is_told_first(api: Api, name: str) -> None:
    """The missing keys are reported later."""
    given: dict[str, Any] = {"AttributeDefinitions": HASH["AttributeDefinitions"], "KeySchema": []}
    refused(api, "CreateTable", TableName=name, pattern="(?i)tableName", **given)


@probe(45, 47, tier=3)
def a_way_of_billing_that_does_not_exist_is_told_by_name(api: Api) -> None:
    """The message lists the valid billing modes."""
    found = refused(api, "CreateTable", TableName=api.new_name(), BillingMode="BOGUS", **HASH)
    holds("billingMode" in found.message, found.message)
    holds("[PROVISIONED, PAY_PER_REQUEST]" in found.message, found.message)


_ELSEWHERE: dict[str, tuple[str, Json]] = {
    "PutItem": ("PutItem", {"Item": {"pk": s("x")}}),
    "GetItem": ("GetItem", {"Key": {"pk": s("x")}}),
    "DeleteItem": ("DeleteItem", {"Key": {"pk": s("x")}}),
    "Query": ("Query", {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": s("x")}}),
    "Scan": ("Scan", {}),
    "a get of a transaction": ("TransactGetItems", {"TransactItems": [{"Get": {"Key": {"pk": s("x")}}}]}),
    "a put of a transaction": ("TransactWriteItems", {"TransactItems": [{"Put": {"Item": {"pk": s("x")}}}]}),
}


@probe(45, 47, tier=3, cases=_ELSEWHERE)
def a_missing_table_of_items_is_not_named(api: Api, operation: str, given: Json) -> None:
    """The message is the same for all operations on items."""
    name: Json = {"TableName": f"{api.prefix}nowhere"}
    if "TransactItems" in given:
        (action,) = given["TransactItems"]
        sent: Json = {"TransactItems": [{kind: {**part, **name} for kind, part in action.items()}]}
    else:
        sent = {**given, **name}
    message = "Requested resource not found"
    refused(api, operation, kind="ResourceNotFoundException", message=message, **sent)
