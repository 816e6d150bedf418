"""ExportTableToPointInTime, DescribeExport and ListExports."""

from __future__ import annotations

from typing import Any, Final

from partita.errors import ValidationFailed
from partita.runtime import Clock
from partita.store import DescribeRecovery, Json, RecoveryDescription, TableDescription
from partita.wire._describe import table_arn
from partita.wire._faults import Fault
from partita.wire._parameters import Operation, Parameters, Requests, refuse, violated
from partita.wire.background import Runner, new_name
from partita.wire.exports import _jobs
from partita.wire.exports._export_job import ItemFilter
from partita.wire.exports._jobs import Job
from partita.wire.exports._runner import JobRunner
from partita.wire.tables import backed_up, recovery_unavailable, table_identity

_FORMATS: Final = ("DYNAMODB_JSON", "ION")
_TYPES: Final = ("FULL_EXPORT", "INCREMENTAL_EXPORT")
_VIEWS: Final = ("NEW_IMAGE", "NEW_AND_OLD_IMAGES")
_ALGORITHMS: Final = ("AES256", "KMS")
_SHORTEST: Final = 15 * 60
_LONGEST: Final = 24 * 3_600
_OUTSIDE: Final = "The specified ExportTime is outside of the point in time recovery window."
_PLAIN: Final = ("S3Bucket", "S3BucketOwner", "S3Prefix", "S3SseAlgorithm", "S3SseKmsKeyId", "FilterSpecification")


class Exports:
    """The operations. `runner` runs exports; without one, none can be started."""

    def __init__(self, clock: Clock, runner: JobRunner | None) -> None:
        self._clock = clock
        self._runner = Runner(runner)

    def operations(self) -> dict[str, Operation]:
        """The operations, by name."""
        return {
            "ExportTableToPointInTime": self.start,
            "DescribeExport": self.describe,
            "ListExports": _list,
        }

    def start(self, call: Parameters) -> Requests[Json]:
        """Start exporting a table as of an instant, or its changes in a period."""
        table, token = call.table("TableArn"), call.text("ClientToken")
        kind, asked = _asked(call)
        digest, now = _jobs.digest_of(call), int(self._clock() * 1000)
        again = yield from _jobs.begun_before("export", token, now)
        if again is not None:
            if again.digest != digest:
                raise Fault("ExportConflictException", "There was a conflict when writing to the specified S3 bucket.")
            return _described(again, call.region)
        description: TableDescription = yield from backed_up(table)
        recovery: RecoveryDescription = yield DescribeRecovery(table)
        if not recovery.enabled:
            raise recovery_unavailable(table)
        times = _times(call, kind, recovery)
        self._runner.check(lambda runner: _check(runner, call, asked))
        job = Job(
            kind="export",
            id=new_name(now),
            table=table,
            table_id=table_identity(table, description.created_at),
            asked={**asked, **times, "Region": call.region},
            digest=digest,
            started=now,
            token=token,
        )
        yield from _jobs.begin(job)
        self._runner.wake(call)
        return _described(job, call.region)

    def describe(self, call: Parameters) -> Requests[Json]:
        """Describe an export."""
        arn = call.required("ExportArn", "exportArn")
        job = yield from _jobs.found("export", arn)
        if job is None:
            raise Fault("ExportNotFoundException", f"Export not found: {arn}")
        if not job.is_finished:
            self._runner.wake(call)  # after a restart, the first request resumes it
        return _described(job, call.region)


def _check(runner: JobRunner, call: Parameters, asked: Json) -> None:
    """Refuse an export that this server cannot run."""
    from partita.transfer.exports import require_format  # noqa: PLC0415 - it loads models; serving does not need them

    require_format(asked["ExportFormat"])
    runner.check(call.region, asked["S3Bucket"], asked.get("S3Prefix") or "")


