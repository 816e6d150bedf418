"""Counts as access patterns, by the table's key and by indexes."""

from __future__ import annotations

from datetime import date
from typing import ClassVar

import pytest
from tests.model.sample import Status, Task

from partita import (
    Entity,
    Index,
    Key,
    Rcu,
    Registry,
    Session,
    Shards,
    Span,
    Table,
    batch_write,
    count,
    explain,
    insert,
    put,
    query,
)
from partita.errors import LimitExceeded, ModelError
from partita.testing import assert_budget

TABLE = Table("shelf", indexes=[Index("GSI1", projection="KEYS_ONLY")], registry=Registry())


class Book(Entity, table=TABLE):
    primary: ClassVar = Key("BOOK#{isbn}", "BOOK")
    by_author: ClassVar = Key("AUTHOR#{author}", "YEAR#{year:04}#{isbn}", index="GSI1")

    isbn: str
    author: str
    year: int
    text: str = ""


@count(Book, Book.by_author, budget=Rcu(1))
def count_books(author: str) -> None:
    """How many books an author has."""


@count(Book, Book.by_author)
def count_books_in(author: str, year: Span[int]) -> None:
    """The number of an author's books in a span of years."""


@count(Task, Task.by_status, budget=Rcu(0.5))
def count_tasks(user_id: str, status: Status) -> None:
    """The number of tasks in one status."""


@pytest.fixture
def shelf(partita_db: Session) -> Session:
    partita_db.create_tables([TABLE])
    books = [Book(isbn=str(n), author="ada", year=2000 + n, text="x" * 3_000) for n in range(10)]
    partita_db.run(batch_write([put(book) for book in books]))
    return partita_db


def test_an_index_of_keys_is_enough_to_count(shelf: Session) -> None:
    assert assert_budget(shelf, count_books("ada")) == 10
    assert shelf.run(count_books_in("ada", Span.between(2003, 2005))) == 3
    assert shelf.run(count_books("nobody")) == 0
    with pytest.raises(ModelError, match="does not project"):
        query(Book, Book.by_author)


def test_a_count_is_a_pattern_like_others(shelf: Session) -> None:
    assert TABLE.patterns["count_books"].doc == "How many books an author has."
    (permission,) = TABLE.patterns["count_books"].sends or ()
    assert (permission.action, permission.index) == ("Query", "GSI1")
    explained = explain(count_books("ada"))
    assert (explained.call, explained.index, explained.request["Select"]) == ("Query", "GSI1", "COUNT")


def test_what_is_not_the_entitys_is_not_counted(db: Session) -> None:
    db.run(insert(Task(user_id="u", task_id="a")))
    db.run(insert(Task(user_id="u", task_id="b", status=Status.DONE, due=date(2026, 1, 1))))
    assert assert_budget(db, count_tasks("u", Status.OPEN)) == 1


def test_a_count_reads_so_many_pages_and_no_more(shelf: Session) -> None:
    @count(Book, Book.by_author, max_pages=0)
    def count_none(author: str) -> None: ...

    with pytest.raises(LimitExceeded, match="more than 0 pages to count"):
        shelf.run(count_none("ada"))


LOGS = Table("logs", registry=Registry())


class Entry(Entity, table=LOGS):
    """An entry of a day, whose entries are spread over four shards."""

    shard: ClassVar = Shards(4, "entry_id")
    primary: ClassVar = Key("DAY#{day}#{shard}", "ENTRY#{entry_id}")

    day: str
    entry_id: str


@count(Entry, Entry.primary)
def count_entries(day: str) -> None:
    """The number of entries of a day, in all shards."""


@query(Entry, Entry.primary)
def entries_of(day: str) -> None:
    """The entries of a day, of all shards, in order."""


def test_a_count_and_a_stream_read_all_shards(partita_db: Session) -> None:
    partita_db.create_tables([LOGS])
    entries = [Entry(day="monday", entry_id=f"{number:02}") for number in range(30)]
    partita_db.run(batch_write([put(entry) for entry in entries]))
    assert partita_db.run(count_entries("monday")) == 30
    assert list(partita_db.stream(entries_of("monday").page(7), max_items=100)) == entries
    stream = partita_db.stream(entries_of("monday").page(7), max_items=20)
    assert (list(stream), stream.truncated) == (entries[:20], True)
