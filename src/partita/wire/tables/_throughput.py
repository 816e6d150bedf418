"""Capacity of tables and indexes: provisioned units, limits of on-demand tables, and warm throughput."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from partita.errors import ValidationFailed
from partita.store import Json
from partita.wire._parameters import MAX_LONG, Parameters, refuse, violated
from partita.wire.tables._definitions import BILLING, INVALID
from partita.wire.tables._settings import ON_DEMAND, OWN, PROVISIONED, Settings, Throughput, Units

NOT_ON_DEMAND: Final = (
    "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"
)
INITIAL: Final = Units(12_000, 4_000)
"""The initial warm throughput of an on-demand table."""
MAX_UNITS: Final = 10**12
_OPEN: Final = -1
_GUIDE: Final = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html"


def read_throughput(given: Json | None, at: str) -> Throughput | None:
    """Read provisioned units, each of which must be at least 1."""
    if given is None:
        return None
    call = Parameters(given)
    read, write = call.whole("ReadCapacityUnits", MAX_LONG), call.whole("WriteCapacityUnits", MAX_LONG)
    for name, units in (("readCapacityUnits", read), ("writeCapacityUnits", write)):
        if units is None:
            refuse(violated(None, f"{at}.{name}", "Member must not be null"))
        elif units < 1:
            refuse(violated(units, f"{at}.{name}", "Member must have value greater than or equal to 1"))
        elif units > MAX_UNITS:
            raise ValidationFailed(f"Given value {units} for {name[:1].upper()}{name[1:]} is out of bounds")
    return Throughput(read or 0, write or 0)


def read_billing(call: Parameters, before: Settings, now: int, *, creating: bool) -> Settings:
    """The settings after applying the billing mode, units and limits of the call."""
    billing = call.choice("BillingMode", BILLING, PROVISIONED if creating else before.billing) or before.billing
    units = read_throughput(call.fields("ProvisionedThroughput"), "provisionedThroughput")
    if billing == ON_DEMAND and units is not None:
        raise ValidationFailed(INVALID + NOT_ON_DEMAND)
    if billing == PROVISIONED and units is None and creating:
        message = "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"
        raise ValidationFailed(INVALID + message)
    if call.given.get("BillingMode") == PROVISIONED and units is None:
        message = "ProvisionedThroughput must be specified when BillingMode is PROVISIONED"
        raise ValidationFailed(INVALID + message)
    indexes = dict(before.indexes)
    for index in call.structures("GlobalSecondaryIndexes"):
        indexes[index["IndexName"]] = index_units(index, billing)
    switched = billing == ON_DEMAND and before.billing != ON_DEMAND
    settings = msgspec.structs.replace(
        before,
        billing=billing,
        throughput=Throughput() if billing == ON_DEMAND else changed_units(before.throughput, units, now),
        indexes={} if billing == ON_DEMAND else indexes,
        on_demand_at=now if switched else before.on_demand_at,
    )
    return _with_limits(call, settings, OWN, None if creating else before)


def changed_units(before: Throughput, units: Throughput | None, now: int) -> Throughput:
    """The units after a change, with the time of the change."""
    if units is None:
        return before
    if not before.read:  # there were no provisioned units
        return units
    increased = units.read > before.read or units.write > before.write
    decreased = units.read < before.read or units.write < before.write
    today = before.decreases if before.decreased_at and _day(before.decreased_at) == _day(now) else 0
    return Throughput(
        units.read,
        units.write,
        increased_at=now if increased else before.increased_at,
        decreased_at=now if decreased else before.decreased_at,
        decreases=today + decreased,
    )


def _day(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).date().isoformat()


def index_units(index: Json, billing: str) -> Throughput:
    """The units of an index that is created together with its table."""
    units = read_throughput(Parameters(index).fields("ProvisionedThroughput"), "provisionedThroughput")
    if billing == ON_DEMAND:
        if units is not None:
            message = "ProvisionedThroughput should not be specified for index:"
            raise ValidationFailed(f"{INVALID}{message} {index['IndexName']} when BillingMode is PAY_PER_REQUEST")
        return Throughput()
    if units is None:
        raise ValidationFailed(f"{INVALID}ProvisionedThroughput is not specified for index: {index['IndexName']}")
    return units


def with_index_limits(index: Json, settings: Settings, before: Settings | None) -> Settings:
    """The settings with the limits from an index definition; `before` are the previous settings, if any."""
    return _with_limits(Parameters(index), settings, index["IndexName"], before)


def _with_limits(part: Parameters, settings: Settings, index: str, before: Settings | None) -> Settings:
    limits = _request_limits(part, settings, index, creating=before is None)
    warm = _warm(part, settings, index, before)
    return msgspec.structs.replace(settings, request_limits=limits, warm=warm)


def _request_limits(part: Parameters, settings: Settings, index: str, *, creating: bool) -> dict[str, Units]:
    """The new request limits by index; -1 removes a limit."""
    kept = settings.request_limits if settings.billing == ON_DEMAND else {}
    given = part.fields("OnDemandThroughput")
    if given is None:
        return kept
    units = Parameters(given)
    asked = units.whole("MaxReadRequestUnits", MAX_LONG), units.whole("MaxWriteRequestUnits", MAX_LONG)
    whose = "for table" if index == OWN else f"for index : {index}"
    before = kept.get(index, Units())
    after = []
    for name, value, old in zip(("Read", "Write"), asked, (before.read, before.write), strict=True):
        limit = f"Max{name}RequestUnits for OnDemandThroughput"
        if value is not None and settings.billing == PROVISIONED:
            message = f"{limit} cannot be specified when the table BillingMode is PROVISIONED"
            raise ValidationFailed(INVALID + message)
        if value is not None and value < 1 and (value != _OPEN or creating):
            raise ValidationFailed(f"{INVALID}Requested {limit} {whose} is outside of valid range")
        after.append(None if value == _OPEN else old if value is None else value)
    left = {name: units for name, units in kept.items() if name != index}
    return left if after == [None, None] else left | {index: Units(*after)}


def _warm(part: Parameters, settings: Settings, index: str, before: Settings | None) -> dict[str, Units]:
    """The new warm throughput by index, which can never decrease."""
    wanted, least = Parameters(part.fields("WarmThroughput") or {}), warm_units(settings, index)
    if before is not None:
        least = _larger(least, warm_units(before, index))
    asked = Units(wanted.whole("ReadUnitsPerSecond", MAX_LONG), wanted.whole("WriteUnitsPerSecond", MAX_LONG))
    whose = "table" if index == OWN else f"index {index}"
    for name, value, bound in (("Read", asked.read, least.read), ("Write", asked.write, least.write)):
        if value is not None and value < (bound or 0):
            lower = f"Requested {name}UnitsPerSecond for WarmThroughput for {whose} is lower than"
            raise ValidationFailed(f"{INVALID}{lower} {_least_warm(settings, name, creating=before is None)}")
    kept = _larger(least, asked)
    left = {name: units for name, units in settings.warm.items() if name != index}
    return left if kept == warm_units(msgspec.structs.replace(settings, warm=left), index) else left | {index: kept}


def _larger(one: Units, other: Units) -> Units:
    return Units(max(one.read or 0, other.read or 0), max(one.write or 0, other.write or 0))


def _least_warm(settings: Settings, name: str, *, creating: bool) -> str:
    if not creating:
        return "current WarmThroughput, decreasing WarmThroughput is not supported"
    if settings.billing == ON_DEMAND:
        return f"initial throughput for OnDemand. See: {_GUIDE}"
    return f"{name}CapacityUnits of ProvisionedThroughput"


def warm_units(settings: Settings, index: str = OWN) -> Units:
    """The warm throughput of the table or index: the highest capacity that it has ever had."""
    known = settings.warm.get(index, Units())
    throughput = settings.throughput if index == OWN else settings.indexes.get(index, Throughput())
    given = INITIAL if settings.billing == ON_DEMAND else Units(throughput.read, throughput.write)
    return _larger(known, given)


def throughput_body(units: Throughput, now: int | None = None) -> Json:
    """Provisioned units in descriptions."""
    today = units.decreased_at is not None and now is not None and _day(units.decreased_at) == _day(now)
    body: dict[str, Any] = {
        "NumberOfDecreasesToday": units.decreases if today else 0,
        "ReadCapacityUnits": units.read,
        "WriteCapacityUnits": units.write,
    }
    if units.increased_at is not None:
        body["LastIncreaseDateTime"] = units.increased_at / 1000
    if units.decreased_at is not None:
        body["LastDecreaseDateTime"] = units.decreased_at / 1000
    return body


def limits_body(settings: Settings, index: str = OWN) -> Json:
    """The request limits and the warm throughput of a table or index in descriptions."""
    body: Json = {}
    limits = settings.request_limits.get(index)
    if limits is not None:
        asked = {"MaxReadRequestUnits": limits.read, "MaxWriteRequestUnits": limits.write}
        body["OnDemandThroughput"] = {name: units for name, units in asked.items() if units is not None}
    warm = warm_units(settings, index)
    body["WarmThroughput"] = {
        "ReadUnitsPerSecond": warm.read,
        "WriteUnitsPerSecond": warm.write,
        "Status": "ACTIVE",
    }
    return body
