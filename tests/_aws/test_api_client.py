"""API calls: what is sent again, what is not, and which error the caller gets."""

from __future__ import annotations

from email.utils import formatdate
from typing import Any

import pytest
from tests.store.remote.scripted import KEYS, NOW, Play, ScriptedStore, error_response, http_response

from partita._aws._credentials import Credentials
from partita._aws._transport import RequestNotSent, ResponseLost
from partita.errors import (
    AccessDenied,
    PartitaError,
    RequestError,
    StoreUnavailable,
    Throttled,
    TokenInProgress,
    TransactionCancelled,
    TransactionConflict,
    ValidationFailed,
)
from partita.expressions._ast import And, Compare, KeyCondition, Path, Update, Value
from partita.store._requests import (
    BatchGetItem,
    BatchWriteItem,
    CreateTable,
    DeleteItem,
    GetItem,
    ListTables,
    PutItem,
    QueryTable,
    Request,
    ScanTable,
    TransactGetItems,
    TransactWriteItems,
    UpdateItem,
)
from partita.store._schema import KeyAttribute, TableSchema

KEY = {"pk": "p"}
GET = GetItem("t", KEY)
PUT = PutItem("t", KEY)
TRANSACTION = TransactWriteItems((PUT,))

READS: dict[str, Request[Any]] = {
    "get": GET,
    "query": QueryTable("t", KeyCondition((("pk", "p"),))),
    "scan": ScanTable("t"),
    "batch get": BatchGetItem((GET,)),
    "transact get": TransactGetItems((GET,)),
    "list tables": ListTables(),
}
WRITES: dict[str, Request[Any]] = {
    "put": PUT,
    "update": UpdateItem("t", KEY, Update()),
    "delete": DeleteItem("t", KEY),
    "batch write": BatchWriteItem((PUT,)),
    "create table": CreateTable(TableSchema("t", KeyAttribute("pk"))),
}
LOST: dict[str, Play] = {
    "no response": ResponseLost("connection reset"),
    "internal error": error_response("InternalServerError", status=500),
    "unavailable": http_response(b"<html>busy</html>", status=503),
    "damaged response": http_response({}, headers={"x-amz-crc32": "1"}),
}
RESPONSES = {"Count": 0, "ScannedCount": 0, "Responses": {}, "TableNames": []}


@pytest.mark.parametrize("lost", LOST.values(), ids=LOST.keys())
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_a_write_whose_response_was_lost_is_unknown_and_never_sent_again(write: Request[Any], lost: Play) -> None:
    scripted = ScriptedStore(lost)
    with pytest.raises(StoreUnavailable, match="unknown"):
        scripted.store.execute(write)
    assert len(scripted.transport.sent) == 1


@pytest.mark.parametrize("lost", LOST.values(), ids=LOST.keys())
@pytest.mark.parametrize("name", READS)
def test_a_read_whose_response_was_lost_is_sent_again(name: str, lost: Play) -> None:
    responses = http_response({**RESPONSES, "Responses": [{}]} if name == "transact get" else RESPONSES)
    scripted = ScriptedStore(lost, responses)
    scripted.store.execute(READS[name])
    assert len(scripted.transport.sent) == 2
    assert scripted.transport.sent[0].body == scripted.transport.sent[1].body


@pytest.mark.parametrize("lost", LOST.values(), ids=LOST.keys())
def test_a_transaction_whose_response_was_lost_is_sent_again_with_the_same_token(lost: Play) -> None:
    scripted = ScriptedStore(lost, http_response())
    scripted.store.execute(TRANSACTION)
    assert [body["ClientRequestToken"] for body in scripted.transport.bodies] == ["token-1", "token-1"]


def test_the_callers_token_is_kept() -> None:
    scripted = ScriptedStore(http_response())
    scripted.store.execute(TransactWriteItems((PUT,), token="mine"))
    assert scripted.transport.bodies[0]["ClientRequestToken"] == "mine"


def test_each_transaction_has_a_token_of_its_own() -> None:
    scripted = ScriptedStore(http_response(), http_response())
    scripted.store.execute(TRANSACTION)
    scripted.store.execute(TRANSACTION)
    assert [body["ClientRequestToken"] for body in scripted.transport.bodies] == ["token-1", "token-2"]


