"""The mixed workload of the soak test: accounts, notes and events in one table, and the work of one worker."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import ClassVar, Final

from partita import (
    Entity,
    Index,
    Key,
    LocalIndex,
    Registry,
    Session,
    Table,
    Version,
    batch_write,
    delete,
    f,
    get,
    insert,
    new_ulid,
    put,
    query,
    transact_get,
    update,
)
from partita.errors import ConditionFailed, TransactionCancelled

ACCOUNTS: Final = 20
START_BALANCE: Final = 1_000
NOTES: Final = 200
OWNERS: Final = 10

TABLE: Final = Table(
    "soak",
    indexes=[Index("GSI1"), LocalIndex("LSI1")],
    ttl="ttl",
    stream="NEW_AND_OLD_IMAGES",
    registry=Registry(),
)


class Status(StrEnum):
    OPEN = "OPEN"
    DONE = "DONE"


class Account(Entity, table=TABLE):
    primary: ClassVar = Key("ACCOUNT#{number}", "ACCOUNT")
    number: int
    balance: int = START_BALANCE
    version: Version = 0


class Tally(Entity, table=TABLE):
    primary: ClassVar = Key("TALLY#{name}", "TALLY")
    name: str
    value: int = 0


class Note(Entity, table=TABLE):
    primary: ClassVar = Key("NOTES#{owner}", "NOTE#{number:04}")
    by_status: ClassVar = Key("STATUS#{status}", "NOTE#{owner:02}#{number:04}", index="GSI1")
    by_title: ClassVar = Key("NOTES#{owner}", "TITLE#{title}", index="LSI1")
    owner: int
    number: int
    title: str
    text: str
    status: Status = Status.OPEN
    version: Version = 0


class Event(Entity, table=TABLE):
    primary: ClassVar = Key("EVENTS#{owner}", "EVENT#{event_id}")
    owner: int
    event_id: str
    text: str


@get(Account)
def account(number: int) -> None:
    """One account."""


@get(Tally)
def tally(name: str) -> None:
    """A number that all workers increase."""


@get(Note)
def note(owner: int, number: int) -> None:
    """One note."""


@query(Note, Note.by_status)
def notes_with_status(status: Status) -> None:
    """All notes in one status."""


@query(Note, Note.by_title)
def notes_by_title(owner: int) -> None:
    """An owner's notes, by title."""


@query(Event, Event.primary, newest_first=True)
def latest_events(owner: int) -> None:
    """An owner's events, newest first."""


def prepare(db: Session) -> None:
    """Create the table with its accounts."""
    db.create_tables([TABLE])
    for number in range(ACCOUNTS):
        db.run(insert(Account(number=number)))
    db.run(insert(Tally(name="raised")))


class Wrong(Exception):
    """An impossible state was read."""


def _add_note(db: Session, rng: random.Random) -> None:
    number = rng.randrange(NOTES)
    db.run(insert(Note(owner=number % OWNERS, number=number, title=f"Title {rng.random()}", text="text " * 40)))


def _change_note(db: Session, rng: random.Random) -> None:
    number = rng.randrange(NOTES)
    found = db.run(note(number % OWNERS, number))
    if found is not None:
        changed = f(Note.status).set(rng.choice(tuple(Status))), f(Note.title).set(f"Title {rng.random()}")
        db.run(update(found, *changed))


def _rewrite_note(db: Session, rng: random.Random) -> None:
    number = rng.randrange(NOTES)
    found = db.run(note(number % OWNERS, number))
    if found is not None:
        db.run(put(found.with_changes(f(Note.text).set("other " * rng.randint(1, 60)))))


def _delete_note(db: Session, rng: random.Random) -> None:
    number = rng.randrange(NOTES)
    found = db.run(note(number % OWNERS, number))
    if found is not None:
        db.run(delete(found))


def _list_notes(db: Session, rng: random.Random) -> None:
    status = rng.choice(tuple(Status))
    page = db.run(notes_with_status(status).page(20))
    if page.next_cursor is not None:
        page = db.run(notes_with_status(status).page(20, after=page.next_cursor))
    if any(found.status != status for found in page):
        raise Wrong(f"A query for the status {status} returned {page.items}")
    db.run(notes_by_title(rng.randrange(OWNERS)).page(20))


