"""Runs bulk operations in the background, each from where its journal says that it was."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from partita.buckets import Buckets
from partita.bulk import load_lock
from partita.errors import ConditionFailed, PartitaError, StoreClosed, StoreUnavailable, TransactionCancelled
from partita.runtime import Clock, run, system_clock
from partita.store import Json, Store
from partita.wire.background import WAIT_SECONDS, Background, Work, failure_code
from partita.wire.bulk import _kept
from partita.wire.bulk._inputs import check_extras
from partita.wire.bulk._kept import CANCELLED, CANCELLING, FAILED, Operation
from partita.wire.bulk._run import OperationRun, report_prefix

TRIES: Final = 6
"""So often a bucket that is in trouble is asked."""


class BulkRunner:
    """Runs the operations of the stores that `store_of` gives by region."""

    def __init__(
        self,
        store_of: Callable[[str], Store],
        buckets: Buckets,
        *,
        clock: Clock = system_clock,
        pause: Callable[[float], object] | None = None,
    ) -> None:
        self._buckets = buckets
        self._clock = clock
        work = Work("Bulk operations", load_lock, _kept.unfinished, self._run_one)
        self._background = Background(store_of, work, pause)
        self.wake = self._background.wake
        self.stop = self._background.stop
        self.wait = self._background.wait

    def check(self, region: str, source: Json, output: Json) -> None:
        """Refuse an operation that cannot be run here.

        Raises:
            OperationError: the store or an extra is missing for it, or a name leads out of the buckets.
        """
        self._background.check_store(region)
        check_extras(source["InputFormat"], source.get("InputCompressionType", "NONE"))
        self._buckets.check_key(source["S3Bucket"], "object")
        self._buckets.check_key(output["S3Bucket"], f"{report_prefix(output)}object")

    def _run_one(self, store: Store, name: str) -> None:
        operation = run(_kept.read_operation(name), store.execute)
        if operation is None or operation.is_finished:
            return
        running = OperationRun(store, self._buckets, operation, self._background.stopped.is_set)
        try:
            status = self._patiently(running)
            if status is None:
                return
            self._end(store, running, replace(operation, status=status))
        except PartitaError as error:
            if isinstance(error, StoreClosed):
                raise
            failed = replace(operation, status=FAILED, failure_code=failure_code(error), failure=error.message)
            self._end(store, running, failed)

    def _patiently(self, running: OperationRun) -> str | None:
        """Run it, again where a bucket was in trouble; the status that it ends with, or None where it was stopped."""
        for attempt in range(1, TRIES + 1):
            try:
                return running.run()
            except StoreUnavailable:
                if attempt == TRIES or self._background.stopped.is_set():
                    raise
                self._background.pause(WAIT_SECONDS * 2**attempt)
        raise AssertionError  # the last try has raised

    def _end(self, store: Store, running: OperationRun, ended: Operation) -> None:
        """Write the reports, then keep that it has ended; where it was cancelled meanwhile, keep that."""
        if ended.status != FAILED:
            running.write_reports(ended)
        else:
            with suppress(PartitaError):  # it may have failed because there is no place for them
                running.write_reports(ended)
        while True:
            now = run(_kept.read_operation(ended.id), store.execute)
            if now is None or now.is_finished:
                break
            if now.status == CANCELLING and ended.status != FAILED:
                ended = replace(
                    ended,
                    status=CANCELLED,
                    failure_code="OperationCancelled",
                    failure="The bulk operation was cancelled by a request",
                )
            ended = replace(ended, ended=int(self._clock() * 1000))
            with suppress(ConditionFailed, TransactionCancelled):  # its status has just changed
                store.execute(_kept.end(ended, now.status))
                break
        running.forget()
