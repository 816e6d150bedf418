"""Continuous backups as DynamoDB describes them; the store has its own, `partita backup`."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from partita.errors import ValidationFailed
from partita.runtime import Clock
from partita.store import Json
from partita.wire._parameters import Operation, Parameters, Requests, refuse, violated
from partita.wire.tables._existing import backed_up
from partita.wire.tables._settings import MAX_RECOVERY_DAYS, Settings, keep_settings, read_settings

_BEHIND_SECONDS: Final = 300


class Backups:
    """The operations of recovery to a point in time; times are told from the clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def operations(self) -> dict[str, Operation]:
        """By name."""
        return {"DescribeContinuousBackups": self.describe, "UpdateContinuousBackups": self.update}

    def describe(self, call: Parameters) -> Requests[Json]:
        """Whether recovery to a point in time is wanted, and to which."""
        description = yield from backed_up(call.table())
        settings = yield from read_settings(description.schema.name)
        return self._body(settings)

    def update(self, call: Parameters) -> Requests[Json]:
        """Remember whether recovery to a point in time is wanted."""
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
        before = yield from read_settings(description.schema.name)
        began = before.recovery_at if before.recovery and wanted else int(self._clock() * 1000)
        settings = msgspec.structs.replace(
            before,
            recovery=bool(wanted),
            recovery_at=began if wanted else None,
            recovery_days=days or (before.recovery_days if before.recovery else MAX_RECOVERY_DAYS),
        )
        yield from keep_settings(description.schema.name, settings)
        return self._body(settings)

    def _body(self, settings: Settings) -> Json:
        recovery: dict[str, Any] = {"PointInTimeRecoveryStatus": "ENABLED" if settings.recovery else "DISABLED"}
        if settings.recovery:
            now, began = self._clock(), (settings.recovery_at or 0) / 1000
            recovery |= {
                "RecoveryPeriodInDays": settings.recovery_days,
                "EarliestRestorableDateTime": max(began, now - settings.recovery_days * 86_400),
                "LatestRestorableDateTime": max(began, now - _BEHIND_SECONDS),
            }
        body = {"ContinuousBackupsStatus": "ENABLED", "PointInTimeRecoveryDescription": recovery}
        return {"ContinuousBackupsDescription": body}


def _check_days(days: int | None, at: str) -> None:
    if days is not None and not 1 <= days <= MAX_RECOVERY_DAYS:
        bound = f"less than or equal to {MAX_RECOVERY_DAYS}" if days > 1 else "greater than or equal to 1"
        refuse(violated(days, f"{at}.recoveryPeriodInDays", f"Member must have value {bound}"))
