"""Stores exports and imports as items of the server's own table, together with the settings of tables."""

from __future__ import annotations

import hashlib
import re
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Struct

from partita.errors import TableNotFound
from partita.expressions import BeginsWith, Path, Value
from partita.runtime import run
from partita.store import GetItem, Json, PageResponse, PutItem, ScanTable, Store
from partita.wire._describe import table_arn
from partita.wire._parameters import Parameters, Requests
from partita.wire.background import MAX_LISTED, TOKEN_MILLISECONDS, named_by_token, page_token
from partita.wire.tables import SETTINGS_TABLE, make_settings_table

JobKind: TypeAlias = Literal["export", "import"]

IN_PROGRESS: Final = "IN_PROGRESS"
COMPLETED: Final = "COMPLETED"
FAILED: Final = "FAILED"
_MIN_TOKEN: Final = 112
_ARN: Final = re.compile(r"arn:[^:]*:dynamodb:[^:]*:[^:]*:table/[a-zA-Z0-9_.-]+/(export|import)/([0-9A-Za-z-]+)")


class Job(Struct, frozen=True):
    """An export or an import; times are in milliseconds."""

    kind: JobKind
    id: str
    table: str
    table_id: str
    asked: Json
    """The parameters of the call."""
    digest: str
    started: int
    status: str = IN_PROGRESS
    token: str | None = None
    ended: int | None = None
    items: int = 0
    bytes: int = 0
    processed: int = 0
    errors: int = 0
    manifest: str | None = None
    failure_code: str | None = None
    failure: str | None = None

    @property
    def is_finished(self) -> bool:
        """Whether it has ended, with any status."""
        return self.status != IN_PROGRESS


def keep(job: Job) -> PutItem:
    """Store the current state of a job."""
    return PutItem(SETTINGS_TABLE, {"table": f"{job.kind}/{job.id}", "job": msgspec.json.encode(job).decode()})


def begin(job: Job) -> Requests[None]:
    """Store a new job."""
    yield from make_settings_table()
    yield keep(job)


def arn_of(job: Job, region: str) -> str:
    """The ARN of a job."""
    return f"{table_arn(region, job.table)}/{job.kind}/{job.id}"


def found(kind: JobKind, arn: str) -> Requests[Job | None]:
    """The job of this kind with this ARN, or None."""
    match = _ARN.fullmatch(arn)
    if match is None or match[1] != kind:
        return None
    try:
        response = yield GetItem(SETTINGS_TABLE, {"table": f"{kind}/{match[2]}"}, consistent=True)
    except TableNotFound:
        return None
    return None if response.item is None else _read(response.item)


def _read(item: dict[str, Any]) -> Job:
    return msgspec.json.decode(item["job"], type=Job)


def all_jobs(kind: JobKind) -> Requests[list[Job]]:
    """All jobs of a kind, oldest first."""
    jobs: list[Job] = []
    start = None
    while True:
        try:
            page: PageResponse = yield _scan(kind, start)
        except TableNotFound:
            return []
        jobs += [_read(item) for item in page.items]
        start = page.last_key
        if start is None:
            return sorted(jobs, key=lambda job: job.id)


def _scan(kind: JobKind, start: Any) -> ScanTable:
    named = BeginsWith(Path(("table",)), Value(f"{kind}/"))
    return ScanTable(SETTINGS_TABLE, filter=named, start=start, consistent=True)


def unfinished(store: Store) -> list[Job]:
    """The jobs that are to be run."""
    kinds: tuple[JobKind, ...] = ("export", "import")
    return [job for kind in kinds for job in run(all_jobs(kind), store.execute) if not job.is_finished]


def digest_of(call: Parameters) -> str:
    """A digest of the parameters without the client token: equal for equal requests."""
    asked = {name: value for name, value in call.given.items() if name != "ClientToken"}
    return hashlib.sha256(msgspec.json.encode(asked, order="deterministic")).hexdigest()


def begun_before(kind: JobKind, token: str | None, now: int) -> Requests[Job | None]:
    """The job that a call with the same token started, if it is running or ended less than eight hours ago."""
    if token is None:
        return None
    jobs = yield from all_jobs(kind)
    for job in reversed(jobs):
        if job.token == token and (job.ended is None or now - job.ended <= TOKEN_MILLISECONDS):
            return job
    return None


def page_of(call: Parameters, jobs: list[Job], size: str) -> tuple[list[Job], Json]:
    """One page of jobs, and the token of the next page."""
    limit = call.page_size(size, MAX_LISTED) or MAX_LISTED
    after = named_by_token(call) or ""
    rest = [job for job in jobs if job.id > after]
    more = {"NextToken": page_token(rest[limit - 1].id, _MIN_TOKEN)} if len(rest) > limit else {}
    return rest[:limit], more
