"""SELECT on an index: what it returns, what it fetches from the table, what it refuses, and what that costs."""

from __future__ import annotations

from typing import Any

import pytest
from tests.wire.support import Caller, Json

from partita.errors import ValidationFailed

pytestmark = pytest.mark.rule(27)

INVALID = "One or more parameter values were invalid: "
MULTIPLE = (
    "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or multi-attribute RANGE keys."
)


def index(name: str, key: str, kind: str, *included: str) -> Json:
    projection: Json = {"ProjectionType": kind, **({"NonKeyAttributes": list(included)} if included else {})}
    schema = [
        {"AttributeName": part, "KeyType": role} for part, role in zip(key.split(), ("HASH", "RANGE"), strict=False)
    ]
    return {"IndexName": name, "KeySchema": schema, "Projection": projection}


@pytest.fixture
def call(call: Caller) -> Caller:
    """A caller with a table that has indexes of both kinds and all projections."""
    names = ("pk", "sk", "g1", "g2", "l1", "l2", "h1", "h2")
    multiple = index("gsi-multi", "h1", "ALL")
    multiple["KeySchema"].append({"AttributeName": "h2", "KeyType": "HASH"})
    call(
        "CreateTable",
        TableName="abc",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in names],
        KeySchema=index("", "pk sk", "ALL")["KeySchema"],
        GlobalSecondaryIndexes=[
            index("gsi-all", "g1", "ALL"),
            index("gsi-keys", "g2", "KEYS_ONLY"),
            index("gsi-inc", "g2", "INCLUDE", "p"),
            multiple,
        ],
        LocalSecondaryIndexes=[
            index("lsi-all", "pk l1", "ALL"),
            index("lsi-keys", "pk l1", "KEYS_ONLY"),
            index("lsi-inc", "pk l2", "INCLUDE", "p"),
        ],
    )
    for number, first in (("1", "x"), ("2", "z"), ("4", "x")):
        texts = {"pk": "p", "sk": f"s{number}", "g1": first, "g2": "y", "l1": f"l{number}", "l2": f"k{number}"}
        put(call, **texts, p=f"p{number}", np=f"np{number}", h1="a", h2="x")
    put(call, pk="p", sk="s3", np="np3")
    put(call, pk="q", sk="s5", g2="y2", p="p5", np="np5")
    return call


def put(call: Caller, **texts: str) -> None:
    call("PutItem", TableName="abc", Item={name: {"S": text} for name, text in texts.items()})


def select(call: Caller, rest: str, **options: Any) -> Json:
    return call("ExecuteStatement", Statement=f"SELECT {rest}", ReturnConsumedCapacity="INDEXES", **options)


def refusal(call: Caller, rest: str, **options: Any) -> str:
    with pytest.raises(ValidationFailed) as refused:
        select(call, rest, **options)
    return refused.value.message


def sorts(response: Json) -> list[str]:
    return sorted(item["sk"]["S"] for item in response["Items"])


def fetched(response: Json) -> float:
    units: float = response["ConsumedCapacity"]["Table"]["CapacityUnits"]
    return units


@pytest.mark.parametrize(
    ("rest", "names"),
    [
        ('* FROM "abc"."gsi-keys" WHERE g2 = \'y\'', "g2 pk sk"),
        ('* FROM "abc"."gsi-inc" WHERE g2 = \'y\'', "g2 p pk sk"),
        ('* FROM "abc"."lsi-keys" WHERE pk = \'p\'', "l1 pk sk"),
        ('* FROM "abc"."gsi-inc" WHERE g2 = \'y\' AND p IS NOT MISSING', "g2 p pk sk"),
        ("l1, p FROM \"abc\".\"lsi-inc\" WHERE pk = 'p' AND l2 > 'a'", "l1 p"),
    ],
)
def test_a_star_is_what_the_index_has(call: Caller, rest: str, names: str) -> None:
    response = select(call, rest)
    assert [sorted(item) for item in response["Items"]] == [names.split()] * 3
    assert (fetched(response) > 0) == rest.startswith("l1")


def test_a_local_index_fetches_what_it_does_not_project(call: Caller) -> None:
    response = select(call, 'np FROM "abc"."lsi-keys" WHERE pk = \'p\'')
    assert [item["np"]["S"] for item in response["Items"]] == ["np1", "np2", "np4"]
    assert fetched(response) == 1.5
    assert fetched(select(call, 'np FROM "abc"."lsi-keys" WHERE pk = \'p\'', Limit=1)) == 0.5
    consistent = select(call, 'np FROM "abc"."lsi-keys" WHERE pk = \'p\'', ConsistentRead=True)
    assert fetched(consistent) == 3
    assert fetched(select(call, 'l1 FROM "abc"."lsi-keys" WHERE pk = \'p\'')) == 0


def test_what_is_fetched_is_charged_before_the_filter(call: Caller) -> None:
    response = select(call, "np FROM \"abc\".\"lsi-inc\" WHERE pk = 'p' AND p = 'none'")
    assert (response["Items"], fetched(response)) == ([], 1.5)


