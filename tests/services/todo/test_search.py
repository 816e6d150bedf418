"""Searches: the best first, page by page without gaps or doubles, and nothing read beyond a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from partita._sqlite import open_database
from partita_services.todo import search
from partita_services.todo.projection import TaskProjection
from partita_services.todo.search import search_words

pytestmark = pytest.mark.req("T20")

TITLES = [f"water {'x' * (number % 7)} plants" for number in range(30)]


@pytest.fixture
def sink(tmp_path: Path) -> Iterator[TaskProjection]:
    with closing(TaskProjection(tmp_path / "projection.db")) as sink:
        yield sink


def fill(sink: TaskProjection, path: Path) -> None:
    """Tasks with the word in the title, and as many with it in the description; written as the projection does."""
    sink.close()
    with closing(open_database(str(path))) as database, database:
        for number, title in enumerate(TITLES):
            for task_id, row in (
                (f"t{number:02}", (title, "")),
                (f"d{number:02}", ("other", f"{title} {'y' * (number % 5)}")),
            ):
                columns = ("TASK#ann", f"TASK#{task_id}", "ann", task_id, "u616e6e", "pending", "none", *row)
                database.execute("INSERT INTO tasks VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)", columns)


@pytest.fixture
def filled(sink: TaskProjection, tmp_path: Path) -> Iterator[TaskProjection]:
    fill(sink, tmp_path / "projection.db")
    with closing(TaskProjection(tmp_path / "projection.db")) as again:
        yield again


def pages(sink: TaskProjection, size: int) -> list[str]:
    found: list[str] = []
    while page := sink.search("ann", "water", size, len(found)):
        found += page
        if len(page) < size:
            break
    return found


@pytest.mark.parametrize("ranked", [1, 7, 30, 1_000])
@pytest.mark.parametrize("size", [1, 4, 7, 30, 100])
def test_pages_have_everything_once(
    filled: TaskProjection, ranked: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MAX_RANKED", ranked)
    whole = filled.search("ann", "water", 1_000)
    assert sorted(whole) == sorted([*(f"t{n:02}" for n in range(30)), *(f"d{n:02}" for n in range(30))])
    assert {name[0] for name in whole[:30]} == {"t"}
    assert pages(filled, size) == whole


def test_the_shortest_title_is_first_and_of_equals_the_newest(filled: TaskProjection) -> None:
    found = filled.search("ann", "water plants", 30)
    assert found == sorted(found, key=lambda name: (len(TITLES[int(name[1:])]), -int(name[1:])))


def test_behind_the_best_the_newest_come_first(filled: TaskProjection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MAX_RANKED", 5)
    found = filled.search("ann", "wat", 30)
    assert sorted(found[:5]) == [f"t{number}" for number in range(25, 30)]
    assert found[5:] == [f"t{number:02}" for number in range(24, -1, -1)]


def test_nobody_finds_what_is_anothers(filled: TaskProjection) -> None:
    assert filled.search("bob", "water", 10) == []


def test_no_more_is_asked_for_than_a_page(filled: TaskProjection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond what is ranked, a search reads a page, however many have the word."""
    monkeypatch.setattr(search, "MAX_RANKED", 5)
    read: list[int] = []

    def counted(sql: str, values: Sequence[Any]) -> list[Any]:
        rows = filled.read(sql, values)
        read.append(len(rows))
        assert "bm25" not in sql
        return rows

    search_words(counted, "ann", "u616e6e", "water", 3, 10)
    assert read == [3]
