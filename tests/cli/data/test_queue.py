"""`partita queue`: figures, and dead letters."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from tests.cli.conftest import Run

from partita.queue import QueuePolicy, Receive, Send, open_queue

pytestmark = pytest.mark.req("E06")


@pytest.fixture
def with_dead(run: Run, folder: Path) -> Run:
    """A function that runs commands; the data folder has a queue with two dead letters and a waiting message."""
    folder.mkdir()
    with closing(open_queue(folder, "events", QueuePolicy(max_receives=1))) as queue:
        for body in ("a", "b"):
            queue.execute(Send(body, body, body))
        queue.execute(Receive(visibility=0))
        queue.execute(Receive())
        queue.execute(Send("c", "c", "c"))
    return run


def stats(run: Run) -> dict[str, int]:
    numbers: dict[str, int] = json.loads(run("queue", "stats", "events", "--json").output)
    return {name: numbers[name] for name in ("waiting", "in_flight", "dead")}


def test_the_numbers_of_a_queue(with_dead: Run) -> None:
    assert stats(with_dead) == {"waiting": 1, "in_flight": 0, "dead": 2}
    header, line = with_dead("queue", "stats", "events").output.splitlines()
    assert (header.split()[0], line.split()[:3]) == ("WAITING", ["1", "0", "2"])


def test_dead_letters_are_shown(with_dead: Run) -> None:
    letters = json.loads(with_dead("queue", "dead", "events", "--json").output)
    assert [(letter["group"], letter["body"]) for letter in letters] == [("a", "a"), ("b", "b")]
    assert with_dead("queue", "dead", "events", "--limit", "1").output.splitlines() == [
        "ID  GROUP  BODY",
        "1   a      a",
    ]


def test_one_dead_letter_is_sent_again_and_the_others_thrown_away(with_dead: Run) -> None:
    assert with_dead("queue", "redrive", "events", "2").output == "events: 1 sent again\n"
    assert with_dead("queue", "discard", "events", "--all").output == "events: 1 deleted\n"
    assert stats(with_dead) == {"waiting": 2, "in_flight": 0, "dead": 0}


@pytest.mark.parametrize(("command", "done"), [("redrive", "sent again"), ("discard", "deleted")])
def test_an_id_of_no_dead_letter_is_reported(command: str, done: str, with_dead: Run) -> None:
    result = with_dead("queue", command, "events", "2", "7", "2", "x")
    expected = f"events: 1 {done}\nError: 2 ids are not those of dead letters. `partita queue dead` shows them.\n"
    assert (result.exit_code, result.output) == (1, expected)
    assert stats(with_dead)["dead"] == 1


@pytest.mark.parametrize("arguments", [(), ("1", "--all")])
def test_dead_letters_must_be_named(arguments: tuple[str, ...], with_dead: Run) -> None:
    result = with_dead("queue", "discard", "events", *arguments)
    assert (result.exit_code, "Give either the ids of dead letters" in result.output) == (2, True)


def test_a_queue_that_is_not_there_is_not_made_by_looking(run: Run, folder: Path) -> None:
    result = run("queue", "stats", "events")
    assert (result.exit_code, "There is no queue 'events'" in result.output) == (1, True)
    assert not folder.exists()


def test_a_queue_can_be_made(run: Run) -> None:
    assert run("queue", "create", "events").output == "events: ready\n"
    assert stats(run) == {"waiting": 0, "in_flight": 0, "dead": 0}
