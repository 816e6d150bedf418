"""Sessions run operations and procedures against a store, with blocking calls or with `await`."""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable, Iterable
from copy import copy
from datetime import datetime
from random import Random, SystemRandom
from typing import Any, Self, TypeVar

from msgspec.structs import replace
from pydantic import BaseModel

from partita import encryption
from partita.errors import OperationError
from partita.model import Table
from partita.operations import Action, Context, CursorSealer, Operation, Procedure, transact
from partita.runtime import Blocking, Clock, Pause, RetryPolicy, in_thread, run, run_async, system_clock, warn
from partita.session._guardrails import MAINTENANCE, REQUEST_PATH, STRICT
from partita.session._meter import Meter
from partita.session._pipeline import Pipeline
from partita.session._stream import AsyncItemStream, ItemStream, PagedRead
from partita.session._tables import ensure_tables
from partita.store import Request, Store, TableNames, named_store, past_of

R = TypeVar("R")
M = TypeVar("M", bound=BaseModel)


async def _sleep(seconds: float) -> None:
    import asyncio  # noqa: PLC0415 - only programs with an event loop need it

    await asyncio.sleep(seconds)


def _seconds(instant: datetime | float) -> float:
    if not isinstance(instant, datetime):
        return instant
    if instant.tzinfo is None:
        raise OperationError(f"{instant} has no time zone.", hint="Give one: datetime(…, tzinfo=UTC).")
    return instant.timestamp()


class _Settings:
    """The settings that both kinds of session share: a store, and how requests are sent to it."""

    default_sleep: Callable[[float], Any]

    def __init__(  # noqa: PLR0913 - one for each setting
        self,
        store: Store,
        *,
        clock: Clock = system_clock,
        secret: bytes | None = None,
        meter: Meter | None = None,
        strict_budgets: bool = False,
        random: Random | None = None,
        sleep: Callable[[float], Any] | None = None,
        retry: RetryPolicy = RetryPolicy(),  # noqa: B008 - a frozen value
        table_names: TableNames | None = None,
        keys: encryption.KeyProvider | None = None,
    ) -> None:
        """Set up a session.

        Args:
            store: executes the requests.
            clock: the time, for expiry.
            secret: encrypts cursors; use the same for all processes of a service. By default it is random.
            meter: counts consumption; sessions may share one.
            strict_budgets: raise `BudgetExceeded` instead of only counting it, and refuse requests that an access
                pattern does not declare. For tests.
            random: spreads retries.
            sleep: waits before a retry; tests pass their own.
            retry: how often a request, or the unprocessed part of a batch, is sent, and the pauses in between.
            table_names: the names of the declared tables in the store; by default as declared.
            keys: encrypt and decrypt fields; without them, encrypted fields can be neither written nor read.

        Raises:
            OperationError: `store` is not a store, or `keys` is not a provider of keys.
        """
        if not hasattr(store, "execute"):
            raise OperationError(f"{store!r} is not a store.", hint="Pass a store, as in Session(EmbeddedStore(path)).")
        if keys is not None and not hasattr(keys, "unwrap"):
            hint = "Pass a provider, as in keys=LocalKeys.from_file(path)."
            raise OperationError(f"{keys!r} is not a provider of keys.", hint=hint)
        self.store = named_store(store, table_names)
        self.table_names = table_names
        self.sleep = sleep or self.default_sleep
        cursors = CursorSealer(secret or secrets.token_bytes(32))
        self._pipeline = Pipeline(
            Context(clock, random or SystemRandom(), cursors, retry),
            meter or Meter(),
            STRICT if strict_budgets else REQUEST_PATH,
            strict_budgets=strict_budgets,
            keys=None if keys is None else encryption.FieldKeys(keys, clock),
        )

    @property
    def meter(self) -> Meter:
        """Counts what this session consumes."""
        return self._pipeline.meter

    @property
    def context(self) -> Context:
        """The clock, random numbers, cursor sealer and retry policy that operations use."""
        return self._pipeline.context

    def of_service(self, name: str) -> Self:
        """The same session for one of several services: the meter counts its operations separately."""
        return self._with(replace(self._pipeline, service=name))

    def maintenance(self, reason: str) -> Self:
        """A session that may scan. The reason is logged."""
        if not reason.strip():
            raise OperationError("Maintenance needs a reason.", hint="State why a scan is needed; this is logged.")
        warn("partita", "maintenance session: %s", reason)
        return self._with(replace(self._pipeline, guardrails=MAINTENANCE))

    def as_of(self, instant: datetime | float) -> Self:
        """A read-only session on the data as it was at an instant, with the same access patterns.

        The tables must have continuous backups. Each is restored when it is first read, which reads all of it; so
        use one session for all reads at the same instant.

        Raises:
            RecoveryDisabled: the store does not keep its past. InstantOutOfRange: the instant is in the future.
        """
        other = copy(self)
        other.store = past_of(self.store, _seconds(instant))
        return other

    def _with(self, pipeline: Pipeline) -> Self:
        other = copy(self)
        other._pipeline = pipeline  # noqa: SLF001 - of the same class
        return other


