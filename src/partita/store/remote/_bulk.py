"""Bulk operations that the endpoint executes: starting, describing and cancelling them."""

from __future__ import annotations

import msgspec

from partita._aws import ApiClient, Calls
from partita.store._dynamodb_json import Json
from partita.store._requests import Request
from partita.store.remote._tables import table_call


class StartBulkPut(Request[Json], frozen=True):
    """Call `StartBulkPutItems` with these parameters; with a `ClientToken`, the call can be retried safely."""

    parameters: Json


class DescribeBulk(Request[Json], frozen=True):
    """Describe the state of a bulk operation."""

    arn: str


class CancelBulk(Request[Json], frozen=True):
    """Cancel a bulk operation."""

    arn: str


def start_bulk(client: ApiClient, request: StartBulkPut) -> Calls[Json]:
    """Start an operation and return its description."""
    repeatable = "ClientToken" in request.parameters
    call = table_call("StartBulkPutItems", request.parameters, repeatable=repeatable)
    return _description((yield from client.send(call)))


def describe_bulk(client: ApiClient, request: DescribeBulk) -> Calls[Json]:
    """Return the description of an operation."""
    call = table_call("DescribeBulkOperation", {"BulkOperationArn": request.arn}, repeatable=True)
    return _description((yield from client.send(call)))


def _description(response: bytes) -> Json:
    description: Json = msgspec.json.decode(response)["BulkOperationDescription"]
    return description


def cancel_bulk(client: ApiClient, request: CancelBulk) -> Calls[Json]:
    """Cancel an operation and return its ARN and status."""
    call = table_call("CancelBulkOperation", {"BulkOperationArn": request.arn}, repeatable=True)
    response: Json = msgspec.json.decode((yield from client.send(call)))
    return response
