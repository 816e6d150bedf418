"""Runs bulk operations in the background, each from the position in its journal."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from partita.buckets import Buckets
from partita.bulk import load_lock
from partita.errors import ConditionFailed, PartitaError, StoreClosed, StoreUnavailable, TransactionCancelled
from partita.runtime import Clock, run, system_clock
from partita.store import Json, Store
from partita.wire.background import SEE_LOG, UNEXPECTED, WAIT_SECONDS, Background, Work, failure_code
from partita.wire.bulk import _stored
from partita.wire.bulk._inputs import check_extras
from partita.wire.bulk._run import OperationRun, report_prefix
from partita.wire.bulk._stored import CANCELLED, CANCELLING, FAILED, Operation

_LOG: Final = logging.getLogger("partita.wire")
TRIES: Final = 6
"""How often an operation is tried while its bucket is unavailable."""


class BulkRunner:
    """Runs the operations of the stores that `store_of` returns for each region."""

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
        work = Work("Bulk operations", load_lock, _stored.unfinished, self._run_one)
        self._background = Background(store_of, work, pause)
        self.wake = self._background.wake
        self.stop = self._background.stop
        self.wait = self._background.wait

    def check(self, region: str, source: Json, output: Json) -> None:
        """Refuse an operation that cannot run here.

        Raises:
            OperationError: the store cannot run it, an extra is missing, or a name leads outside the buckets.
        """
        self._background.check_store(region)
        check_extras(source["InputFormat"], source.get("InputCompressionType", "NONE"))
        self._buckets.check_key(source["S3Bucket"], "object")
        self._buckets.check_key(output["S3Bucket"], f"{report_prefix(output)}object")

    def _run_one(self, store: Store, name: str) -> None:
        operation = run(_stored.read_operation(name), store.execute)
        if operation is None or operation.is_finished:
            return
        running = OperationRun(store, self._buckets, operation, self._background.stopped.is_set)
        try:
            status = self._run_with_retries(running)
            if status is None:
                return
            self._end(store, running, replace(operation, status=status))
        except PartitaError as error:
            if isinstance(error, StoreClosed):
                raise
            failed = replace(operation, status=FAILED, failure_code=failure_code(error), failure=error.message)
            self._end(store, running, failed)
        except Exception:  # noqa: BLE001 - otherwise it would fail again and again, and no other one would run
            _LOG.exception("The bulk operation %s failed.", name)
            failed = replace(operation, status=FAILED, failure_code=UNEXPECTED, failure=SEE_LOG)
            self._end(store, running, failed)

    def _run_with_retries(self, running: OperationRun) -> str | None:
        """Run it, with retries if a bucket is unavailable; return the final status, or None if it was stopped."""
        for attempt in range(1, TRIES + 1):
            try:
                return running.run()
            except StoreUnavailable:
                if attempt == TRIES or self._background.stopped.is_set():
                    raise
                self._background.pause(WAIT_SECONDS * 2**attempt)
        raise AssertionError  # the last attempt has raised

    def _end(self, store: Store, running: OperationRun, ended: Operation) -> None:
        """Write the reports, then store that the operation has ended, or that it was cancelled meanwhile."""
        if ended.status != FAILED:
            running.write_reports(ended)
        else:
            with suppress(PartitaError):  # the operation may have failed because the reports cannot be written
                running.write_reports(ended)
        while True:
            now = run(_stored.read_operation(ended.id), store.execute)
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
                store.execute(_stored.end(ended, now.status))
                break
        running.forget()