class Session(_Settings):
    """Runs operations and procedures with blocking calls. Safe for any number of threads."""

    default_sleep = staticmethod(time.sleep)

    def run(self, work: Operation[R] | Procedure[R]) -> R:
        """Run an operation or a procedure, and return its result.

        Raises:
            OperationError: the work was refused before it reached the store.
            RequestError: the store refused a request.
            StoreError: the store failed.
        """
        return run(self._pipeline.run(work), self._execute)

    def transact(self, *actions: Action, token: str | None = None) -> None:
        """Run writes and checks as one transaction, all or nothing."""
        self.run(transact(*actions, token=token))

    def stream(self, read: PagedRead[M], *, max_items: int) -> ItemStream[M]:
        """The items of a query or scan one by one, read on demand; only one page at a time is held in memory.

        Args:
            read: a query, or in a maintenance session a scan; its limit is the size of a page.
            max_items: the most items to yield; `truncated` of the stream is set if more would follow.
        """
        return ItemStream(read, max_items, self.run)

    def create_tables(self, tables: Iterable[Table]) -> None:
        """Create the declared tables and global indexes that do not exist yet."""
        run(ensure_tables(tables), self._execute)

    def _execute(self, request: Request[Any] | Pause | Blocking) -> Any:
        if type(request) is Pause:
            return self.sleep(request.seconds)
        return request.call() if type(request) is Blocking else self.store.execute(request)


class AsyncSession(_Settings):
    """Runs operations and procedures with `await`. Event loops may share a session or have their own."""

    default_sleep = staticmethod(_sleep)

    async def run(self, work: Operation[R] | Procedure[R]) -> R:
        """Run an operation or a procedure, and return its result.

        Raises:
            OperationError: the work was refused before it reached the store.
            RequestError: the store refused a request.
            StoreError: the store failed.
        """
        return await run_async(self._pipeline.run(work), self._execute)

    async def transact(self, *actions: Action, token: str | None = None) -> None:
        """Run writes and checks as one transaction, all or nothing."""
        await self.run(transact(*actions, token=token))

    def stream(self, read: PagedRead[M], *, max_items: int) -> AsyncItemStream[M]:
        """The items of a query or scan one by one, for `async for`; see `Session.stream`."""
        return AsyncItemStream(read, max_items, self.run)

    async def create_tables(self, tables: Iterable[Table]) -> None:
        """Create the declared tables and global indexes that do not exist yet."""
        await run_async(ensure_tables(tables), self._execute)

    def _execute(self, request: Request[Any] | Pause | Blocking) -> Awaitable[Any]:
        if type(request) is Pause:
            return self.sleep(request.seconds)  # type: ignore[no-any-return]
        return in_thread(request.call) if type(request) is Blocking else self.store.execute_async(request)
