"""Expiry of items: UpdateTimeToLive and DescribeTimeToLive."""

from __future__ import annotations

from partita.errors import ValidationFailed
from partita.store import Json, SetTimeToLive
from partita.wire._parameters import MAX_NAME, Parameters, Requests, refuse, violated
from partita.wire.tables._existing import existing


def update_time_to_live(call: Parameters) -> Requests[Json]:
    """Set the attribute that holds the expiry time of items, or disable expiry."""
    name, given = call.table(), call.fields("TimeToLiveSpecification")
    if given is None:
        refuse(violated(None, "timeToLiveSpecification", "Member must not be null"))
    part = Parameters(given)
    enabled, attribute = part.flag("Enabled"), part.text("AttributeName")
    for at, value in (("enabled", enabled), ("attributeName", attribute)):
        if value is None:
            refuse(violated(None, f"timeToLiveSpecification.{at}", "Member must not be null"))
    if not attribute:
        raise ValidationFailed("TimeToLiveSpecification.AttributeName must be a non empty string; its length is 0.")
    if len(attribute) > MAX_NAME:
        rule = f"Member must have length less than or equal to {MAX_NAME}"
        refuse(violated(attribute, "timeToLiveSpecification.attributeName", rule))
    description = yield from existing(name)
    current = description.schema.ttl
    if not enabled and current not in (None, attribute):
        message = "TimeToLive is active on a different AttributeName: current AttributeName is "
        raise ValidationFailed(message + current)
    yield SetTimeToLive(name, attribute if enabled else None)
    return {"TimeToLiveSpecification": {"Enabled": enabled, "AttributeName": attribute}}


def describe_time_to_live(call: Parameters) -> Requests[Json]:
    """Describe the attribute that holds the expiry time of items."""
    description = yield from existing(call.table())
    attribute = description.schema.ttl
    if attribute is None:
        return {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}
    return {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": attribute}}
