"""Continuous backups of tables, and restoring tables from them to a point in time."""

from __future__ import annotations

from math import ceil, floor
from typing import Any

from partita.errors import InstantOutOfRange, RecoveryDisabled, TableInUse, ValidationFailed
from partita.runtime import Clock
from partita.store import (
    MAX_RECOVERY_DAYS,
    DescribeRecovery,
    Json,
    RecoveryDescription,
    RestoreTable,
    SetRecovery,
    TableDescription,
)
from partita.wire._describe import table_arn
from partita.wire._faults import Fault
from partita.wire._parameters import Operation, Parameters, Requests, refuse, violated
from partita.wire.tables._describe import table_body
from partita.wire.tables._existing import backed_up
from partita.wire.tables._restored import restored, table_exists
from partita.wire.tables._settings import keep_settings, read_settings

_INVALID_TIME = (
    "An invalid restore time was specified. "
    "RestoreDateTime must be between EarliestRestorableDateTime and LatestRestorableDateTime."
)


class Backups:
    """The operations of point-in-time recovery."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def operations(self) -> dict[str, Operation]:
        """The operations, by name."""
        return {
            "DescribeContinuousBackups": _describe,
            "UpdateContinuousBackups": _update,
            "RestoreTableToPointInTime": self.restore,
        }

    def restore(self, call: Parameters) -> Requests[Json]:
        """Restore a table into a new one, as on AWS without its stream, expiry, tags and protection."""
        source, instant = _source(call), _instant(call)
        description: TableDescription = yield from backed_up(source)
        settings = yield from read_settings(description.schema.name)
        now = self._clock()
        schema, settings = restored(call, description.schema, settings, int(now * 1000))
        recovery: RecoveryDescription = yield DescribeRecovery(source)
        if not recovery.enabled:
            raise unavailable(source)
        wanted = _restorable(recovery, instant)
        try:
            made: TableDescription = yield RestoreTable(source, schema, wanted)
        except TableInUse:
            raise table_exists(schema.name) from None
        except RecoveryDisabled:
            raise unavailable(source) from None
        except InstantOutOfRange:
            raise Fault("InvalidRestoreTimeException", _INVALID_TIME) from None
        yield from keep_settings(schema.name, settings)
        body = table_body(made, settings, call.region, "CREATING")
        summary = {
            "SourceTableArn": table_arn(call.region, source),
            "RestoreDateTime": wanted,
            "RestoreInProgress": True,
        }
        return {"TableDescription": {**body, "RestoreSummary": summary}}


def unavailable(table: str) -> Fault:
    """The error for a table without continuous backups."""
    message = f"Point in time recovery is not enabled for table '{table}'"
    return Fault("PointInTimeRecoveryUnavailableException", message)


def _source(call: Parameters) -> str:
    given = [name for name in ("SourceTableArn", "SourceTableName") if call.text(name) is not None]
    if len(given) != 1:
        raise ValidationFailed("One of SourceTableArn and SourceTableName must be specified, and not both")
    return call.table(given[0])


def _instant(call: Parameters) -> float | None:
    """The requested instant; None for the latest."""
    latest, instant = call.flag("UseLatestRestorableTime"), call.instant("RestoreDateTime")
    if bool(latest) == (instant is not None):
        raise ValidationFailed("One of UseLatestRestorableTime and RestoreDateTime must be specified, and not both")
    return instant


def _window(recovery: RecoveryDescription) -> tuple[float, float]:
    """The first and last restorable times in whole seconds, because clients send whole seconds."""
    earliest = float(ceil(recovery.earliest or 0))
    return earliest, max(earliest, float(floor(recovery.latest or 0)))


def _restorable(recovery: RecoveryDescription, instant: float | None) -> float:
    """The instant to restore; the last second of the described window may not be over yet."""
    latest = recovery.latest or 0.0
    if instant is None or latest < instant <= _window(recovery)[1]:
        return latest
    return instant


def _describe(call: Parameters) -> Requests[Json]:
    """Describe whether continuous backups are enabled, and the restorable window."""
    description = yield from backed_up(call.table())
    recovery: RecoveryDescription = yield DescribeRecovery(description.schema.name)
    return _body(recovery)


def _update(call: Parameters) -> Requests[Json]:
    """Enable or disable continuous backups, or change their retention period."""
    name, given = call.table(), call.fields("PointInTimeRecoverySpecification")
    if given is None:
        refuse(violated(None, "pointInTimeRecoverySpecification", "Member must not be null"))
    part, at = Parameters(given), "pointInTimeRecoverySpecification"
    wanted, days = part.flag("PointInTimeRecoveryEnabled"), part.whole("RecoveryPeriodInDays")
    if wanted is None:
        refuse(violated(None, f"{at}.pointInTimeRecoveryEnabled", "Member must not be null"))
    _check_days(days, at)
    if days is not None and not wanted:
        message = "Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery."
        raise ValidationFailed(f"Invalid Request: {message}")
    description = yield from backed_up(name)
    before: RecoveryDescription = yield DescribeRecovery(description.schema.name)
    kept = before.days if before.enabled else MAX_RECOVERY_DAYS
    recovery: RecoveryDescription = yield SetRecovery(description.schema.name, (days or kept) if wanted else None)
    return _body(recovery)


def _body(recovery: RecoveryDescription) -> Json:
    described: dict[str, Any] = {"PointInTimeRecoveryStatus": "ENABLED" if recovery.enabled else "DISABLED"}
    if recovery.enabled:
        earliest, latest = _window(recovery)
        described |= {
            "RecoveryPeriodInDays": recovery.days,
            "EarliestRestorableDateTime": earliest,
            "LatestRestorableDateTime": latest,
        }
    body = {"ContinuousBackupsStatus": "ENABLED", "PointInTimeRecoveryDescription": described}
    return {"ContinuousBackupsDescription": body}


def _check_days(days: int | None, at: str) -> None:
    if days is not None and not 1 <= days <= MAX_RECOVERY_DAYS:
        bound = f"less than or equal to {MAX_RECOVERY_DAYS}" if days > 1 else "greater than or equal to 1"
        refuse(violated(days, f"{at}.recoveryPeriodInDays", f"Member must have value {bound}"))
