"""Runs exports and imports in the background: one at a time for each store, in one of the processes that serve it.

What a killed process left unfinished is begun again by whoever is asked about it next, and by the next server. Both may
be repeated: an export writes the same objects, and an import puts the same items.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from partita._sqlite import MEMORY, NoLock, ProcessLock
from partita.buckets import Buckets
from partita.errors import AccessDenied, BucketNotFound, ObjectChanged, OperationError, PartitaError, StoreClosed
from partita.runtime import Clock, system_clock
from partita.store import Store
from partita.store.embedded import EmbeddedStore
from partita.wire._background import Background
from partita.wire.exports import _jobs
from partita.wire.exports._export_job import run_export
from partita.wire.exports._import_job import run_import
from partita.wire.exports._jobs import COMPLETED, FAILED, Job

WAIT_SECONDS: Final = 0.25
"""How often a process looks whether another one, which runs jobs, is done or gone."""
_CODES: Final[tuple[tuple[type[PartitaError], str], ...]] = (
    (BucketNotFound, "S3NoSuchBucket"),
    (AccessDenied, "S3AccessDenied"),
    (ObjectChanged, "S3ObjectModified"),
    (OperationError, "ValidationException"),
)


class JobRunner:
    """Runs the jobs of the stores that `store_of` gives by region."""

    def __init__(self, store_of: Callable[[str], Store], buckets: Buckets, *, clock: Clock = system_clock) -> None:
        self._store_of = store_of
        self._buckets = buckets
        self._clock = clock
        self._background = Background(store_of, self._run_unfinished, "Exports and imports")
        self._stopped = self._background.stopped
        self.wake = self._background.wake
        self.stop = self._background.stop
        self.wait = self._background.wait

    def check(self, region: str, bucket: str, prefix: str) -> None:
        """Refuse what cannot be run here.

        Raises:
            OperationError: the store is not one that can be exported, or a name leads out of the buckets.
        """
        if not isinstance(self._store_of(region), EmbeddedStore):
            raise OperationError("Exports and imports are not run by a server that behaves as AWS does, for tests.")
        self._buckets.check_key(bucket, "/".join(part for part in (prefix.strip("/"), "object") if part))

    def _run_unfinished(self, store: Store) -> None:
        path = getattr(store, "path", MEMORY)
        lock = NoLock() if path == MEMORY else ProcessLock(Path(f"{path}.exports"))
        try:
            while not self._stopped.is_set() and [*_jobs.unfinished(store)]:
                if not lock.acquire(blocking=False):
                    self._stopped.wait(WAIT_SECONDS)
                    continue
                try:
                    for job in _jobs.unfinished(store):  # another process may have run some meanwhile
                        if not self._stopped.is_set():
                            store.execute(_jobs.keep(self._ended(store, job)))
                finally:
                    lock.release()
        finally:
            if isinstance(lock, ProcessLock):
                lock.close()

    def _ended(self, store: Store, job: Job) -> Job:
        assert isinstance(store, EmbeddedStore)  # noqa: S101 - it was checked when the job was begun
        try:
            work = run_export if job.kind == "export" else run_import
            job = replace(work(store, self._buckets, job), status=COMPLETED)
        except StoreClosed:
            raise
        except PartitaError as error:
            code = next((code for kind, code in _CODES if isinstance(error, kind)), "InternalServerError")
            job = replace(job, status=FAILED, failure_code=code, failure=error.message)
        return replace(job, ended=int(self._clock() * 1000))
