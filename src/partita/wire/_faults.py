"""Errors in DynamoDB's format: a status, a type with its namespace, a message, and sometimes more fields."""

from __future__ import annotations

import logging
from typing import Any, Final

from msgspec import Struct

from partita.errors import (
    ConditionFailed,
    PartitaError,
    Reason,
    RequestError,
    SerializationFailed,
    StoreError,
    StreamTrimmed,
    TableInUse,
    TableNotFound,
    Throttled,
    TokenInProgress,
    TokenMismatch,
    TransactionCancelled,
    TransactionConflict,
    ValidationFailed,
)
from partita.runtime import Clock, OutageLog
from partita.store import Json, wire_item

_LOG: Final = logging.getLogger("partita.wire")
_SERVICE: Final = "com.amazon.coral.service#"
_VALIDATE: Final = "com.amazon.coral.validate#"
_DYNAMODB: Final = "com.amazonaws.dynamodb.v20120810#"
_NAMESPACES: Final = {
    "AccessDeniedException": _SERVICE,
    "IncompleteSignatureException": _SERVICE,
    "InternalServerError": _DYNAMODB,
    "InvalidSignatureException": _SERVICE,
    "MissingAuthenticationTokenException": _SERVICE,
    "SerializationException": _SERVICE,
    "UnknownOperationException": _SERVICE,
    "UnrecognizedClientException": _SERVICE,
    "ValidationException": _VALIDATE,
}
_CAPITALISED: Final = ("AccessDeniedException", "SerializationException", "TransactionCanceledException")
_KINDS: Final[tuple[tuple[type[PartitaError], str], ...]] = (
    (ValidationFailed, "ValidationException"),
    (SerializationFailed, "SerializationException"),
    (ConditionFailed, "ConditionalCheckFailedException"),
    (TransactionCancelled, "TransactionCanceledException"),
    (TransactionConflict, "TransactionConflictException"),
    (TokenMismatch, "IdempotentParameterMismatchException"),
    (TokenInProgress, "TransactionInProgressException"),
    (TableNotFound, "ResourceNotFoundException"),
    (TableInUse, "ResourceInUseException"),
    (StreamTrimmed, "TrimmedDataAccessException"),
    (Throttled, "ProvisionedThroughputExceededException"),
)


class Fault(RequestError):
    """An error of the wire protocol only; `kind` is DynamoDB's name for it."""

    code = "wire_fault"

    def __init__(self, kind: str, message: str, *, status: int = 400) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status


def not_found(what: str) -> Fault:
    """Return the error that names the missing resource; item operations use an error without a name."""
    return Fault("ResourceNotFoundException", f"Requested resource not found: {what} not found")


class Response(Struct, frozen=True):
    """A response to the client: a status, and a body that becomes JSON, or None."""

    status: int
    body: Json | None


def kind_of_error(error: Exception) -> str:
    """DynamoDB's name for an error of Partita."""
    if isinstance(error, Fault):
        return error.kind
    return next((kind for ours, kind in _KINDS if isinstance(error, ours)), "InternalServerError")


def outage_log(clock: Clock) -> OutageLog:
    """A log of failures of the store; `clock` is monotonic."""
    return OutageLog(_LOG, clock)


def error_response(error: Exception, operation: str = "", outages: OutageLog | None = None) -> Response:
    """The response for an error; internal errors are logged, and their details are not sent to the client."""
    kind = kind_of_error(error)
    if kind == "InternalServerError":
        if outages is not None and isinstance(error, StoreError):
            outages.report(error.code, operation, error)
        else:
            _LOG.error("A request failed.", exc_info=error)
    status = error.status if isinstance(error, Fault) else 500 if kind == "InternalServerError" else 400
    message = message_of(error, kind)
    body: Json = {"__type": _NAMESPACES.get(kind, _DYNAMODB) + kind}
    if message:
        body["Message" if kind in _CAPITALISED else "message"] = message
    if isinstance(error, ConditionFailed) and error.item is not None:
        body["Item"] = wire_item(error.item)
    elif isinstance(error, TransactionCancelled):
        body["CancellationReasons"] = [_reason(reason) for reason in error.reasons]
    return Response(status, body)


def message_of(error: Exception, kind: str) -> str:
    """The message for the client."""
    if isinstance(error, TableNotFound):
        return "Requested resource not found"
    if isinstance(error, PartitaError) and kind != "InternalServerError":
        return error.message
    return "The request could not be executed."


def _reason(reason: Reason) -> Json:
    body: dict[str, Any] = {"Code": reason.code}
    if reason.message:
        body["Message"] = reason.message
    if reason.item is not None:
        body["Item"] = wire_item(reason.item)
    return body