def test_a_global_index_refuses_what_it_does_not_project(call: Caller) -> None:
    message = f"{INVALID}Global secondary index gsi-inc does not project "
    assert refusal(call, 'np FROM "abc"."gsi-inc" WHERE g2 = \'y\'') == f"{message}[np]"
    assert refusal(call, 'zz, np FROM "abc"."gsi-inc" WHERE g2 = \'y\'') == f"{message}[zz, np]"
    assert refusal(call, 'np FROM "abc"."gsi-inc"') == f"{message}[np]"


@pytest.mark.parametrize(
    ("rest", "name"),
    [
        ("pk FROM \"abc\".\"gsi-inc\" WHERE g2 = 'y' AND np = 'np1'", "gsi-inc"),
        ("pk FROM \"abc\".\"gsi-inc\" WHERE g2 = 'y' AND NOT np = 'np1'", "gsi-inc"),
        ('pk FROM "abc"."gsi-inc" WHERE g2 = \'y\' AND np IS MISSING', "gsi-inc"),
        ("pk FROM \"abc\".\"gsi-inc\" WHERE g2 = 'y' AND begins_with(np, 'np')", "gsi-inc"),
        ("pk FROM \"abc\".\"gsi-inc\" WHERE g2 IN ['y', 'z'] AND np = 'np1'", "gsi-inc"),
        ("pk FROM \"abc\".\"lsi-keys\" WHERE pk = 'p' AND np = 'np1'", "lsi-keys"),
        ("pk FROM \"abc\".\"lsi-keys\" WHERE pk = 'p' AND l1 BETWEEN 'l1' AND 'l4' AND np = 'np1'", "lsi-keys"),
    ],
)
def test_a_query_may_not_filter_by_what_the_index_does_not_project(call: Caller, rest: str, name: str) -> None:
    message = f"{INVALID}Secondary index {name} does not project one or more filter attributes: [np]"
    assert refusal(call, rest) == message


@pytest.mark.parametrize(
    ("rest", "found"),
    [
        ('sk FROM "abc"."gsi-inc" WHERE np = \'np1\'', []),
        ('sk FROM "abc"."lsi-keys" WHERE np = \'np1\'', []),
        ("sk FROM \"abc\".\"gsi-inc\" WHERE np = 'np1' AND np = 'np2'", []),
        ('sk FROM "abc"."gsi-keys" WHERE NOT np = \'np1\'', ["s1", "s2", "s4", "s5"]),
        ("sk FROM \"abc\".\"gsi-inc\" WHERE (g2 = 'y' AND np = 'np1') OR (g2 = 'y2')", ["s5"]),
        ("sk FROM \"abc\".\"gsi-inc\" WHERE g2 = 'y' AND p = 'p1'", ["s1"]),
        ('sk FROM "abc"."gsi-all" WHERE g1 = \'x\'', ["s1", "s4"]),
        ('sk FROM "abc"."gsi-all" WHERE pk = \'p\'', ["s1", "s2", "s4"]),
        ('sk FROM "abc"."gsi-all" WHERE np = \'np2\'', ["s2"]),
    ],
)
def test_a_scan_of_an_index_sees_what_it_has(call: Caller, rest: str, found: list[str]) -> None:
    assert sorts(select(call, rest)) == found


@pytest.mark.parametrize(
    ("rest", "options", "message"),
    [
        ('* FROM "abc"."none"', {}, "The table does not have the specified index"),
        ('* FROM "abc"."abc"', {}, "The table does not have the specified index"),
        ('* FROM "abc"."none"', {"ConsistentRead": True}, "The table does not have the specified index"),
        (
            '* FROM "abc"."gsi-all"',
            {"ConsistentRead": True},
            "Strongly consistent read is not supported on Global Secondary Indexes",
        ),
        ('* FROM "abc".""', {}, "Path component cannot be an empty string"),
        ('* FROM "abc"."gsi-multi" WHERE h1 = \'a\'', {}, MULTIPLE),
        ('* FROM "abc"."gsi-multi" WHERE h1 = 5', {}, MULTIPLE),
        ('COUNT(*) FROM "abc"."gsi-multi"', {}, MULTIPLE),
        (
            '* FROM "abc"."gsi-multi" WHERE',
            {},
            "Statement wasn't well formed, can't be processed: Unexpected term",
        ),
    ],
)
def test_an_index_that_cannot_be_read_is_refused(call: Caller, rest: str, options: Json, message: str) -> None:
    assert refusal(call, rest, **options) == message


def test_a_token_belongs_to_its_statement(call: Caller) -> None:
    first = select(call, 'sk FROM "abc"."gsi-inc" WHERE g2 = \'y\'', Limit=1)
    again = select(call, 'sk FROM "abc"."gsi-inc" WHERE g2 = \'y\'', NextToken=first["NextToken"])
    assert sorts(first) + sorts(again) == ["s1", "s2", "s4"]
    other = 'sk FROM "abc"."gsi-keys" WHERE g2 = \'y\''
    assert refusal(call, other, NextToken=first["NextToken"]) == "NextToken does not match request"
