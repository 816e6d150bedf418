"""Kinesis streaming destinations: they are stored and described, but nothing is sent to them."""

from __future__ import annotations

from typing import Final

import msgspec

from partita.errors import ValidationFailed
from partita.store import Json, TableDescription
from partita.wire._parameters import Operation, Parameters, Requests, member, refuse, violated
from partita.wire.tables._describe import table_identity
from partita.wire.tables._existing import existing
from partita.wire.tables._settings import Destination, Settings, keep_settings, read_settings

_PRECISIONS: Final = ("MILLISECOND", "MICROSECOND")
_MIN_ARN: Final = 37
_MAX_ARN: Final = 1024
_STATE: Final = "Table is not in a valid state to enable Kinesis Streaming Destination: "


def enable_destination(call: Parameters) -> Requests[Json]:
    """Add a destination stream; only one can be active."""
    arn, precision = _stream(call), _precision(call, "EnableKinesisStreamingConfiguration")
    name, settings = yield from _known(call)
    if any(destination.active for destination in settings.destinations.values()):
        message = "EnableKinesisStreamingDestination must be DISABLED or ENABLE_FAILED to perform ENABLE operation."
        raise ValidationFailed(_STATE + message)
    yield from _keep(name, settings, Destination(arn, active=True, precision=precision))
    configuration = {} if precision is None else {"ApproximateCreationDateTimePrecision": precision}
    status = {"DestinationStatus": "ENABLING", "EnableKinesisStreamingConfiguration": configuration}
    return {"TableName": name, "StreamArn": arn, **status}


def disable_destination(call: Parameters) -> Requests[Json]:
    """Disable a destination stream."""
    arn = _stream(call)
    if call.fields("EnableKinesisStreamingConfiguration"):
        message = "Stream cannot be disabled using EnableKinesisStreamingConfiguration parameters"
        raise ValidationFailed(f"Streaming destination cannot be updated with given parameters: {message}")
    name, settings = yield from _known(call)
    destination = settings.destinations.get(arn)
    if destination is None or not destination.active:
        message = "KinesisStreamingDestination must be ACTIVE to perform DISABLE operation."
        raise ValidationFailed(_STATE + message)
    yield from _keep(name, settings, msgspec.structs.replace(destination, active=False))
    return {"TableName": name, "StreamArn": arn, "DestinationStatus": "DISABLING"}


def update_destination(call: Parameters) -> Requests[Json]:
    """Change the precision of the times of changes."""
    arn, precision = _stream(call), _precision(call, "UpdateKinesisStreamingConfiguration")
    if precision is None:
        message = "UpdateKinesisStreamingConfiguration cannot be null or contain only null values"
        raise ValidationFailed(f"Streaming destination cannot be updated with given parameters: {message}")
    description: TableDescription = yield from existing(call.table())
    name = description.schema.name
    settings = yield from read_settings(name)
    destination = settings.destinations.get(arn)
    if destination is None:
        message = f"No streaming destination with streamArn: {arn} found for table with tableName: {name}"
        raise ValidationFailed(_STATE + message)
    if not destination.active:
        message = "Kinesis streaming is not in ACTIVE state. Updates are only allowed in ACTIVE state."
        raise ValidationFailed(f"{_STATE}{message} TableName: {name}, kdsArn: {arn}")
    if (destination.precision or _PRECISIONS[0]) == precision:
        message = f"Precision is already set to the desired value of {precision}"
        whose = f"tableId: {table_identity(name, description.created_at)}, kdsArn: {arn}"
        raise ValidationFailed(f"Invalid Request: {message} for {whose}")
    yield from _keep(name, settings, msgspec.structs.replace(destination, precision=precision))
    configuration = {"ApproximateCreationDateTimePrecision": precision}
    status = {"DestinationStatus": "UPDATING", "UpdateKinesisStreamingConfiguration": configuration}
    return {"TableName": name, "StreamArn": arn, **status}


def describe_destinations(call: Parameters) -> Requests[Json]:
    """List the active and the disabled destination streams."""
    name, settings = yield from _known(call)
    return {
        "TableName": name,
        "KinesisDataStreamDestinations": [_body(each) for each in settings.destinations.values()],
    }


def _body(destination: Destination) -> Json:
    body = {"StreamArn": destination.stream, "DestinationStatus": "ACTIVE" if destination.active else "DISABLED"}
    if destination.precision is not None:
        body["ApproximateCreationDateTimePrecision"] = destination.precision
    return body


def _stream(call: Parameters) -> str:
    arn = call.required("StreamArn", "streamArn")
    if not _MIN_ARN <= len(arn) <= _MAX_ARN:
        short = len(arn) < _MIN_ARN
        bound = f"greater than or equal to {_MIN_ARN}" if short else f"less than or equal to {_MAX_ARN}"
        refuse(violated(arn, "streamArn", f"Member must have length {bound}"))
    return arn


def _precision(call: Parameters, name: str) -> str | None:
    configuration = Parameters(call.fields(name) or {}, at=f"{member(name)}.")
    return configuration.choice("ApproximateCreationDateTimePrecision", _PRECISIONS)


def _known(call: Parameters) -> Requests[tuple[str, Settings]]:
    description: TableDescription = yield from existing(call.table())
    settings = yield from read_settings(description.schema.name)
    return description.schema.name, settings


def _keep(name: str, settings: Settings, destination: Destination) -> Requests[None]:
    destinations = settings.destinations | {destination.stream: destination}
    yield from keep_settings(name, msgspec.structs.replace(settings, destinations=destinations))


OPERATIONS: Final[dict[str, Operation]] = {
    "EnableKinesisStreamingDestination": enable_destination,
    "DisableKinesisStreamingDestination": disable_destination,
    "UpdateKinesisStreamingDestination": update_destination,
    "DescribeKinesisStreamingDestination": describe_destinations,
}