CERTAIN: dict[str, tuple[Play, type[PartitaError]]] = {
    "throttled": (error_response("ThrottlingException"), Throttled),
    "capacity exceeded": (error_response("ProvisionedThroughputExceededException"), Throttled),
    "limit of the account": (error_response("RequestLimitExceeded"), Throttled),
    "another transaction": (error_response("TransactionConflictException"), TransactionConflict),
    "token in progress": (error_response("TransactionInProgressException"), TokenInProgress),
    "no connection": (RequestNotSent("connection refused"), StoreUnavailable),
}


@pytest.mark.rule(39)
@pytest.mark.parametrize(("play", "error"), CERTAIN.values(), ids=CERTAIN.keys())
@pytest.mark.parametrize("request_", [GET, PUT, TRANSACTION], ids=["get", "put", "transaction"])
def test_what_certainly_did_not_happen_is_sent_again(
    play: Play, error: type[PartitaError], request_: Request[Any]
) -> None:
    scripted = ScriptedStore(play, play, http_response())
    scripted.store.execute(request_)
    assert len(scripted.transport.sent) == 3


@pytest.mark.parametrize(("play", "error"), CERTAIN.values(), ids=CERTAIN.keys())
def test_after_the_last_try_the_error_is_raised(play: Play, error: type[PartitaError]) -> None:
    scripted = ScriptedStore(*[play] * 4, tries=4)
    with pytest.raises(error):
        scripted.store.execute(PUT)
    assert len(scripted.transport.sent) == 4


def test_an_endpoint_that_cannot_be_reached_is_named() -> None:
    scripted = ScriptedStore(*[RequestNotSent("connection refused", "Start the server.")] * 10)
    with pytest.raises(StoreUnavailable) as caught:
        scripted.store.execute(GET)
    assert str(caught.value) == (
        f"The endpoint {scripted.store.endpoint} cannot be reached: connection refused. "
        "Nothing was sent. Start the server."
    )


UNSETTLED: dict[str, Play] = {
    "throttled": error_response("ThrottlingException"),
    "in progress": error_response("TransactionInProgressException"),
    "no connection": RequestNotSent("connection refused"),
    "conflict": error_response("TransactionCanceledException", CancellationReasons=[{"Code": "TransactionConflict"}]),
    "credentials": error_response("AccessDeniedException"),
}


@pytest.mark.parametrize("later", UNSETTLED.values(), ids=UNSETTLED.keys())
def test_a_later_error_does_not_settle_what_became_of_a_lost_transaction(later: Play) -> None:
    scripted = ScriptedStore(ResponseLost("reset"), later, later)
    with pytest.raises(StoreUnavailable, match="reset"):
        scripted.store.execute(TRANSACTION)


