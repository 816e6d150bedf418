"""`partita cost`: budgets compared with measured costs."""

from __future__ import annotations

import json
from typing import ClassVar

import click
import pytest
from fastapi import APIRouter
from msgspec.structs import replace
from tests.cli.conftest import Run

from partita import (
    Budget,
    Delete,
    Entity,
    Get,
    Index,
    Key,
    Prefix,
    Put,
    Query,
    Rcu,
    Registry,
    Table,
    Wcu,
    delete,
    get,
    insert,
    pattern,
    put,
    query,
)
from partita.cli.model._cost import cost
from partita.cost._measure import measure
from partita.service import Service
from partita_services.todo.model import TABLE

pytestmark = pytest.mark.req("T53")


def test_every_pattern_is_within_its_budget(run: Run) -> None:
    result = run("cost", "todo", "--json")
    assert result.exit_code == 0
    measured = {row["pattern"]: row for row in json.loads(result.output)["todo"]}
    assert measured.keys() == TABLE.patterns.keys()
    assert {row["verdict"] for row in measured.values()} == {"within"}
    assert measured["completed_tasks"]["index"] == "GSI1"
    writes = {name: row["measured"]["write"] for name, row in measured.items() if row["kind"] == "write"}
    assert writes == {
        "save_user": 6,
        "create_task": 5,
        "update_task": 9,
        "delete_task": 5,
        "delete_completed_task": 5,
        "delete_tasks": 116,
        "delete_user": 4,
        "drop_slot": 1,
        "move_reminder": 8,
    }


def test_the_table_has_a_line_for_each(run: Run) -> None:
    lines = run("cost", "todo").output.splitlines()
    assert [line.split()[0] for line in lines[2:]] == list(TABLE.patterns)
    assert lines[4].split() == ["user_by_id", "get", "-", "0.5", "RCU", "0.5", "RCU", "within"]


# A service with patterns over, within and without a budget, and some that cannot be measured with the samples.

BOOKS = Table("books", indexes=[Index("GSI1")], registry=Registry())


class Book(Entity, table=BOOKS):
    primary: ClassVar = Key("BOOK#{isbn}", "BOOK")
    by_title: ClassVar = Key("LANGUAGE#{language}", "{title}", index="GSI1")
    isbn: str
    language: str
    title: str


class Shelf(Entity, table=BOOKS):
    primary: ClassVar = Key("SHELF#{name}", "SHELF")
    name: str


@get(Book, budget=Rcu(0.1))
def book_by_isbn(isbn: str) -> None: ...


@query(Book, Book.by_title)
def books_by_title(language: str, title: Prefix[str]) -> None: ...


@get(Shelf, budget=Rcu(1))
def shelf_by_name(name: str) -> None: ...


@pattern(budget=Wcu(2))
def add_book(book: Book) -> Put[Book]:
    return insert(book)


@pattern(budget=Wcu(2))
def replace_book(book: Book) -> Put[Book]:
    return put(book)


@pattern(budget=Wcu(2))
def drop_book(book: Book | Get[Book]) -> Delete[Book]:
    return delete(book)


@pattern(budget=Rcu(1))
def books_about(subject: str) -> Query[Book]:
    return books_by_title(subject, Prefix(subject))


SAMPLES = (Book(isbn="1", language="en", title="Emma"), Book(isbn="2", language="de", title="Faust"))
LIBRARY = Service("books", "Books", "", (BOOKS,), APIRouter, lambda _: [insert(book) for book in SAMPLES])
EXPLAINED = replace(LIBRARY, examples=lambda _: [books_about("e")])


def test_each_pattern_is_measured_with_the_sample_data() -> None:
    measured = {row.pattern: (row.index, row.measured, row.verdict) for row in measure(LIBRARY)}
    assert measured == {
        "book_by_isbn": (None, Budget(0.5, 0), "over"),
        "books_by_title": ("GSI1", Budget(0.5, 0), "no budget"),
        "shelf_by_name": (None, None, "not measured"),
        "add_book": (None, Budget(0, 2), "within"),
        "replace_book": (None, Budget(0, 3), "over"),
        "drop_book": (None, Budget(0, 2), "within"),
        "books_about": (None, None, "not measured"),
    }


def test_an_example_tells_what_the_samples_do_not() -> None:
    measured = {row.pattern: (row.index, row.measured, row.verdict) for row in measure(EXPLAINED)}
    assert measured["books_about"] == ("GSI1", Budget(0.5, 0), "within")
    assert measured["book_by_isbn"] == (None, Budget(0.5, 0), "over")


def test_going_over_a_budget_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert cost.callback is not None
    with pytest.raises(click.ClickException, match=r"^Over budget: book_by_isbn, replace_book\.$"):
        cost.callback([LIBRARY], as_json=False)
    assert "replace_book" in capsys.readouterr().out
