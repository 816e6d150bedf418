"""Maps the errors of DynamoDB and SQS to errors of the library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from partita._aws._endpoints import STREAMS, Api
from partita._aws._transport import HttpResponse
from partita.errors import (
    AccessDenied,
    ConditionFailed,
    InstantOutOfRange,
    PartitaError,
    QueueNotFound,
    Reason,
    RecoveryDisabled,
    RequestError,
    SerializationFailed,
    StoreUnavailable,
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
from partita.store import Json, received_item

SERVER_FAULT: Final = 500

UNKNOWN: Final = "Whether a write happened is unknown: read before you write again."

EXPIRED: Final = frozenset(("ExpiredTokenException", "ExpiredToken"))
SKEWED: Final = frozenset(("InvalidSignatureException", "RequestTimeTooSkewed", "RequestExpired"))


class IteratorExpired(RequestError):
    """A stream iterator was kept for too long; the store requests a new one."""


_ERRORS: Final[dict[str, type[RequestError]]] = {
    "AccessDeniedException": AccessDenied,
    "ExpiredIteratorException": IteratorExpired,
    "ExpiredToken": AccessDenied,
    "ExpiredTokenException": AccessDenied,
    "IdempotentParameterMismatchException": TokenMismatch,
    "IncompleteSignatureException": AccessDenied,
    "InvalidClientTokenId": AccessDenied,
    "InvalidSignatureException": AccessDenied,
    "InvalidRestoreTimeException": InstantOutOfRange,
    "ItemCollectionSizeLimitExceededException": ValidationFailed,
    "LimitExceededException": TableInUse,
    "MissingAuthenticationToken": AccessDenied,
    "MissingAuthenticationTokenException": AccessDenied,
    "NotAuthorized": AccessDenied,
    "OptInRequired": AccessDenied,
    "OverLimit": Throttled,
    "PointInTimeRecoveryUnavailableException": RecoveryDisabled,
    "QueueDoesNotExist": QueueNotFound,
    "QueueDeletedRecently": TableInUse,
    "QueueNameExists": TableInUse,
    "ReplicatedWriteConflictException": TransactionConflict,
    "RequestExpired": AccessDenied,
    "RequestLimitExceeded": Throttled,
    "RequestThrottled": Throttled,
    "RequestTimeTooSkewed": AccessDenied,
    "ResourceInUseException": TableInUse,
    "ResourceNotFoundException": TableNotFound,
    "SerializationException": SerializationFailed,
    "TableAlreadyExistsException": TableInUse,
    "TableNotFoundException": TableNotFound,
    "Throttling": Throttled,
    "TooManyRequestsException": Throttled,
    "TransactionConflictException": TransactionConflict,
    "TransactionInProgressException": TokenInProgress,
    "TrimmedDataAccessException": StreamTrimmed,
    "UnrecognizedClientException": AccessDenied,
    "ValidationException": ValidationFailed,
}


class Failure(msgspec.Struct, frozen=True):
    """An error response: the error's name at the endpoint, and the error to raise."""

    name: str
    error: PartitaError


def failure_of(response: HttpResponse, api: Api) -> Failure:
    """Return the failure that a response with a status other than 200 reports."""
    try:
        body = msgspec.json.decode(response.body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError):
        body = {}
    name = str(body.get("__type") or body.get("code") or "").rpartition("#")[2]
    message = str(body.get("message") or body.get("Message") or name or f"HTTP status {response.status}")
    known = _WITH_DETAILS.get(name)
    if known is not None:
        return Failure(name, known(message, body))
    if name == "LimitExceededException" and api == STREAMS:  # too many readers of one shard
        return Failure(name, Throttled(message))
    if name in _ERRORS:
        return Failure(name, _ERRORS[name](message))
    if response.status >= SERVER_FAULT or not name:
        return Failure(name, StoreUnavailable(f"The store is in trouble: {message}.", hint=UNKNOWN))
    return Failure(name, RequestError(f"{name}: {message}"))


def _condition_failed(message: str, body: Json) -> PartitaError:
    return ConditionFailed(message, item=_item(body))


def _cancelled(message: str, body: Json) -> PartitaError:
    reasons = _objects(body.get("CancellationReasons"))
    if not reasons:
        return RequestError(message)
    return TransactionCancelled(
        [Reason(str(each.get("Code") or "None"), str(each.get("Message") or ""), _item(each)) for each in reasons]
    )


def _objects(value: Any) -> list[Json]:
    """A list of JSON objects, or nothing.

    Raises:
        ValidationError: the response has something else in its place.
    """
    return msgspec.convert(value or [], list[Json])


def _item(body: Json) -> dict[str, Any] | None:
    return received_item(body["Item"]) if body.get("Item") else None


def _throttled(message: str, body: Json) -> PartitaError:
    reasons = _objects(body.get("throttlingReasons") or body.get("ThrottlingReasons"))
    return Throttled(message, reasons=[_throttling_reason(each) for each in reasons])


def _throttling_reason(each: Json) -> str:
    return f"{each.get('reason', '')} {each.get('resource', '')}".strip()


_WITH_DETAILS: Final[dict[str, Callable[[str, Json], PartitaError]]] = {
    "ConditionalCheckFailedException": _condition_failed,
    "ProvisionedThroughputExceededException": _throttled,
    "ThrottlingException": _throttled,
    "TransactionCanceledException": _cancelled,
}
