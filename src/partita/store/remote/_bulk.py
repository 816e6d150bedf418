"""Bulk operations of the endpoint itself: started, and looked at until they end."""

from __future__ import annotations

import msgspec

from partita._aws import ApiClient, Calls
from partita.store._dynamodb_json import Json
from partita.store._requests import Request
from partita.store.remote._tables import table_call


class StartBulkPut(Request[Json], frozen=True):
    """Start `StartBulkPutItems` with these parameters; a `ClientToken` among them makes it safe to send twice."""

    parameters: Json


class DescribeBulk(Request[Json], frozen=True):
    """What became of a bulk operation so far."""

    arn: str


class CancelBulk(Request[Json], frozen=True):
    """Have a bulk operation end early."""

    arn: str


def start_bulk(client: ApiClient, request: StartBulkPut) -> Calls[Json]:
    """The description of the operation that was started."""
    repeatable = "ClientToken" in request.parameters
    call = table_call("StartBulkPutItems", request.parameters, repeatable=repeatable)
    return _description((yield from client.send(call)))


def describe_bulk(client: ApiClient, request: DescribeBulk) -> Calls[Json]:
    """The description of an operation."""
    call = table_call("DescribeBulkOperation", {"BulkOperationArn": request.arn}, repeatable=True)
    return _description((yield from client.send(call)))


def _description(response: bytes) -> Json:
    description: Json = msgspec.json.decode(response)["BulkOperationDescription"]
    return description


def cancel_bulk(client: ApiClient, request: CancelBulk) -> Calls[Json]:
    """The ARN and the status of an operation that is cancelled."""
    call = table_call("CancelBulkOperation", {"BulkOperationArn": request.arn}, repeatable=True)
    response: Json = msgspec.json.decode((yield from client.send(call)))
    return response