def _transfer(db: Session, rng: random.Random) -> None:
    giver, taker = rng.sample(range(ACCOUNTS), 2)
    amount = rng.randint(1, 50)
    have_enough = f(Account.balance).ge(amount)
    db.transact(
        update(account(giver), f(Account.balance).add(-amount)).when(have_enough),
        update(account(taker), f(Account.balance).add(amount)),
    )


def _audit(db: Session, rng: random.Random) -> None:  # noqa: ARG001 - one signature for all kinds of work
    first, second, *others = (account(number) for number in range(ACCOUNTS))
    found = db.run(transact_get(first, second, others[0], others[1], *others[2:]))
    total = sum(each.balance for each in found if each is not None)
    if total != ACCOUNTS * START_BALANCE:
        raise Wrong(f"At one instant, the sum of all balances was {total}.")


def _correct(db: Session, rng: random.Random) -> None:
    found = db.run(account(rng.randrange(ACCOUNTS)))
    if found is not None:
        db.run(update(found, f(Account.balance).set(found.balance)))


def _raise(db: Session, rng: random.Random) -> None:  # noqa: ARG001
    db.run(update(tally("raised"), f(Tally.value).add(1)))


def _log_events(db: Session, rng: random.Random) -> None:
    owner = rng.randrange(OWNERS)
    db.run(batch_write([put(Event(owner=owner, event_id=new_ulid(), text="event " * 10)) for _ in range(5)]))


def _drop_events(db: Session, rng: random.Random) -> None:
    oldest = db.run(latest_events(rng.randrange(OWNERS)).reversed().page(10))
    if oldest.items:
        db.run(batch_write([delete(event) for event in oldest]))


RAISE: Final = "raise the tally"
WORK: Final[Mapping[str, Callable[[Session, random.Random], None]]] = {
    "add a note": _add_note,
    "change a note": _change_note,
    "rewrite a note": _rewrite_note,
    "delete a note": _delete_note,
    "list notes": _list_notes,
    "transfer": _transfer,
    "audit all accounts": _audit,
    "correct a balance": _correct,
    RAISE: _raise,
    "log events": _log_events,
    "drop events": _drop_events,
}


class Outcomes:
    """The outcomes of a worker: successful runs, conflicts that the model declares, and errors."""

    def __init__(self) -> None:
        self.done: Counter[str] = Counter()
        self.conflicts: Counter[str] = Counter()
        self.errors: list[str] = []

    def __add__(self, other: Outcomes) -> Outcomes:
        both = Outcomes()
        both.done = self.done + other.done
        both.conflicts = self.conflicts + other.conflicts
        both.errors = self.errors + other.errors
        return both

    @property
    def count(self) -> int:
        """The number of all runs except those that ended in an error."""
        return self.done.total() + self.conflicts.total()


def work(db: Session, rng: random.Random, turns: Iterable[object], outcomes: Outcomes) -> None:
    """Do something random on each turn; an error ends the work."""
    names = tuple(WORK)
    for _ in turns:
        name = rng.choice(names)
        try:
            WORK[name](db, rng)
            outcomes.done[name] += 1
        except ConditionFailed:
            outcomes.conflicts[name] += 1
        except TransactionCancelled as cancelled:
            if {reason.code for reason in cancelled.failed} != {"ConditionalCheckFailed"}:
                outcomes.errors.append(f"{name}: {cancelled!r}")
                return
            outcomes.conflicts[name] += 1
        except Exception as error:  # noqa: BLE001 - the soak test reports every error
            outcomes.errors.append(f"{name}: {error!r}")
            return


def check(db: Session, raised: int) -> None:
    """Check that nothing was lost: money is conserved, and every acknowledged increase is in the tally.

    Raises:
        Wrong: something was lost.
    """
    _audit(db, random.Random())
    found = db.run(tally("raised"))
    if found is None or found.value != raised:
        raise Wrong(f"{raised} increases were acknowledged, but {found} is stored.")
