"""Runs exports and imports in the background.

Jobs that a killed process left unfinished are started again by the next server, or by the next process that receives a
request about them. Both kinds can be repeated: an export writes the same objects, and an import puts the same items.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from partita._sqlite import MEMORY, NoLock, ProcessLock, lock_beside
from partita.buckets import Buckets
from partita.errors import PartitaError, StoreClosed
from partita.runtime import Clock, system_clock
from partita.store import Store
from partita.store.embedded import EmbeddedStore
from partita.wire.background import SEE_LOG, UNEXPECTED, Background, Work, failure_code
from partita.wire.exports import _jobs
from partita.wire.exports._export_job import run_export
from partita.wire.exports._import_job import run_import
from partita.wire.exports._jobs import COMPLETED, FAILED, Job

_LOG: Final = logging.getLogger("partita.wire")


class JobRunner:
    """Runs the jobs of the stores that `store_of` returns for each region."""

    def __init__(self, store_of: Callable[[str], Store], buckets: Buckets, *, clock: Clock = system_clock) -> None:
        self._buckets = buckets
        self._clock = clock
        self._background = Background(store_of, Work("Exports and imports", _lock, _jobs.unfinished, self._run))
        self.wake = self._background.wake
        self.stop = self._background.stop
        self.wait = self._background.wait

    def check(self, region: str, bucket: str, prefix: str) -> None:
        """Refuse a job that cannot run here.

        Raises:
            OperationError: the store cannot be exported, or a name leads outside the buckets.
        """
        self._background.check_store(region)
        self._buckets.check_key(bucket, "/".join(part for part in (prefix.strip("/"), "object") if part))

    def _run(self, store: Store, job: Job) -> None:
        store.execute(_jobs.keep(self._ended(store, job)))

    def _ended(self, store: Store, job: Job) -> Job:
        assert isinstance(store, EmbeddedStore)  # noqa: S101 - it was checked when the job was started
        try:
            job = replace(self._run_kind(store, job), status=COMPLETED)
        except StoreClosed:
            raise
        except PartitaError as error:
            job = replace(job, status=FAILED, failure_code=failure_code(error), failure=error.message)
        except Exception:  # noqa: BLE001 - otherwise it would fail again and again, and no other job would run
            _LOG.exception("The %s %s failed.", job.kind, job.id)
            job = replace(job, status=FAILED, failure_code=UNEXPECTED, failure=SEE_LOG)
        return replace(job, ended=int(self._clock() * 1000))

    def _run_kind(self, store: EmbeddedStore, job: Job) -> Job:
        if job.kind == "export":
            return run_export(store, self._buckets, job, self._clock)
        return run_import(store, self._buckets, job)


def _lock(store: Store) -> ProcessLock | NoLock:
    return lock_beside(getattr(store, "path", MEMORY), "exports")
