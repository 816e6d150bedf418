"""ImportTable, DescribeImport and ListImports."""

from __future__ import annotations

from typing import Any, Final

from partita.errors import ValidationFailed
from partita.runtime import Clock
from partita.store import Json
from partita.wire._describe import ACCOUNT, table_arn
from partita.wire._faults import Fault
from partita.wire._parameters import Operation, Parameters, Requests, refuse, violated
from partita.wire.background import Runner, new_name
from partita.wire.bulk import check_extras
from partita.wire.exports import _jobs
from partita.wire.exports._jobs import Job
from partita.wire.exports._runner import JobRunner

_FORMATS: Final = ("DYNAMODB_JSON", "ION", "CSV")
_COMPRESSIONS: Final = ("GZIP", "ZSTD", "NONE")
_DELIMITERS: Final = frozenset(",;:|\t ")
_LOGS: Final = "/aws-dynamodb/imports"


class Imports:
    """The operations. `create` creates the table, `runner` fills it; without a runner, no import can be started."""

    def __init__(self, clock: Clock, runner: JobRunner | None, create: Operation) -> None:
        self._clock = clock
        self._runner = Runner(runner)
        self._create = create

    def operations(self) -> dict[str, Operation]:
        """The operations, by name."""
        return {"ImportTable": self.start, "DescribeImport": self.describe, "ListImports": _list}

    def start(self, call: Parameters) -> Requests[Json]:
        """Create a table and start filling it."""
        asked, token = _asked(call), call.text("ClientToken")
        digest, now = _jobs.digest_of(call), int(self._clock() * 1000)
        again = yield from _jobs.begun_before("import", token, now)
        if again is not None:
            if again.digest != digest:
                message = "There was a conflict with a previous import request that had the same client token."
                raise Fault("ImportConflictException", message)
            return _described(again, call.region)
        self._runner.check(lambda runner: _check(runner, call, asked))
        parameters = Parameters(asked["TableCreationParameters"], call.headers)
        made = yield from self._create(parameters)
        assert made is not None  # noqa: S101 - CreateTable always has a response body
        job = Job(
            kind="import",
            id=new_name(now),
            table=parameters.table(),
            table_id=made["TableDescription"]["TableId"],
            asked=asked,
            digest=digest,
            started=now,
            token=token,
        )
        yield from _jobs.begin(job)
        self._runner.wake(call)
        return _described(job, call.region)

    def describe(self, call: Parameters) -> Requests[Json]:
        """Describe an import."""
        arn = call.required("ImportArn", "importArn")
        job = yield from _jobs.found("import", arn)
        if job is None:
            raise Fault("ImportNotFoundException", f"Import not found: {arn}")
        if not job.is_finished:
            self._runner.wake(call)  # after a restart, the first request resumes it
        return _described(job, call.region)


def _check(runner: JobRunner, call: Parameters, asked: Json) -> None:
    """Refuse an import that this server cannot run."""
    check_extras(asked["InputFormat"], asked["InputCompressionType"])
    runner.check(call.region, asked["S3BucketSource"]["S3Bucket"], "")


def _asked(call: Parameters) -> Json:
    source, table = call.fields("S3BucketSource"), call.fields("TableCreationParameters")
    if source is None:
        refuse(violated(None, "s3BucketSource", "Member must not be null"))
    if table is None:
        refuse(violated(None, "tableCreationParameters", "Member must not be null"))
    Parameters(source).required("S3Bucket", "s3BucketSource.s3Bucket")
    kind = call.choice("InputFormat", _FORMATS)
    if kind is None:
        refuse(violated(None, "inputFormat", "Member must not be null"))
    asked: dict[str, Any] = {
        "S3BucketSource": source,
        "InputFormat": kind,
        "InputCompressionType": call.choice("InputCompressionType", _COMPRESSIONS, "NONE"),
        "TableCreationParameters": table,
    }
    options = call.fields("InputFormatOptions")
    if options is not None:
        asked["InputFormatOptions"] = _checked_options(options, kind or "")
    return asked


def _checked_options(options: Json, kind: str) -> Json:
    given = Parameters(options).fields("Csv")
    if given is not None and kind != "CSV":
        raise ValidationFailed("InputFormatOptions can only be specified for the InputFormat CSV")
    part = Parameters(given or {})
    delimiter, header = part.text("Delimiter"), part.texts("HeaderList")
    if delimiter is not None and delimiter not in _DELIMITERS:
        rule = "Member must satisfy regular expression pattern: [,;:|\\t ]"
        refuse(violated(delimiter, "inputFormatOptions.csv.delimiter", rule))
    if header == []:
        rule = "Member must have length greater than or equal to 1"
        refuse(violated("[]", "inputFormatOptions.csv.headerList", rule))
    return options


def _summary(job: Job, region: str) -> Json:
    body: dict[str, Any] = {
        "ImportArn": _jobs.arn_of(job, region),
        "ImportStatus": job.status,
        "TableArn": table_arn(region, job.table),
        "S3BucketSource": job.asked["S3BucketSource"],
        "CloudWatchLogGroupArn": f"arn:aws:logs:{region}:{ACCOUNT}:log-group:{_LOGS}:*",
        "InputFormat": job.asked["InputFormat"],
        "StartTime": job.started / 1000,
    }
    if job.ended is not None:
        body["EndTime"] = job.ended / 1000
    return body


def _described(job: Job, region: str) -> Json:
    body: dict[str, Any] = {
        **_summary(job, region),
        "TableId": job.table_id,
        "ErrorCount": job.errors,
        "ProcessedSizeBytes": job.bytes,
        "ProcessedItemCount": job.processed,
        "ImportedItemCount": job.items,
        **{name: value for name, value in job.asked.items() if name != "S3BucketSource"},
    }
    if job.token is not None:
        body["ClientToken"] = job.token
    if job.failure_code is not None:
        body |= {"FailureCode": job.failure_code, "FailureMessage": job.failure}
    return {"ImportTableDescription": body}


def _list(call: Parameters) -> Requests[Json]:
    """List the imports into all tables, or into one."""
    table = None if call.text("TableArn") is None else call.table("TableArn")
    jobs = yield from _jobs.all_jobs("import")
    page, more = _jobs.page_of(call, [job for job in jobs if table in (None, job.table)], "PageSize")
    return {"ImportSummaryList": [_summary(job, call.region) for job in page], **more}
