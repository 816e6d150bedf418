"""Searches: best results first, pages without gaps or duplicates, and a limited cost for common words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

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


def fill(sink: TaskProjection, path: Path, copies: int = 1) -> None:
    """Insert rows as the projection does: half of the tasks have the words in the title, half in the description."""
    sink.close()
    with closing(open_database(str(path))) as database, database:
        for number, title in enumerate(TITLES * copies):
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
    while page := sink.search("ann", "water", size, len(found)).task_ids:
        found += page
        if len(page) < size:
            break
    return found


@pytest.mark.parametrize("most", [1, 7, 29, 30, 31, 59, 60, 1_000])
@pytest.mark.parametrize("size", [1, 7, 30, 100])
def test_pages_have_everything_once_up_to_the_limit(
    filled: TaskProjection, most: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MAX_FOUND", most)
    whole, complete = filled.search("ann", "water", 1_000)
    assert len(set(whole)) == len(whole) == min(most, 60)
    assert complete == (most >= 60)
    assert {name[0] for name in whole[:30]} == {"t"}
    assert {name[0] for name in whole[30:]} <= {"d"}
    assert pages(filled, size) == whole


def test_the_shortest_title_is_first_and_of_equals_the_newest(filled: TaskProjection) -> None:
    found, _ = filled.search("ann", "water plants", 30)
    assert found == sorted(found, key=lambda name: (len(TITLES[int(name[1:])]), -int(name[1:])))


def test_of_too_many_those_that_changed_last_are_found(filled: TaskProjection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MAX_FOUND", 5)
    assert sorted(filled.search("ann", "wat", 30).task_ids) == [f"t{number}" for number in range(25, 30)]
    monkeypatch.setattr(search, "MAX_FOUND", 33)
    assert sorted(filled.search("ann", "wat", 60).task_ids)[:3] == ["d27", "d28", "d29"]


def test_nobody_finds_what_is_anothers(filled: TaskProjection) -> None:
    assert filled.search("bob", "water", 10) == ([], True)


@pytest.mark.parametrize(("text", "offset"), [("water", 0), ("wat", 0), ("water", 40), ("plants wa", 0)])
def test_a_common_word_costs_no_more_in_many_tasks(
    text: str, offset: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cost is measured in steps of SQLite's virtual machine, several of which each examined row takes."""
    monkeypatch.setattr(search, "MAX_FOUND", 50)
    few, many = (steps(tmp_path / f"{count}.db", count, text, offset) for count in (4, 40))
    assert many <= 1.1 * few


def steps(path: Path, copies: int, text: str, offset: int) -> int:
    with closing(TaskProjection(path)) as sink:
        fill(sink, path, copies)
    counted = 0

    def count() -> bool:
        nonlocal counted
        counted += 1
        return False

    with closing(open_database(str(path))) as database:
        database.set_progress_handler(count, 1)
        search_words(lambda sql, values: list(database.execute(sql, values)), "u616e6e", text, 20, offset)
    return counted