def test_a_false_condition_settles_it() -> None:
    reasons = [{"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}]
    scripted = ScriptedStore(
        ResponseLost("reset"), error_response("TransactionCanceledException", CancellationReasons=reasons)
    )
    with pytest.raises(TransactionCancelled):
        scripted.store.execute(TRANSACTION)


def test_pauses_have_full_jitter() -> None:
    scripted = ScriptedStore(*[error_response("ThrottlingException")] * 6, tries=6)
    with pytest.raises(Throttled):
        scripted.store.execute(GET)
    ceilings = [0.05, 0.1, 0.2, 0.4, 0.8]
    assert [pause <= ceiling for pause, ceiling in zip(scripted.pauses, ceilings, strict=True)] == [True] * 5
    assert len(set(scripted.pauses)) == 5


def test_a_store_in_trouble_is_not_given_more_than_the_budget() -> None:
    scripted = ScriptedStore(*[error_response("ThrottlingException")] * 1000)
    for _ in range(300):
        with pytest.raises(Throttled):
            scripted.store.execute(GET)
    retries = len(scripted.transport.sent) - 300
    assert retries == 100


def test_successes_fill_the_budget_again() -> None:
    trouble = [error_response("ThrottlingException")] * 150
    scripted = ScriptedStore(*trouble, *[http_response()] * 10, *[error_response("ThrottlingException")] * 10)
    for _ in range(50):
        with pytest.raises(Throttled):
            scripted.store.execute(GET)
    for _ in range(10):
        scripted.store.execute(GET)
    before = len(scripted.transport.sent)
    with pytest.raises(Throttled):
        scripted.store.execute(GET)
    assert len(scripted.transport.sent) - before == 3


def test_throttling_says_which_limit_of_what() -> None:
    reasons = [{"reason": "TableWriteProvisionedThroughputExceeded", "resource": "arn:aws:dynamodb:table/t"}]
    scripted = ScriptedStore(error_response("ThrottlingException", throttlingReasons=reasons), tries=1)
    with pytest.raises(Throttled) as raised:
        scripted.store.execute(PUT)
    assert raised.value.reasons == ("TableWriteProvisionedThroughputExceeded arn:aws:dynamodb:table/t",)


def test_a_wrong_clock_is_corrected_by_the_stores() -> None:
    date = formatdate(NOW + 3600, usegmt=True)
    scripted = ScriptedStore(
        error_response("InvalidSignatureException", "Signature expired", date=date), http_response(), http_response()
    )
    scripted.store.execute(PUT)
    scripted.store.execute(PUT)
    dates = [call.headers["X-Amz-Date"] for call in scripted.transport.sent]
    assert dates == ["20260101T120000Z", "20260101T130000Z", "20260101T130000Z"]


def test_a_wrong_signature_is_not_a_matter_of_the_clock() -> None:
    date = formatdate(NOW + 1, usegmt=True)
    scripted = ScriptedStore(error_response("InvalidSignatureException", "does not match", date=date))
    with pytest.raises(AccessDenied):
        scripted.store.execute(PUT)
    assert len(scripted.transport.sent) == 1


class RenewedCredentials:
    """Credentials whose first token the endpoint refuses."""

    def __init__(self) -> None:
        self.tokens = iter(["old", "new"])
        self.current: Credentials | None = None

    def ready(self) -> Credentials | None:
        return self.current

    def load(self) -> Credentials:
        self.current = Credentials("a", "s", next(self.tokens))
        return self.current

    def forget(self) -> None:
        self.current = None


def test_an_expired_token_is_renewed_once() -> None:
    scripted = ScriptedStore(error_response("ExpiredTokenException"), http_response(), credentials=RenewedCredentials())
    scripted.store.execute(PUT)
    assert [call.headers["X-Amz-Security-Token"] for call in scripted.transport.sent] == ["old", "new"]


async def test_credentials_are_loaded_beside_the_event_loop_too() -> None:
    scripted = ScriptedStore(error_response("ExpiredTokenException"), http_response(), credentials=RenewedCredentials())
    await scripted.store.execute_async(PUT)
    assert [call.headers["X-Amz-Security-Token"] for call in scripted.transport.sent] == ["old", "new"]


async def test_awaiting_retries_in_the_same_way() -> None:
    scripted = ScriptedStore(
        ResponseLost("reset"), error_response("ThrottlingException"), http_response({"Item": {"n": {"N": "1"}}})
    )
    assert (await scripted.store.execute_async(GET)).item == {"n": 1}
    assert len(scripted.pauses) == 2


def test_a_response_that_cannot_be_read_is_unknown() -> None:
    scripted = ScriptedStore(http_response(b'{"Attributes": 1}'))
    with pytest.raises(StoreUnavailable, match="cannot be read"):
        scripted.store.execute(PUT)


def test_an_unknown_error_is_passed_on_with_its_name() -> None:
    with pytest.raises(RequestError, match="NewException: what is new"):
        ScriptedStore(error_response("NewException", "what is new")).store.execute(PUT)


def test_an_expression_that_is_too_long_is_not_sent() -> None:
    terms = tuple(Compare("=", Path((f"attribute{n}",)), Value(n)) for n in range(400))
    scripted = ScriptedStore()
    for request in (PutItem("t", KEY, And(terms)), TransactWriteItems((PutItem("t", KEY, And(terms)),))):
        with pytest.raises(ValidationFailed, match="4096"):
            scripted.store.execute(request)
    assert scripted.transport.sent == []


def test_no_secret_is_shown() -> None:
    scripted = ScriptedStore(ResponseLost("reset"))
    with pytest.raises(StoreUnavailable) as raised:
        scripted.store.execute(PUT)
    call = scripted.transport.sent[0]
    shown = "".join(map(repr, (KEYS, scripted.store, call, raised.value))) + str(raised.value) + str(KEYS) + str(call)
    signature = call.headers["Authorization"].rpartition("=")[2]
    assert [s for s in (KEYS.secret_key, KEYS.session_token, signature) if s is None or s in shown] == []


def test_something_that_is_not_a_request_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="not a request"):
        ScriptedStore().store.execute(Request[None]())


def test_closing_closes_the_transport() -> None:
    scripted = ScriptedStore()
    with scripted.store:
        assert not scripted.transport.is_closed
    assert scripted.transport.is_closed
