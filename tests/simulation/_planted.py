"""Bugs that are put back, to check that a simulation finds them: past bugs of Partita, and bugs from textbooks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Final
from unittest.mock import patch

from msgspec import Struct
from tests.simulation._planted_services import (
    award_over_another,
    entry_rejected,
    frozen_lease,
    left_behind,
    no_fence,
    no_record,
    progress_taken_back,
    seats_for_arrivals,
)
from tests.simulation._planted_stores import LostUpdates, PartialTransactions, ReorderedStream, StaleReads

from partita import EmbeddedStore, new_ulid
from partita._sqlite import _database_file, _transaction
from partita.change import _consumer
from partita.change._stream import Batch
from partita.errors import StoreUnavailable
from partita.queue.embedded import _file, _writes
from partita.session import _retries
from partita.store import Store
from partita.store.embedded import _transactions

Wrap = Callable[[EmbeddedStore], Store]


class Bug(Struct, frozen=True):
    """A bug: the scenario that finds it, its effect, and how it is put back."""

    scenario: str
    was: str
    """The effect of the bug."""
    put_back: Callable[[], AbstractContextManager[object]] = nullcontext
    wrap: Wrap | None = None
    first_seed: int = 0
    """The seed at which the search starts; a bug that needs many coincidences shows up only far from seed 0."""


def _always_hidden() -> AbstractContextManager[object]:
    return patch.object(_file.QueueConnection, "hidden", lambda self: (self.now() + 1, 2**62))


def _groups_not_held() -> AbstractContextManager[object]:
    def update_group(writer: _file.QueueConnection, group: str) -> None:
        [(first,)] = writer.rows(
            "SELECT min(sequence) FROM messages WHERE group_name = ? AND visible_at IS NULL", group
        )
        writer.rows("DELETE FROM groups WHERE name = ?", group)
        if first is not None:
            writer.rows("INSERT INTO groups (name, first) VALUES (?, ?)", group, first)

    return patch.object(_writes, "_update_group", update_group)


def _random_identifiers() -> AbstractContextManager[object]:
    def next_value(self: Any) -> int:
        random: int = self._random.getrandbits(80)
        return int(self._clock() * 1000) << 80 | random

    return patch.object(type(new_ulid), "_next_value", next_value)


def _anywhere() -> AbstractContextManager[object]:
    return patch.object(_transaction, "refuse_moved", lambda *_: None)


def _refused() -> AbstractContextManager[object]:
    return patch.object(_retries, "_settles", lambda _: True)


def _positions_first() -> AbstractContextManager[object]:
    def step(self: Any) -> Batch:
        batch: Batch = self._stream.read(self._known(), self._batch)
        self._positions = batch.positions  # although the sink may fail
        self._sink.apply(batch.changes, batch.positions)
        return batch

    return patch.multiple(_consumer.Consumer, _step=step, forget=lambda _: None)


def _unsafe_retry() -> AbstractContextManager[object]:
    return patch.object(_retries, "may_retry", lambda _request, error: isinstance(error, StoreUnavailable))


def _tokens_forgotten() -> AbstractContextManager[object]:
    return patch.object(_transactions, "_is_replay", lambda *_: False)


def _no_sync() -> AbstractContextManager[object]:
    connect = _database_file.connect
    return patch("partita._sqlite.connect", lambda path, *, durable: connect(path, durable=False))  # noqa: ARG005


PLANTED: Final[Mapping[str, Bug]] = {
    "clock ahead": Bug("messages", "a clock that was ahead and was then set back froze messages", _always_hidden),
    "group not held": Bug("messages", "messages of a group overtook one that was in flight", _groups_not_held),
    "waiting list passed over": Bug("events", "a freed seat went to a later applicant", seats_for_arrivals),
    "identifiers out of order": Bug("items", "identifiers of one millisecond were not in order", _random_identifiers),
    "lost response": Bug(
        "accounts", "a client that repeated a command after a lost response had it executed twice", no_record
    ),
    "moved folder": Bug("items", "writes were acknowledged into a folder that was gone", _anywhere),
    "refused although done": Bug(
        "items", "a transaction that was executed was reported as refused", _refused, first_seed=90
    ),
    "positions first": Bug("items", "a full disk made a projection skip changes", _positions_first),
    "left behind": Bug("events", "the sweeper missed a request", left_behind),
    "no fence": Bug("events", "a worker that had been overtaken decided nevertheless", no_fence),
    "second version": Bug("countries", "a lost response created a second version of a country", no_record),
    "second task": Bug("todo", "a lost response created a second task", no_record),
    "entry rejected": Bug(
        "events", "an entry that was delivered twice was removed from its lottery", entry_rejected, first_seed=190
    ),
    "frozen lease": Bug(
        "events",
        "a lease that was acquired while a clock was ahead was held until that time",
        frozen_lease,
        first_seed=170,
    ),
    "progress taken back": Bug(
        "commitcollect", "a milestone that had ended lost its progress", progress_taken_back, first_seed=30
    ),
    "award over another": Bug("commitcollect", "a part was awarded twice", award_over_another),
    "unsafe retry": Bug("items", "a write without a response is sent again", _unsafe_retry),
    "tokens forgotten": Bug("items", "a transaction is executed again in spite of its token", _tokens_forgotten),
    "no sync": Bug("accounts", "a write is acknowledged before it is on the disk", _no_sync),
    "stale read": Bug("items", "a consistent read returns an older state", wrap=StaleReads),
    "lost update": Bug("items", "some writes are acknowledged and not executed", wrap=LostUpdates),
    "partial transaction": Bug(
        "items", "the writes of a transaction are executed one after another", wrap=PartialTransactions
    ),
    "reordered stream": Bug("items", "two records of a stream are swapped", wrap=ReorderedStream),
}


@contextmanager
def planted(name: str | None) -> Iterator[Wrap | None]:
    """Put a bug back for the block. Yield the wrapper for the store if the bug is in the store, or else None."""
    if name is None:
        yield None
        return
    with PLANTED[name].put_back():
        yield PLANTED[name].wrap
