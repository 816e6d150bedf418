"""Responses of a broken or hostile server: each is read or refused with an error of Partita, and none takes long."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

import pytest
from tests.store.remote.mutations import mutations
from tests.store.remote.scripted import Play, ScriptedStore, error_response, http_response

from partita.errors import PartitaError, StoreUnavailable
from partita.store import (
    BatchGetItem,
    BatchWriteItem,
    GetItem,
    PutItem,
    Request,
    ScanTable,
    TransactGetItems,
    TransactWriteItems,
    plain_item,
)
from partita.transfer._lines import read_json

KEY = {"PK": "a"}
WIRE_KEY = {"PK": {"S": "a"}}
ITEM = {
    **WIRE_KEY,
    "n": {"N": "1"},
    "ns": {"NS": ["1", "2"]},
    "l": {"L": [{"B": "AAE="}]},
    "m": {"M": {"x": {"S": "y"}}},
}
PUT, GET = PutItem("tasks", KEY), GetItem("tasks", KEY)

RESPONSES: list[tuple[Request[Any], Any]] = [
    (GET, {"Item": ITEM}),
    (PUT, {"Attributes": ITEM}),
    (BatchGetItem((GET,)), {"Responses": {"tasks": [WIRE_KEY]}, "UnprocessedKeys": {"tasks": {"Keys": [WIRE_KEY]}}}),
    (BatchWriteItem((PUT,)), {"UnprocessedItems": {"tasks": [{"PutRequest": {"Item": WIRE_KEY}}]}}),
    (TransactGetItems((GET,)), {"Responses": [{"Item": WIRE_KEY}]}),
    (ScanTable("tasks"), {"Items": [WIRE_KEY], "Count": 1, "ScannedCount": 1, "LastEvaluatedKey": WIRE_KEY}),
]

FAILURES: list[tuple[Request[Any], str, dict[str, Any]]] = [
    (PUT, "ConditionalCheckFailedException", {"Item": ITEM}),
    (
        TransactWriteItems((PUT,)),
        "TransactionCanceledException",
        {"CancellationReasons": [{"Code": "ConditionalCheckFailed", "Message": "no", "Item": WIRE_KEY}]},
    ),
    (PUT, "ThrottlingException", {"throttlingReasons": [{"reason": "r", "resource": "q"}]}),
]


@pytest.mark.parametrize(("request_", "body"), RESPONSES, ids=lambda value: type(value).__name__)
def test_no_response_raises_an_error_of_python(request_: Request[Any], body: Any) -> None:
    for changed in mutations(body):
        store = ScriptedStore(*[http_response(changed)] * 5).store
        with suppress(PartitaError):
            store.execute(request_)


@pytest.mark.parametrize(("request_", "name", "members"), FAILURES, ids=lambda value: str(value)[:30])
def test_no_error_response_raises_an_error_of_python(
    request_: Request[Any], name: str, members: dict[str, Any]
) -> None:
    for changed in mutations(members):
        if isinstance(changed, dict):
            store = ScriptedStore(*[error_response(name, **changed)] * 5).store
            with suppress(PartitaError):
                store.execute(request_)


NUMBERS = [str(number * sys.hash_info.modulus) for number in range(1, 200_001)]
"""Numbers with the same hash: a set of them would take minutes."""


@pytest.mark.parametrize("value", [{"NS": NUMBERS}, {"L": [{"M": {"x": {"NS": NUMBERS}}}]}], ids=["set", "nested"])
def test_numbers_with_the_same_hash_are_refused(value: Any) -> None:
    item = {**WIRE_KEY, "n": value}
    plays: list[tuple[Request[Any], Play]] = [
        (GET, http_response({"Item": item})),
        (ScanTable("tasks"), http_response({"Items": [item], "Count": 1, "ScannedCount": 1})),
        (PUT, error_response("ConditionalCheckFailedException", Item=item)),
    ]
    for request, play in plays:
        with pytest.raises(StoreUnavailable, match="have the same hash"):
            ScriptedStore(play).store.execute(request)


def test_numbers_of_a_file_with_the_same_hash_are_refused() -> None:
    with pytest.raises(PartitaError, match="have the same hash"):
        plain_item({"n": {"NS": NUMBERS}})
    with pytest.raises(PartitaError, match="have the same hash"):
        read_json(f'{{"n": {{"$NS": [{",".join(NUMBERS)}]}}}}')


def test_a_wrong_item_of_a_failed_condition_says_nothing_about_the_write() -> None:
    """`ValidationFailed` would mean that nothing was written because the request was wrong."""
    store = ScriptedStore(error_response("ConditionalCheckFailedException", Item={"n": {"N": "NaN"}})).store
    with pytest.raises(StoreUnavailable, match="cannot be read"):
        store.execute(PUT)


def test_a_cancelled_transaction_has_a_reason_for_each_action() -> None:
    store = ScriptedStore(error_response("TransactionCanceledException", CancellationReasons=[{}, {}])).store
    with pytest.raises(StoreUnavailable, match="not one reason for each action"):
        store.execute(TransactWriteItems((PUT,)))
