"""Converts plain Python values to DynamoDB's typed wire form and back, and its errors to Partita's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import ClientError

from partita.errors import (
    ConditionFailed,
    Reason,
    RequestError,
    SerializationFailed,
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
from partita.values._attribute_values import Item, kind_of, number

_ERRORS: dict[str, type[RequestError]] = {
    "IdempotentParameterMismatchException": TokenMismatch,
    "LimitExceededException": TableInUse,
    "ProvisionedThroughputExceededException": Throttled,
    "ResourceInUseException": TableInUse,
    "ResourceNotFoundException": TableNotFound,
    "SerializationException": SerializationFailed,
    "TableNotFoundException": TableNotFound,
    "ThrottlingException": Throttled,
    "TransactionConflictException": TransactionConflict,
    "TransactionInProgressException": TokenInProgress,
    "TrimmedDataAccessException": StreamTrimmed,
    "ValidationException": ValidationFailed,
}


def to_wire(value: Any) -> dict[str, Any]:
    """Return a plain value in wire form; an empty set is sent, so that the endpoint refuses it."""
    if isinstance(value, set | frozenset) and not value:
        return {"SS": []}
    kind = kind_of(value)
    return {kind: _TO_WIRE[kind](value) if kind in _TO_WIRE else value}


def item_to_wire(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item, key or map in wire form."""
    return {name: to_wire(value) for name, value in item.items()}


def from_wire(wire: Mapping[str, Any]) -> Any:
    """Return a plain value from its wire form."""
    ((kind, content),) = wire.items()
    return _FROM_WIRE[kind](content) if kind in _FROM_WIRE else content


def item_from_wire(wire: Mapping[str, Any]) -> Item:
    """Return an item, key or map from its wire form."""
    return {name: from_wire(value) for name, value in wire.items()}


_TO_WIRE: dict[str, Callable[[Any], Any]] = {
    "N": str,
    "NULL": lambda _: True,
    "L": lambda elements: [to_wire(element) for element in elements],
    "M": item_to_wire,
    "SS": sorted,
    "NS": lambda members: [str(member) for member in sorted(members)],
    "BS": sorted,
}
_FROM_WIRE: dict[str, Callable[[Any], Any]] = {
    "N": number,
    "NULL": lambda _: None,
    "L": lambda elements: [from_wire(element) for element in elements],
    "M": item_from_wire,
    "SS": frozenset,
    "NS": lambda members: frozenset(map(number, members)),
    "BS": frozenset,
}


def optional_item(wire: Mapping[str, Any] | None) -> Item | None:
    """Return the item, or None if the endpoint sent none."""
    return None if wire is None else item_from_wire(wire)


@contextmanager
def translated_errors() -> Iterator[None]:
    """Raise errors of the endpoint as the errors that every store raises."""
    try:
        yield
    except ClientError as error:
        raise _translate(error.response) from error


def _translate(response: Mapping[str, Any]) -> Exception:
    code = response["Error"]["Code"]
    message = response["Error"].get("Message") or response.get("message", "")
    if code == "ConditionalCheckFailedException":
        return ConditionFailed(message, item=optional_item(response.get("Item")))
    if code == "TransactionCanceledException":
        return TransactionCancelled([_reason(reason) for reason in response["CancellationReasons"]])
    if code in _ERRORS:
        return _ERRORS[code](message)
    return AssertionError(f"The endpoint returned {code}: {message}")


def _reason(wire: Mapping[str, Any]) -> Reason:
    return Reason(wire.get("Code", "None"), wire.get("Message") or "", optional_item(wire.get("Item")))