def _asked(call: Parameters) -> tuple[str, Json]:
    """The type of the export, and its parameters except for the times."""
    if call.required("S3Bucket", "s3Bucket") == "":
        refuse(violated("", "s3Bucket", "Member must have length greater than or equal to 1"))
    call.choice("S3SseAlgorithm", _ALGORITHMS)
    kind = call.choice("ExportType", _TYPES, "FULL_EXPORT") or ""
    ItemFilter(call.fields("FilterSpecification"))  # refuses invalid expressions now
    asked: dict[str, Any] = {name: call.given[name] for name in _PLAIN if call.given.get(name) is not None}
    return kind, {**asked, "ExportType": kind, "ExportFormat": call.choice("ExportFormat", _FORMATS, "DYNAMODB_JSON")}


def _times(call: Parameters, kind: str, recovery: RecoveryDescription) -> Json:
    """The times of an export, checked against the window of the continuous backups."""
    latest, earliest = recovery.latest or 0.0, recovery.earliest or 0.0
    given = call.fields("IncrementalExportSpecification")
    if kind == "FULL_EXPORT":
        if given is not None:
            raise ValidationFailed("IncrementalExportSpecification can only be specified for an INCREMENTAL_EXPORT")
        at = call.instant("ExportTime")
        return {"ExportTime": _reached(latest if at is None else at, earliest, latest)}
    part = Parameters(given or {})
    since, until = part.instant("ExportFromTime"), part.instant("ExportToTime")
    view = part.choice("ExportViewType", _VIEWS, "NEW_AND_OLD_IMAGES")
    if since is None or call.given.get("ExportTime") is not None:
        raise ValidationFailed("An INCREMENTAL_EXPORT needs ExportFromTime, and takes no ExportTime")
    until = latest if until is None else until
    if not _SHORTEST <= until - since <= _LONGEST:
        message = "The time from ExportFromTime to ExportToTime must be between 15 minutes and 24 hours"
        raise ValidationFailed(message)
    start, end = _reached(since, earliest, latest), _reached(until, earliest, latest)
    return {"ExportFromTime": start, "ExportTime": end, "ExportViewType": view}


def _reached(instant: float, earliest: float, latest: float) -> float:
    if int(instant) == int(earliest):  # clients send whole seconds
        instant = max(instant, earliest)
    if not earliest <= instant <= latest:
        raise Fault("InvalidExportTimeException", _OUTSIDE)
    return instant


def _described(job: Job, region: str) -> Json:
    asked = job.asked
    body: dict[str, Any] = {
        "ExportArn": _jobs.arn_of(job, region),
        "ExportStatus": job.status,
        "StartTime": job.started / 1000,
        "TableArn": table_arn(region, job.table),
        "TableId": job.table_id,
        **{name: asked[name] for name in (*_PLAIN, "ExportFormat", "ExportType") if name in asked},
    }
    if job.token is not None:
        body["ClientToken"] = job.token
    if "ExportFromTime" in asked:
        times = {"ExportFromTime": asked["ExportFromTime"], "ExportToTime": asked["ExportTime"]}
        body["IncrementalExportSpecification"] = {**times, "ExportViewType": asked["ExportViewType"]}
    else:
        body["ExportTime"] = asked["ExportTime"]
    if job.ended is not None:
        body["EndTime"] = job.ended / 1000
    if job.manifest is not None:
        body |= {"ExportManifest": job.manifest, "ItemCount": job.items, "BilledSizeBytes": job.bytes}
    if job.failure_code is not None:
        body |= {"FailureCode": job.failure_code, "FailureMessage": job.failure}
    return {"ExportDescription": body}


def _list(call: Parameters) -> Requests[Json]:
    """List the exports of all tables, or of one."""
    table = None if call.text("TableArn") is None else call.table("TableArn")
    jobs = yield from _jobs.all_jobs("export")
    page, more = _jobs.page_of(call, [job for job in jobs if table in (None, job.table)], "MaxResults")
    summaries = [
        {
            "ExportArn": _jobs.arn_of(job, call.region),
            "ExportStatus": job.status,
            "ExportType": job.asked["ExportType"],
        }
        for job in page
    ]
    return {"ExportSummaries": summaries, **more}
