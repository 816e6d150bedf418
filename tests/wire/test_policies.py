"""Policies of tables and streams: stored in a canonical form, and enforced if the server requires a key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.wire.support import TASKS, Caller, serving, task
from tests.wire.test_boto3 import connect

from partita import EmbeddedStore
from partita.errors import ValidationFailed
from partita.wire import AccessKey
from partita.wire._faults import Fault

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/tasks"
KEY = AccessKey("local", "secret")


def statement(**parts: Any) -> dict[str, Any]:
    return {"Effect": "Deny", "Principal": {"AWS": "*"}, "Action": "dynamodb:PutItem", "Resource": ARN, **parts}


def policy(*statements: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


@pytest.mark.rule(49)
def test_a_policy_comes_back_in_one_form(call: Caller) -> None:
    given = statement(Sid="a", Action=["dynamodb:PutItem"], Principal={"AWS": "000000000000"})
    first = call("PutResourcePolicy", ResourceArn=ARN, Policy=policy(given))
    found = call("GetResourcePolicy", ResourceArn=ARN)
    root = {"AWS": "arn:aws:iam::000000000000:root"}
    written = {"Sid": "a", "Effect": "Deny", "Principal": root, "Action": "dynamodb:PutItem", "Resource": ARN}
    assert json.loads(found["Policy"]) == {"Version": "2012-10-17", "Statement": [written]}
    assert found == {"Policy": found["Policy"], **first}
    assert call("PutResourcePolicy", ResourceArn=ARN, Policy=found["Policy"]) == first
    call.now += 1
    assert call("PutResourcePolicy", ResourceArn=ARN, Policy=policy(statement())) != first


@pytest.mark.rule(49)
def test_a_table_without_a_policy_has_none(call: Caller) -> None:
    with pytest.raises(Fault) as failure:
        call("GetResourcePolicy", ResourceArn=ARN)
    assert failure.value.kind == "PolicyNotFoundException"
    assert call("DeleteResourcePolicy", ResourceArn=ARN) == {}
    call("PutResourcePolicy", ResourceArn=ARN, Policy=policy(statement()))
    assert "RevisionId" in call("DeleteResourcePolicy", ResourceArn=ARN)
    with pytest.raises(Fault):
        call("GetResourcePolicy", ResourceArn=ARN)


@pytest.mark.rule(49)
def test_a_policy_is_changed_only_where_it_is_as_expected(call: Caller) -> None:
    given = {"ResourceArn": ARN, "Policy": policy(statement())}
    revision = call("PutResourcePolicy", **given, ExpectedRevisionId="NO_POLICY")["RevisionId"]
    for wrong in ("NO_POLICY", "1"):
        with pytest.raises(Fault) as failure:
            call("DeleteResourcePolicy", ResourceArn=ARN, ExpectedRevisionId=wrong)
        assert failure.value.kind == "PolicyNotFoundException"
    call("DeleteResourcePolicy", ResourceArn=ARN, ExpectedRevisionId=revision)


@pytest.mark.rule(49)
@pytest.mark.parametrize(
    ("arn", "text", "message"),
    [
        ("tasks", policy(statement()), "ARNs must start with 'arn:'"),
        (f"{ARN}/index/by_status", policy(statement()), "only table or stream is accepted"),
        (ARN.replace("us-east-1", "eu-west-1"), policy(statement()), "Invalid resource Arn"),
        (ARN.replace("000000000000", "111111111111"), policy(statement()), "match the resource owner"),
        (ARN, "{", "This policy contains invalid Json"),
        (ARN, "{}", "Statement is empty"),
        (ARN, policy({"Effect": "Deny", "Principal": "*", "Action": "*"}), "Missing required field Resource"),
        (ARN, policy(statement(Sid="a"), statement(Sid="a")), "Statement Ids in the policy are not unique"),
        (ARN, policy(statement(Effect="Allow")), "grants unbounded access"),
        (ARN, policy(statement(Sid="x" * 20_480)), "Maximum policy size"),
    ],
)
def test_a_policy_that_cannot_be_is_refused(call: Caller, arn: str, text: str, message: str) -> None:
    with pytest.raises(ValidationFailed, match=message):
        call("PutResourcePolicy", ResourceArn=arn, Policy=text)


@pytest.mark.rule(49)
def test_a_table_may_be_made_with_its_policy(call: Caller) -> None:
    call("CreateTable", **{**TASKS, "TableName": "made", "ResourcePolicy": policy(statement(Resource="*"))})
    found = call("GetResourcePolicy", ResourceArn=ARN.replace("tasks", "made"))
    assert json.loads(found["Policy"])["Statement"][0]["Resource"] == "*"


@pytest.fixture
def client(store: EmbeddedStore) -> Iterator[Any]:
    with serving(store, key=KEY) as address:
        client = connect("dynamodb", address)
        client.create_table(**TASKS)
        yield client
        client.close()


def denied(ask: Any, **parameters: Any) -> bool:
    try:
        ask(**parameters)
    except ClientError as error:
        if error.response["Error"]["Code"] != "AccessDeniedException":
            raise
        return True
    return False


ITEM = {"TableName": "tasks", "Item": task("u", "1")}
GET = {"TableName": "tasks", "Key": task("u", "1")}
BY_STATUS = {
    "TableName": "tasks",
    "IndexName": "by_status",
    "KeyConditionExpression": "#s = :s",
    "ExpressionAttributeNames": {"#s": "status"},
    "ExpressionAttributeValues": {":s": {"S": "open"}},
}


@pytest.mark.rule(49)
def test_what_a_policy_denies_is_refused_in_every_form(client: Any) -> None:
    client.put_resource_policy(ResourceArn=ARN, Policy=policy(statement()))
    assert denied(client.put_item, **ITEM)
    assert denied(client.transact_write_items, TransactItems=[{"Put": ITEM}])
    assert not denied(client.get_item, **GET)
    assert not denied(client.delete_item, **GET)
    client.delete_resource_policy(ResourceArn=ARN)
    assert not denied(client.put_item, **ITEM)


@pytest.mark.rule(49)
@pytest.mark.parametrize(
    ("parts", "is_denied"),
    [
        ({"Action": "dynamodb:*"}, True),
        ({"Action": "dynamodb:put*"}, True),
        ({"Action": "dynamodb:GetItem"}, False),
        ({"Principal": {"AWS": "arn:aws:iam::000000000000:user/local"}}, True),
        ({"Principal": {"AWS": "arn:aws:iam::111111111111:root"}}, False),
        ({"Resource": f"{ARN[:-2]}*"}, True),
        ({"Resource": f"{ARN}-not"}, False),
        ({"Condition": {"StringEquals": {"aws:username": "local"}}}, True),
        ({"Condition": {"StringEquals": {"aws:username": "other"}}}, False),
        ({"Condition": {"StringNotEquals": {"aws:PrincipalAccount": "000000000000"}}}, False),
        ({"Condition": {"Bool": {"aws:SecureTransport": "false"}}}, True),
        ({"Condition": {"StringLike": {"aws:PrincipalArn": "arn:aws:iam::*:user/*"}}}, True),
        ({"Condition": {"StringEquals": {"dynamodb:Unheard": "of"}}}, False),
    ],
)
def test_a_statement_is_held_against_who_does_what_where(client: Any, parts: Any, is_denied: bool) -> None:  # noqa: FBT001
    client.put_resource_policy(ResourceArn=ARN, Policy=policy(statement(**parts)))
    assert denied(client.put_item, **ITEM) == is_denied


@pytest.mark.rule(49)
def test_everything_but_what_is_named_may_be_denied(client: Any) -> None:
    named = statement(NotAction="dynamodb:GetItem")
    del named["Action"]
    client.put_resource_policy(ResourceArn=ARN, Policy=policy(named))
    assert (denied(client.get_item, **GET), denied(client.put_item, **ITEM)) == (False, True)


@pytest.mark.rule(49)
def test_an_index_is_denied_by_its_own_arn(client: Any) -> None:
    denial = statement(Action="dynamodb:Query", Resource=f"{ARN}/index/*")
    client.put_resource_policy(ResourceArn=ARN, Policy=policy(denial))
    whole = {"KeyConditionExpression": "#u = :s", "ExpressionAttributeNames": {"#u": "user"}}
    assert denied(client.query, **BY_STATUS)
    assert not denied(client.query, **{**{name: BY_STATUS[name] for name in BY_STATUS if name != "IndexName"}, **whole})


@pytest.mark.rule(49)
def test_statements_and_tables_are_denied_by_their_own_actions(client: Any) -> None:
    denial = statement(Action=["dynamodb:PartiQLInsert", "dynamodb:DeleteTable"])
    client.put_resource_policy(ResourceArn=ARN, Policy=policy(denial))
    insert = "INSERT INTO tasks VALUE {'user': 'u', 'task': '1'}"
    assert denied(client.execute_statement, Statement=insert)
    assert not denied(client.put_item, **ITEM)
    assert denied(client.delete_table, TableName="tasks")
    assert not denied(client.describe_table, TableName="tasks")


def test_without_a_key_everybody_may_do_everything(call: Caller) -> None:
    call("PutResourcePolicy", ResourceArn=ARN, Policy=policy(statement(Action="dynamodb:*")))
    call("PutItem", **ITEM)
