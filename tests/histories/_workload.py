"""Clients that append to a few lists and read them, in every way that a session offers, and record what they do."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, ClassVar, Final

from pydantic import Field
from tests.histories._history import List, Pending, Recorder

from partita import (
    Entity,
    Index,
    Key,
    Registry,
    Session,
    Table,
    batch_get,
    f,
    get,
    transact,
    transact_get,
    upsert,
)
from partita.errors import (
    StoreError,
    StoreUnavailable,
    Throttled,
    TransactionCancelled,
    TransactionConflict,
    Unprocessed,
)

TABLE: Final = Table("lists", indexes=[Index("GSI1")], stream="NEW_AND_OLD_IMAGES", registry=Registry())
KEYS: Final = ("a", "b", "c")
WITH_TOKEN: Final = 0.7

REFUSALS: Final = (StoreError, Throttled, TransactionCancelled, TransactionConflict, Unprocessed)
"""Expected errors. After `StoreUnavailable`, a request may have been executed; after the others, it was not."""


class Thing(Entity, table=TABLE):
    """A list that grows, in a group that changes."""

    primary: ClassVar = Key("THING#{thing_id}", "META")
    by_group: ClassVar = Key("GROUP#{group}", "{thing_id}", index="GSI1")

    thing_id: str
    group: str | None = None
    numbers: list[int] = Field(default_factory=list)


@get(Thing)
def thing(thing_id: str) -> None:
    """A list."""


class ListClient:
    """One client. `next_number` returns a unique number."""

    def __init__(
        self, session: Session, recorder: Recorder, name: str, random: Random, next_number: Callable[[], int]
    ) -> None:
        self._session = session
        self._recorder = recorder
        self._name = name
        self._random = random
        self._next = next_number
        self.acts: tuple[Callable[[], None], ...] = (
            self.append,
            self.append_together,
            self.append_together,
            self.read,
            self.read_together,
            self.read_together,
            self.read_batch,
            self.read_eventually,
        )

    def act(self) -> None:
        """Execute a random operation.

        Raises:
            PartitaError: one of `REFUSALS`.
        """
        self._random.choice(self.acts)()

    def append(self) -> None:
        """Append to one list with a single write."""
        key, number = self._random.choice(KEYS), self._next()
        with self._recorder.transaction(self._name, {key: (number,)}) as pending:
            self._write(pending, upsert(thing(key), f(Thing.numbers).append([number])))

    def append_together(self) -> None:
        """Append to two lists in one transaction; most have a token, so that the session may retry them."""
        numbers = {key: self._next() for key in self._random.sample(KEYS, 2)}
        actions = [upsert(thing(key), f(Thing.numbers).append([number])) for key, number in numbers.items()]
        token = f"{self._name}-{self._next()}" if self._random.random() < WITH_TOKEN else None
        with self._recorder.transaction(self._name, {key: (number,) for key, number in numbers.items()}) as pending:
            self._write(pending, transact(*actions, token=token))

    def read(self) -> None:
        """Read one list consistently."""
        key = self._random.choice(KEYS)
        with self._recorder.transaction(self._name) as pending:
            pending.ok({key: _numbers(self._session.run(thing(key).consistent()))})

    def read_eventually(self) -> None:
        """Read one list eventually consistently: the result may be old, but not wrong in any other way."""
        key = self._random.choice(KEYS)
        with self._recorder.transaction(self._name, is_current=False) as pending:
            pending.ok({key: _numbers(self._session.run(thing(key)))})

    def read_together(self) -> None:
        """Read two lists in one transaction."""
        self.read_all(self._random.sample(KEYS, 2))

    def read_all(self, keys: tuple[str, ...] | list[str] = KEYS) -> None:
        """Read some lists, by default all of them, in one transaction."""
        with self._recorder.transaction(self._name) as pending:
            found = self._session.run(transact_get(*(thing(key) for key in keys)))
            pending.ok({key: _numbers(each) for key, each in zip(keys, found, strict=True)})

    def read_batch(self) -> None:
        """Read two lists in a batch, and record two reads, because DynamoDB does not make a batch atomic."""
        first, second = self._random.sample(KEYS, 2)
        with self._recorder.transaction(self._name) as one, self._recorder.transaction(self._name) as other:
            found = self._session.run(batch_get([thing(first).consistent(), thing(second).consistent()]))
            one.ok({first: _numbers(found[0])})
            other.ok({second: _numbers(found[1])})

    def _write(self, pending: Pending, work: Any) -> None:
        """Write, and record the outcome: executed, refused, or unknown."""
        try:
            self._session.run(work)
        except StoreUnavailable:
            raise
        except REFUSALS:
            pending.failed()
            raise
        pending.ok()


def _numbers(found: Thing | None) -> List:
    return () if found is None else tuple(found.numbers)
