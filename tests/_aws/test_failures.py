"""DynamoDB's errors as Partita's exceptions, with all the details that they carry."""

from __future__ import annotations

import pytest
from tests.store.remote.scripted import ScriptedStore, error_response, http_response

from partita import errors
from partita.store._requests import PutItem, TransactWriteItems

PUT = PutItem("t", {"pk": "p"})

NAMES: dict[str, type[errors.PartitaError]] = {
    "AccessDeniedException": errors.AccessDenied,
    "ConditionalCheckFailedException": errors.ConditionFailed,
    "IdempotentParameterMismatchException": errors.TokenMismatch,
    "IncompleteSignatureException": errors.AccessDenied,
    "InternalServerError": errors.StoreUnavailable,
    "ItemCollectionSizeLimitExceededException": errors.ValidationFailed,
    "LimitExceededException": errors.TableInUse,
    "MissingAuthenticationTokenException": errors.AccessDenied,
    "ProvisionedThroughputExceededException": errors.Throttled,
    "ReplicatedWriteConflictException": errors.TransactionConflict,
    "RequestLimitExceeded": errors.Throttled,
    "ResourceInUseException": errors.TableInUse,
    "ResourceNotFoundException": errors.TableNotFound,
    "SerializationException": errors.SerializationFailed,
    "ThrottlingException": errors.Throttled,
    "TransactionConflictException": errors.TransactionConflict,
    "TransactionInProgressException": errors.TokenInProgress,
    "UnrecognizedClientException": errors.AccessDenied,
    "ValidationException": errors.ValidationFailed,
}


@pytest.mark.rule(39)
@pytest.mark.parametrize(("name", "error"), NAMES.items(), ids=NAMES.keys())
def test_an_error_has_its_name(name: str, error: type[errors.PartitaError]) -> None:
    status = 500 if name == "InternalServerError" else 400
    with pytest.raises(error, match="because") as raised:
        ScriptedStore(error_response(name, "because", status=status), tries=1).store.execute(PUT)
    assert type(raised.value) is error


def test_the_message_may_be_spelt_with_a_capital_and_the_type_without_a_namespace() -> None:
    body = {"__type": "AccessDeniedException", "Message": "User: x is not authorized"}
    with pytest.raises(errors.AccessDenied, match="User: x is not authorized"):
        ScriptedStore(http_response(body, status=400)).store.execute(PUT)


def test_a_failed_condition_carries_the_item() -> None:
    with pytest.raises(errors.ConditionFailed) as raised:
        ScriptedStore(error_response("ConditionalCheckFailedException", Item={"n": {"N": "3"}})).store.execute(PUT)
    assert raised.value.item == {"n": 3}


def test_a_cancelled_transaction_carries_a_reason_for_each_action() -> None:
    reasons = [
        {"Code": "None"},
        {"Code": "ConditionalCheckFailed", "Message": "no", "Item": {"n": {"N": "3"}}},
        {"Code": "ValidationError", "Message": "bad"},
    ]
    with pytest.raises(errors.TransactionCancelled) as raised:
        ScriptedStore(error_response("TransactionCanceledException", CancellationReasons=reasons)).store.execute(
            TransactWriteItems((PUT, PUT, PUT))
        )
    assert [(reason.code, reason.message, reason.item) for reason in raised.value.reasons] == [
        ("None", "", None),
        ("ConditionalCheckFailed", "no", {"n": 3}),
        ("ValidationError", "bad", None),
    ]


def test_a_response_that_is_not_an_error_of_dynamodb_is_unavailable() -> None:
    with pytest.raises(errors.StoreUnavailable, match="HTTP status 404"):
        ScriptedStore(http_response(b"<html>not here</html>", status=404)).store.execute(PUT)
